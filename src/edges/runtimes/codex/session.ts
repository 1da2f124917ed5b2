/**
 * One run of Codex over its app server: a program for this run, a thread in it (new, or taken up again), a turn, and its events until the
 * end. Words that come meanwhile go into the turn that runs; those that come too late for it become the next turn of the same run.
 */
import type { RunAnswer, RunEventBody, RunSession, RunToken } from "../../../core/contracts/index.ts";
import { AppError, asObject } from "../../../core/domain/index.ts";
import { type Clock, RpcFailure, type RpcHandler, RpcPeer } from "../../../core/kit/index.ts";
import type { RunChild } from "../child.ts";
import { LiveRun, type LiveSession } from "../live-run.ts";
import { runWords } from "../words.ts";
import { asText, type CodexItem } from "./items.ts";
import { writeReply } from "./replies.ts";
import { type CodexRun, describeThread } from "./settings.ts";
import { readToken, writeToken } from "./token.ts";
import { CODEX_NOTICES, type CodexHeard, type CodexState, startState, translateCodex } from "./translate.ts";
import { CODEX_RPC_WORDS, TITLE, codexWords as words } from "./words.ts";

export interface CodexSessionParts {
  run: CodexRun;
  child: RunChild;
  clock: Clock;
  /** Null: nobody looked. */
  version: string | null;
}

interface OpenCodexAsk {
  method: string;
  params: CodexItem;
  /** Undefined: it was answered. */
  settle: ((reply: object) => void) | undefined;
}

/** A cold start on a busy machine. */
const OPEN_MS = 60_000;
const REQUESTS = [
  "item/commandExecution/requestApproval",
  "item/fileChange/requestApproval",
  "item/tool/requestUserInput",
  "mcpServer/elicitation/request",
];

const TURN_ENDED = "turn/completed";
const RESOLVED = "serverRequest/resolved";

export class CodexSession implements RunSession, LiveSession {
  readonly run: string;
  readonly attempt: number;
  private readonly parts: CodexSessionParts;
  private readonly live: LiveRun;
  private readonly peer: RpcPeer;
  private readonly asks = new Map<string, OpenCodexAsk>();
  private readonly said: string[] = [];
  private state: CodexState = startState("");
  /** What came before the run was announced. */
  private early: RunEventBody[] | undefined = [];
  private turnEnded: (turn: CodexItem) => void = () => {};
  private whyEnded = "";

  constructor(parts: CodexSessionParts) {
    const { request, ports } = parts.run;
    this.parts = parts;
    this.run = request.run;
    this.attempt = request.attempt;
    this.live = new LiveRun({ request, ports, child: parts.child, clock: parts.clock, title: TITLE, session: this });
    const asks = REQUESTS.map((method): [string, RpcHandler] => [
      method,
      (params, { id }) => this.ask(method, params, String(id)),
    ]);
    const heard = [...CODEX_NOTICES, TURN_ENDED, RESOLVED].map((method): [string, (params: CodexItem) => void] => [
      method,
      (params) => this.notified(method, params),
    ]);
    this.peer = new RpcPeer({
      words: CODEX_RPC_WORDS,
      write: (line) => parts.child.write(line),
      requests: Object.fromEntries(asks),
      notifications: Object.fromEntries(heard),
    });
  }

  /** Rejects when nothing was said to the model: then nothing of it is left, either. */
  async open(signal: AbortSignal): Promise<void> {
    const { request } = this.parts.run;
    const model = await this.start(request.resume, signal);
    this.announce(model);
    this.emit({ type: "checkpoint", token: this.token() });
    void this.drive();
  }

  /** How a turn ended that nobody was there to hear. False: it did not end by itself, so nothing can be said about it. */
  async recall(token: RunToken, signal: AbortSignal): Promise<boolean> {
    const { turn } = readToken(token);
    const model = await this.start(token, signal);
    const { thread } = this.state;
    const limit = AbortSignal.any([signal, this.live.over, AbortSignal.timeout(OPEN_MS)]);
    const listed = asObject(await this.peer.ask("thread/turns/list", { threadId: thread, limit: 10 }, limit));
    const turns = Array.isArray(listed.data) ? listed.data.map(asObject) : [];
    const found = turns.find(({ id, status }) => id === turn && status === "completed");
    if (turn === "" || !found) {
      await this.live.leave();
      return false;
    }
    this.announce(model);
    this.emit({ type: "checkpoint", token: this.token() });
    for (const item of Array.isArray(found.items) ? found.items : [])
      if (asObject(item).type === "agentMessage")
        this.hear({ kind: "notified", method: "item/completed", params: { item } });
    this.hear({ kind: "ended", turn: found, isStopped: false, isLast: true });
    await this.live.settle();
    return true;
  }

  events(afterSeq: number) {
    return this.live.events(afterSeq);
  }

  async say(text: string, mode: "steer" | "queue"): Promise<"mid-turn" | "next-turn" | "ended"> {
    const { live, state } = this;
    if (live.isOver || live.isStopping) return "ended";
    if (mode === "steer" && state.turn !== "") {
      const params = { threadId: state.thread, expectedTurnId: state.turn, input: [{ type: "text", text }] };
      const isTaken = await this.peer.ask("turn/steer", params, live.over).then(
        () => true,
        () => false,
      );
      if (isTaken) return "mid-turn";
    }
    // The turn ended while we asked, or takes no words.
    if (live.isOver || live.isStopping) return "ended";
    this.said.push(text);
    return "next-turn";
  }

  async answer(ask: string, answer: RunAnswer): Promise<"taken" | "late" | "unknown"> {
    const asked = this.asks.get(ask);
    const reply = asked && writeReply(asked.method, asked.params, answer);
    if (!asked || !reply) return "unknown";
    if (!asked.settle) return "late";
    asked.settle(reply);
    asked.settle = undefined;
    this.hear({ kind: "answered", ask, how: answer.kind });
    return "taken";
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
    return [...this.asks.values()].some(({ settle }) => settle);
  }

  isActing(): boolean {
    return [...this.state.calls.values()].some(({ isEnded }) => !isEnded);
  }

  saidSoFar(): string {
    return this.state.text;
  }

  withdraw(): void {
    for (const ask of this.asks.keys()) this.drop(ask);
  }

  interrupt(): boolean {
    const { thread, turn } = this.state;
    // Before a turn has its number, `drive` does it.
    if (turn !== "")
      this.peer.ask("turn/interrupt", { threadId: thread, turnId: turn }, this.live.over).catch(() => {});
    return true;
  }

  closed(): void {
    this.peer.close();
    this.turnEnded({});
  }

  private token(): RunToken {
    const { thread, turn, total } = this.state;
    return writeToken({ thread, turn, total });
  }

  /** Starts the program and opens the thread. Returns its model. */
  private async start(resume: RunToken | null, signal: AbortSignal): Promise<string | null> {
    const limit = AbortSignal.any([signal, this.live.over, AbortSignal.timeout(OPEN_MS)]);
    try {
      await this.parts.child.start({
        line: (line) => this.take(line),
        ended: (why) => {
          this.whyEnded = why;
          this.live.died(why);
        },
      });
      const clientInfo = { name: "lares", title: "Lares", version: "1" };
      const capabilities = { experimentalApi: false, requestAttestation: false };
      await this.peer.ask("initialize", { clientInfo, capabilities }, limit);
      this.peer.notify("initialized", {});
      return await this.openThread(resume, limit);
    } catch (cause) {
      await this.live.leave();
      const why = this.whyEnded || (cause as Error).message;
      const hint = runWords.tryItself("codex");
      throw new AppError("NOT_READY", { message: runWords.notStarted(TITLE, why), hint, cause });
    }
  }

  private async openThread(resume: RunToken | null, signal: AbortSignal): Promise<string | null> {
    const place = describeThread(this.parts.run);
    if (resume) {
      const { thread, total } = readToken(resume);
      // Known before the answer: the old count of tokens may come first (CODEX-5).
      this.state = startState(thread, total);
      const taken = { threadId: thread, excludeTurns: true, ...place };
      return asText(asObject(await this.peer.ask("thread/resume", taken, signal)).model) || null;
    }
    const opened = asObject(await this.peer.ask("thread/start", place, signal));
    const thread = asText(asObject(opened.thread).id);
    if (thread === "") throw new Error(words.noThread);
    this.state = startState(thread);
    return asText(opened.model) || null;
  }

  private announce(model: string | null): void {
    const early = this.early ?? [];
    this.early = undefined;
    this.emit({ type: "run_started", session: this.state.thread, model, version: this.parts.version });
    for (const event of early) this.emit(event);
    this.live.begin();
  }

  private async drive(): Promise<void> {
    let next = this.parts.run.request.prompt.text;
    while (next !== "") {
      const turn = await this.perform(next);
      if (this.live.isOver) return;
      next = this.live.isStopping ? "" : this.said.splice(0).join("\n\n");
      this.hear({ kind: "ended", turn, isStopped: this.live.isStopping, isLast: next === "" });
      // A turn that failed isn't followed by another.
      if (turn.status !== "completed") next = "";
    }
    await this.live.settle();
  }

  /** One turn, until it ends. */
  private async perform(text: string): Promise<CodexItem> {
    const ended = new Promise<CodexItem>((resolve) => {
      this.turnEnded = resolve;
    });
    const params = { threadId: this.state.thread, input: [{ type: "text", text }] };
    try {
      await this.peer.ask("turn/start", params, this.live.over);
    } catch (error) {
      if (!(error instanceof RpcFailure)) throw error;
      return { status: "failed", error: { message: error.message } };
    }
    return ended;
  }

  private ask(method: string, params: CodexItem, id: string): Promise<object> {
    const ask = `ask-${id}`;
    return new Promise((resolve) => {
      const isForeign = typeof params.threadId === "string" && params.threadId !== this.state.thread;
      const isOver = this.live.isStopping || this.live.isOver || isForeign || this.early !== undefined;
      // The same question for the second time isn't another one.
      if (isOver || this.asks.has(ask)) return resolve(writeReply(method, params, { kind: "withdrawn" }) ?? {});
      this.asks.set(ask, { method, params, settle: resolve });
      this.hear({ kind: "asked", ask, method, params });
    });
  }

  /** Codex doesn't wait any longer, or the run ends: a question without an answer is a no. */
  private drop(ask: string): void {
    const asked = this.asks.get(ask);
    if (!asked?.settle) return;
    asked.settle(writeReply(asked.method, asked.params, { kind: "withdrawn" }) ?? {});
    asked.settle = undefined;
    this.hear({ kind: "answered", ask, how: "withdrawn" });
  }

  private take(line: string): void {
    // What a program prints besides the protocol is no message.
    if (line.trimStart().startsWith("{")) this.peer.take(line);
    this.live.heard();
  }

  private notified(method: string, params: CodexItem): void {
    const turn = asObject(params.turn);
    if (method === RESOLVED) this.drop(`ask-${String(params.requestId)}`);
    else if (method !== TURN_ENDED) this.hear({ kind: "notified", method, params });
    else if (turn.id === this.state.turn) this.turnEnded(turn);
    if (method !== "turn/started" || this.early) return;
    this.emit({ type: "checkpoint", token: this.token() });
    if (this.live.isStopping) this.interrupt();
  }

  private hear(heard: CodexHeard): void {
    if (this.live.isOver) return;
    const { state, events } = translateCodex(this.state, heard);
    this.state = state;
    for (const event of events) this.emit(event);
    this.live.rest();
    if (state.isFinal) void this.live.finish("failed");
  }

  private emit(event: RunEventBody): void {
    // The last count goes into the token, for a later run of the thread.
    if (event.type === "done") this.live.emit({ type: "checkpoint", token: this.token() });
    if (this.early) this.early.push(event);
    else this.live.emit(event);
  }
}
