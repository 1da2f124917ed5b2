/**
 * One run of a Codex that has no app server: `codex exec --json`, the prompt on its input, which is then closed. It takes no words while it
 * works, asks nothing and can only be ended hard: its own sandbox holds it, or ours.
 */
import type { RunSession, RunToken } from "../../../core/contracts/index.ts";
import { AppError, asObject } from "../../../core/domain/index.ts";
import { type Clock, parseJson } from "../../../core/kit/index.ts";
import type { RunChild } from "../child.ts";
import { LiveRun, type LiveSession } from "../live-run.ts";
import { runWords } from "../words.ts";
import { type ExecState, startExec, translateExec } from "./exec-translate.ts";
import { type CodexRun, chooseSandbox, listSettings, nameForIt } from "./settings.ts";
import { readToken, writeToken } from "./token.ts";
import { NOTHING_USED } from "./tokens.ts";
import { TITLE, codexWords as words } from "./words.ts";

export interface ExecSessionParts {
  run: CodexRun;
  child: RunChild;
  clock: Clock;
  version: string | null;
}

const OPEN_MS = 60_000;

/** The arguments. The prompt isn't among them: a command line is short, and everyone on the machine can read it. */
export function listExecArguments(run: CodexRun): string[] {
  const { request, places } = run;
  const named = nameForIt(request.model);
  const model = named === undefined ? [] : ["-m", named];
  const resume = request.resume ? ["resume", readToken(request.resume).thread] : [];
  const place = ["--skip-git-repo-check", "-C", places.cwd, "-s", chooseSandbox(request.workspace)];
  return ["exec", "--json", ...place, ...listSettings(run), ...model, ...resume, "-"];
}

export class ExecSession implements RunSession, LiveSession {
  readonly run: string;
  readonly attempt: number;
  private readonly parts: ExecSessionParts;
  private readonly live: LiveRun;
  private state: ExecState;
  private opened: () => void = () => {};
  private whyEnded = "";

  constructor(parts: ExecSessionParts) {
    const { request, ports } = parts.run;
    this.parts = parts;
    this.run = request.run;
    this.attempt = request.attempt;
    this.state = startExec(request.resume ? readToken(request.resume).total : NOTHING_USED);
    this.live = new LiveRun({ request, ports, child: parts.child, clock: parts.clock, title: TITLE, session: this });
  }

  /** Rejects when it names no thread: then nothing was said to the model. */
  async open(signal: AbortSignal): Promise<void> {
    const { child, run, clock } = this.parts;
    const hasThread = new Promise<void>((resolve) => {
      this.opened = resolve;
    });
    const stopTimer = clock.after(OPEN_MS, () => this.opened());
    const stop = () => this.opened();
    signal.addEventListener("abort", stop, { once: true });
    try {
      await child.start({
        line: (line) => this.take(line),
        ended: (why) => {
          this.whyEnded = why;
          this.live.died(why);
        },
      });
      const { instructions, text } = run.request.prompt;
      const isNew = run.request.resume === null && instructions !== "";
      child.write(isNew ? `${instructions}\n\n${text}` : text);
      child.closeInput();
      await hasThread;
      if (this.state.thread === "") throw new Error(this.whyEnded || words.noThread);
    } catch (cause) {
      await this.live.leave();
      const message = runWords.notStarted(TITLE, (cause as Error).message);
      throw new AppError("NOT_READY", { message, hint: runWords.tryItself("codex exec"), cause });
    } finally {
      stopTimer();
      signal.removeEventListener("abort", stop);
    }
  }

  events(afterSeq: number) {
    return this.live.events(afterSeq);
  }

  /** It doesn't listen: the words belong to the next run. */
  async say(): Promise<"ended"> {
    return "ended";
  }

  async answer(): Promise<"unknown"> {
    return "unknown";
  }

  stop(): Promise<void> {
    return this.live.stop("hard");
  }

  park(): Promise<RunToken | null> {
    return this.live.park(() => this.token());
  }

  async close(): Promise<void> {
    await this.live.finish("stopped");
  }

  isAsking(): boolean {
    return false;
  }

  isActing(): boolean {
    return this.state.open.size > 0;
  }

  saidSoFar(): string {
    return this.state.text;
  }

  withdraw(): void {
    // It asks nothing.
  }

  interrupt(): boolean {
    return false;
  }

  closed(): void {
    this.opened();
  }

  private token(): RunToken {
    const { thread, total } = this.state;
    return writeToken({ thread, turn: "", total });
  }

  private take(line: string): void {
    const said = readLine(line);
    if (said && !this.live.isOver) this.hear(said);
    this.live.heard();
  }

  private hear(said: Record<string, unknown>): void {
    const isNew = this.state.thread === "";
    const { state, events } = translateExec(this.state, said);
    this.state = state;
    if (isNew && state.thread !== "") {
      const { request } = this.parts.run;
      this.live.emit({
        type: "run_started",
        session: state.thread,
        model: request.model,
        version: this.parts.version,
      });
      this.live.emit({ type: "checkpoint", token: this.token() });
      this.live.begin();
      this.opened();
    }
    if (state.thread === "") return;
    for (const event of events) {
      if (event.type === "done") this.live.emit({ type: "checkpoint", token: this.token() });
      this.live.emit(event);
    }
    if (state.isDone) void this.live.settle();
  }
}

/** What it prints besides is no message. */
function readLine(line: string): Record<string, unknown> | undefined {
  if (!line.trimStart().startsWith("{")) return undefined;
  try {
    return asObject(parseJson(line));
  } catch {
    return undefined;
  }
}
