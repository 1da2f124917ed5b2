/**
 * What every run of a child program has in common: its events, its limits, its silence and its end. What it
 * says, and what it asks, is its session's business.
 */
import type { RunEventBody, RunPorts, RunRequest, RunToken } from "../../core/contracts/index.ts";
import type { Clock } from "../../core/kit/index.ts";
import type { RunChild } from "./child.ts";
import { RunQueue } from "./run-queue.ts";
import { runWords as words } from "./words.ts";

interface LiveRunParts {
  request: RunRequest;
  ports: Pick<RunPorts, "isServing">;
  child: Pick<RunChild, "pause" | "resume" | "end">;
  clock: Clock;
  /** The runtime, as people know it. */
  title: string;
  session: LiveSession;
}

/** The session, to its run. */
export interface LiveSession {
  /** A person is asked: the program is silent because of us. */
  isAsking(): boolean;
  /** It began to do something, and nobody has heard how that ended. */
  isActing(): boolean;
  /** The answer so far. */
  saidSoFar(): string;
  /** Denies everything that is still asked. */
  withdraw(): void;
  /** In the runtime's own way. False: it has none, so it is ended. */
  interrupt(): boolean;
  /** The run is over: nothing more goes to the program. */
  closed(): void;
}

/** How long a soft stop may take before it becomes a hard one. */
const SOFT_MS = 10_000;

export class LiveRun {
  private readonly parts: LiveRunParts;
  private readonly queue: RunQueue;
  private readonly controller = new AbortController();
  private calls = 0;
  private hasBegun = false;
  private isSoft = false;
  private stopQuiet = () => {};
  private stopTimers: (() => void)[] = [];

  constructor(parts: LiveRunParts) {
    this.parts = parts;
    this.queue = new RunQueue({ ...parts.request, clock: parts.clock });
  }

  /** Aborts when the run is over, however that came. */
  get over(): AbortSignal {
    return this.controller.signal;
  }

  get isOver(): boolean {
    return this.over.aborted;
  }

  /** Somebody asked it to stop; it may still say how far it came. */
  get isStopping(): boolean {
    return this.isSoft;
  }

  events(afterSeq: number) {
    return this.queue.events(afterSeq);
  }

  /** From here on its silence counts, and its end is an event. */
  begin(): void {
    this.hasBegun = true;
    const { clock, request } = this.parts;
    const { deadline } = request.limits;
    if (deadline !== null) this.stopTimers.push(clock.after(Math.max(0, deadline - clock.now()), () => this.late()));
    this.rest();
  }

  emit(event: RunEventBody): void {
    this.queue.push(event);
    const { toolCalls } = this.parts.request.limits;
    if (event.type !== "tool_call" || toolCalls === null || ++this.calls !== toolCalls + 1) return;
    this.queue.push({ type: "notice", text: words.tooManyCalls(toolCalls) });
    void this.stop("soft");
  }

  /** After each line of the program: it lives, and it waits while nobody reads. */
  heard(): void {
    this.rest();
    if (!this.queue.isFull) return;
    this.parts.child.pause();
    void this.queue.room().then(() => this.parts.child.resume());
  }

  /** Counts its silence from now. */
  rest(): void {
    this.stopQuiet();
    if (!this.hasBegun || this.isOver || this.parts.session.isAsking()) return;
    const { quietMs } = this.parts.request.limits;
    this.stopQuiet = this.parts.clock.after(quietMs, () => {
      if (this.parts.ports.isServing?.()) return this.rest();
      this.fail({ failure: "timeout", text: words.silent(this.parts.title, quietMs), hint: null });
    });
  }

  async stop(how: "soft" | "hard"): Promise<void> {
    if (this.isOver) return;
    if (how === "hard") return this.finish("stopped");
    if (this.isSoft) return;
    this.isSoft = true;
    this.parts.session.withdraw();
    if (!this.parts.session.interrupt()) return this.finish("stopped");
    this.stopTimers.push(this.parts.clock.after(SOFT_MS, () => void this.finish("stopped")));
  }

  /** The program is gone, or says what can't be read. What it was doing then, nobody knows. */
  died(why: string): void {
    const { session, title } = this.parts;
    if (this.isOver || !this.hasBegun) session.closed();
    else if (this.isSoft) void this.finish("stopped");
    else {
      const outcome = session.isActing() ? "unknown" : "failed";
      this.fail({ failure: "unknown", text: words.died(title, why), hint: null }, outcome);
    }
  }

  fail(error: Omit<Extract<RunEventBody, { type: "error" }>, "type">, outcome: "failed" | "unknown" = "failed"): void {
    if (this.isOver) return;
    this.queue.push({ type: "error", ...error });
    void this.finish(outcome);
  }

  /** Ends it from our side, at once: a tool of it would go on otherwise. */
  async finish(outcome: "stopped" | "failed" | "unknown"): Promise<void> {
    const { session, child } = this.parts;
    if (!this.isOver) {
      session.withdraw();
      this.quiet();
      this.queue.push({ type: "done", outcome, text: session.saidSoFar() });
    }
    await child.end("at-once");
  }

  /** `done` was said: lets go of the program. */
  async settle(): Promise<void> {
    this.quiet();
    await this.parts.child.end();
  }

  /** Leaves the program, to be taken up with this token; null when there is nothing left to take up. */
  async park(token: () => RunToken): Promise<RunToken | null> {
    if (this.isOver) return null;
    await this.leave();
    return token();
  }

  /** Ends without `done`: it goes on elsewhere, or never began. */
  async leave(): Promise<void> {
    this.quiet();
    this.queue.end();
    await this.parts.child.end();
  }

  private late(): void {
    this.queue.push({ type: "notice", text: words.outOfTime });
    void this.stop("soft");
  }

  private quiet(): void {
    this.stopQuiet();
    for (const stop of this.stopTimers) stop();
    this.controller.abort();
    this.parts.session.closed();
  }
}
