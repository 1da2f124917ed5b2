/**
 * One run in OpenClaw's gateway: a conversation there, a message of ours, and the events that follow. The gateway is a daemon that somebody else
 * started: it goes on without us, so a lost connection is opened again, and a run that outlived Lares is taken up where it is.
 *
 * CLAW-8: one message at a time is at work in a conversation. What is still at work there when a run begins is of an attempt that was
 *     given up, and is stopped first: a second message would be steered into it.
 * CLAW-9: a message has a number of ours, so sending it again after a loss doesn't do it twice.
 * CLAW-10: every conversation is a guarded one: files outside its workspace are out of reach, and commands are asked about.
 */
import { setTimeout as delay } from "node:timers/promises";
import type {
  RunAnswer,
  RunEventBody,
  RunPorts,
  RunRequest,
  RunSession,
  RunToken,
} from "../../../core/contracts/index.ts";
import { AppError, asObject } from "../../../core/domain/index.ts";
import { type Clock, defined, sha256, truthy } from "../../../core/kit/index.ts";
import { LiveRun, type LiveSession } from "../live-run.ts";
import { runWords } from "../words.ts";
import { readClawFailure } from "./failure.ts";
import { type ClawGateway, type GatewayEars, GatewayFailure } from "./gateway.ts";
import { nameChat, readToken, sinceToken, writeToken } from "./token.ts";
import {
  type ClawEnd,
  type ClawFields,
  type ClawHeard,
  type ClawState,
  dropped,
  endClaw,
  readStored,
  sent,
  startClaw,
  translateClaw,
} from "./translate.ts";
import { TITLE, clawWords as words } from "./words.ts";

export interface ClawSessionParts {
  request: RunRequest;
  ports: RunPorts;
  clock: Clock;
  connect(ears: GatewayEars, signal: AbortSignal): Promise<ClawGateway>;
}

const OPEN_MS = 60_000;
const STOP_MS = 3000;
/** A restart of the gateway takes half a minute on a busy machine. */
const RECOVER_MS = 120_000;
const AGAIN_MS = 2000;
/** How long the end of words that were steered into a run may come after the run's own. */
const STEERED_MS = 5000;
/** Enough for one run: older ones are of runs that are over. */
const HISTORY = 200;

export class ClawSession implements RunSession, LiveSession {
  readonly run: string;
  readonly attempt: number;
  private readonly parts: ClawSessionParts;
  private readonly live: LiveRun;
  private readonly said: string[] = [];
  private readonly settling = new Set<string>();
  private gateway: ClawGateway | undefined;
  private state: ClawState = startClaw();
  private key = "";
  /** The message that is at work, and its words until it is known to have arrived. */
  private current = { id: "", text: "" };
  private messages = 0;
  private ending: Promise<void> | undefined;
  private settled: () => void = () => {};

  constructor(parts: ClawSessionParts) {
    this.parts = parts;
    this.run = parts.request.run;
    this.attempt = parts.request.attempt;
    const child = {
      pause: () => this.gateway?.pause(),
      resume: () => this.gateway?.resume(),
      end: (how?: "with-input" | "at-once") => this.letGo(how),
    };
    this.live = new LiveRun({ ...parts, child, title: TITLE, session: this });
  }

  /** Rejects when nothing was said to it. */
  async open(signal: AbortSignal): Promise<void> {
    const { request } = this.parts;
    const model = await this.tried(async () => {
      await this.connect(AbortSignal.any([signal, AbortSignal.timeout(OPEN_MS)]));
      return request.resume ? this.goOn(request.resume) : this.begin();
    });
    this.announce(model);
    const { instructions, text } = request.prompt;
    // The protocol has no other place for instructions that a device may use.
    void this.drive(request.resume === null && instructions !== "" ? `${instructions}\n\n${text}` : text);
  }

  /** Takes up what goes on without us. False: there is nothing to take up. */
  async takeUp(token: RunToken, known: readonly RunEventBody[], signal: AbortSignal): Promise<boolean> {
    const kept = readToken(token);
    this.key = kept.key;
    const history = await this.tried(async () => {
      await this.connect(AbortSignal.any([signal, AbortSignal.timeout(OPEN_MS)]));
      return this.look();
    });
    const working = String(asObject(history.inFlightRun).runId);
    // A message that followed in the same run may be newer than what was recorded.
    const id = working.startsWith(`${this.run}.`) ? working : kept.run;
    const { isWorking, end } = readStored(history, id);
    // One that was stopped, with Lares, is to go on.
    if (!isWorking && (!end || end.outcome === "stopped")) {
      await this.live.leave();
      return false;
    }
    this.current = { id, text: "" };
    this.state = sent(startClaw(sinceToken(known, id)), id);
    this.announce(null, true);
    await this.catchUp(history);
    void this.follow();
    if (end) this.expectNothing(id, end);
    return true;
  }

  events(afterSeq: number) {
    return this.live.events(afterSeq);
  }

  async say(text: string, mode: "steer" | "queue"): Promise<"mid-turn" | "next-turn" | "ended"> {
    if (this.live.isOver || this.live.isStopping) return "ended";
    if (mode === "steer" && this.state.open.has(this.current.id)) {
      const id = this.nextId();
      this.state = sent(this.state, id);
      if (await this.deliver(id, text, "steer").catch(() => false)) return "mid-turn";
      this.expectNothing(id, null);
      if (this.live.isOver || this.live.isStopping) return "ended";
    }
    this.said.push(text);
    return "next-turn";
  }

  async answer(ask: string, answer: RunAnswer): Promise<"taken" | "late" | "unknown"> {
    const known = this.state.asks.get(ask);
    if (!known || answer.kind === "said") return "unknown";
    if (known === "answered" || this.settling.has(ask)) return "late";
    this.settling.add(ask);
    const how = answer.kind;
    const isTaken = await this.resolve(ask, how === "allow" ? "allow-once" : "deny");
    this.hear({ kind: "answered", ask, how: isTaken ? how : "withdrawn" });
    return isTaken ? "taken" : "late";
  }

  stop(how: "soft" | "hard"): Promise<void> {
    return this.live.stop(how);
  }

  park(): Promise<RunToken | null> {
    return this.live.park(() => this.token());
  }

  async close(): Promise<void> {
    await this.live.finish("stopped");
  }

  isAsking(): boolean {
    return [...this.state.asks.values()].includes("open");
  }

  isActing(): boolean {
    return [...this.state.calls.values()].some(({ isEnded }) => !isEnded);
  }

  saidSoFar(): string {
    return this.state.text;
  }

  withdraw(): void {
    for (const [ask, how] of this.state.asks) {
      if (how !== "open") continue;
      void this.resolve(ask, "deny");
      this.hear({ kind: "answered", ask, how: "withdrawn" });
    }
  }

  interrupt(): boolean {
    void this.abort().catch(() => {});
    return true;
  }

  closed(): void {
    this.settled();
  }

  private token(): RunToken {
    return writeToken({ key: this.key, run: this.current.id });
  }

  private nextId(): string {
    return `${this.run}.${this.attempt}.${++this.messages}`;
  }

  private async connect(signal: AbortSignal): Promise<void> {
    const ears: GatewayEars = {
      event: (name, payload) => {
        this.hear({ kind: "event", name, payload, at: this.parts.clock.now() });
        this.live.heard();
      },
      closed: () => void this.recover(),
    };
    this.gateway = await this.parts.connect(ears, signal);
  }

  private call(method: string, params: object, ms?: number): Promise<ClawFields> {
    return this.gateway?.call(method, params, ms) ?? Promise.reject(new Error(words.closed));
  }

  /** Before the first word: what fails here didn't start. */
  private async tried<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      await this.live.leave();
      throw new AppError("NOT_READY", { message: runWords.notStarted(TITLE, explain(cause)), cause });
    }
  }

  private async begin(): Promise<string | null> {
    const { request } = this.parts;
    this.key = nameChat(this.gateway!.agent, sha256(`${request.run}.${request.attempt}`).slice(0, 32));
    const model = request.model ?? undefined;
    // CLAW-10
    const given = { key: this.key, permissionMode: "guarded", ...defined({ model }) };
    const { resolved } = await this.call("sessions.create", given);
    await this.call("sessions.messages.subscribe", { key: this.key });
    const { modelProvider, model: chosen } = asObject(resolved);
    return typeof chosen === "string" ? `${String(modelProvider)}/${chosen}` : null;
  }

  private async goOn(resume: RunToken): Promise<null> {
    this.key = readToken(resume).key;
    const history = await this.look();
    if (typeof history.sessionId !== "string") throw new Error(words.gone);
    // CLAW-8
    if (asObject(history.sessionInfo).hasActiveRun === true || history.inFlightRun !== undefined) await this.clear();
    return null;
  }

  private async clear(): Promise<void> {
    await this.abort();
    for (let tries = 0; tries < 20; tries++) {
      const { inFlightRun, sessionInfo } = await this.look();
      if (inFlightRun === undefined && asObject(sessionInfo).hasActiveRun !== true) return;
      await delay(100);
    }
    throw new Error(words.noAnswer("chat.abort"));
  }

  private async look(): Promise<ClawFields> {
    await this.call("sessions.messages.subscribe", { key: this.key });
    return this.call("chat.history", { sessionKey: this.key, limit: HISTORY });
  }

  private announce(model: string | null, takenUp = false): void {
    const version = this.gateway?.version ?? null;
    this.live.emit({ type: "run_started", session: this.key, model, version, ...truthy({ takenUp }) });
    this.live.begin();
    if (this.current.id !== "") this.live.emit({ type: "checkpoint", token: this.token() });
  }

  private async drive(first: string): Promise<void> {
    for (let next = first; next !== ""; next = this.said.splice(0).join("\n\n")) {
      const id = this.nextId();
      this.current = { id, text: next };
      this.state = sent(this.state, id);
      this.live.emit({ type: "checkpoint", token: this.token() });
      const over = this.over();
      // What fails otherwise is a lost connection, and that is looked after elsewhere.
      await this.deliver(id, next).catch((error) => {
        if (error instanceof GatewayFailure) this.expectNothing(id, refused(error));
      });
      await over;
      if (this.live.isOver || this.live.isStopping || this.state.end?.outcome !== "finished") break;
    }
    await this.conclude();
  }

  /** The same for a run that was taken up. */
  private async follow(): Promise<void> {
    await this.over();
    const next = this.said.splice(0).join("\n\n");
    if (this.live.isOver || this.live.isStopping || next === "") await this.conclude();
    else await this.drive(next);
  }

  private async conclude(): Promise<void> {
    if (this.live.isOver) return;
    const end = this.state.end ?? { outcome: "stopped", error: null };
    const outcome = this.live.isStopping ? "stopped" : end.outcome;
    for (const event of endClaw(this.state, { ...end, outcome })) this.live.emit(event);
    await this.live.settle();
  }

  /** Resolves when no message of ours is at work, or the run is over. */
  private over(): Promise<void> {
    if (this.state.open.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.settled = resolve;
    });
  }

  /** CLAW-9 */
  private async deliver(id: string, message: string, queueMode?: "steer"): Promise<boolean> {
    const { status } = await this.call("chat.send", {
      sessionKey: this.key,
      message,
      idempotencyKey: id,
      ...defined({ queueMode }),
    });
    if (this.live.isStopping) this.interrupt();
    return status === "started";
  }

  private abort(): Promise<ClawFields> {
    return this.call("chat.abort", { sessionKey: this.key }, STOP_MS);
  }

  private resolve(id: string, decision: "allow-once" | "deny"): Promise<boolean> {
    return this.call("exec.approval.resolve", { id, decision }).then(
      () => true,
      () => false,
    );
  }

  private async catchUp(history: ClawFields): Promise<void> {
    this.hear({ kind: "history", run: this.current.id, history, at: this.parts.clock.now() });
    for (const one of (await this.gateway?.list("exec.approval.list", {})) ?? [])
      this.hear({ kind: "event", name: "exec.approval.requested", payload: asObject(one), at: this.parts.clock.now() });
  }

  /** The connection is gone; the run isn't. */
  private async recover(): Promise<void> {
    const { clock } = this.parts;
    const until = clock.now() + RECOVER_MS;
    while (!this.live.isOver && clock.now() < until) {
      try {
        await this.connect(this.live.over);
        return await this.goOnAfterLoss(await this.look());
      } catch {
        this.gateway?.close();
        await delay(AGAIN_MS, undefined, { ref: false });
      }
    }
    if (!this.live.isOver) this.live.died(words.lost);
  }

  private async goOnAfterLoss(history: ClawFields): Promise<void> {
    const { id, text } = this.current;
    const { isKnown, isWorking, end } = readStored(history, id);
    await this.catchUp(history);
    if (isWorking) return;
    if (end) this.expectNothing(id, end);
    else if (isKnown || text === "") this.live.died(words.notKnown);
    else await this.deliver(id, text);
  }

  private expectNothing(id: string, end: ClawEnd | null): void {
    this.state = dropped(this.state, id, end);
    if (this.state.open.size === 0) this.settled();
  }

  private hear(heard: ClawHeard): void {
    if (this.live.isOver) return;
    const wasOpen = this.state.open.has(this.current.id);
    const { state, events } = translateClaw(this.state, heard);
    this.state = state;
    for (const event of events) this.live.emit(event);
    this.live.rest();
    if (state.open.size === 0) this.settled();
    else if (wasOpen && !state.open.has(this.current.id)) this.parts.clock.after(STEERED_MS, () => this.dropSteered());
  }

  /** Words whose end never came: they were read, or a turn of theirs would have begun. */
  private dropSteered(): void {
    for (const id of this.state.open)
      if (!this.state.heard.has(id) && id !== this.current.id) this.expectNothing(id, null);
  }

  private letGo(how: "with-input" | "at-once" = "with-input"): Promise<void> {
    this.ending ??= this.end(how);
    return this.ending;
  }

  private async end(how: "with-input" | "at-once"): Promise<void> {
    if (how === "at-once" && this.key !== "") await this.abort().catch(() => {});
    this.gateway?.close();
  }
}

function refused(error: GatewayFailure): ClawEnd {
  return { outcome: "failed", error: readClawFailure({ errorMessage: error.message, errorKind: error.code }) };
}

function explain(cause: unknown): string {
  if (cause instanceof GatewayFailure && cause.code === "PAIRING_REQUIRED")
    return words.unpaired(String(cause.detail.requestId ?? ""));
  return (cause as Error).message;
}
