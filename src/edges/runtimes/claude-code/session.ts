/**
 * One run of Claude Code: a program for this run, a conversation in it (new, or taken up again), and its events until the end. What is said
 * meanwhile goes to it at once: it reads it after the tool that runs, or in another turn of the same run.
 */
import { randomUUID } from "node:crypto";
import type {
  RunAnswer,
  RunEventBody,
  RunPorts,
  RunRequest,
  RunSession,
  RunToken,
} from "../../../core/contracts/index.ts";
import { AppError, asList, asObject, asText, findObject, type JsonObject } from "../../../core/domain/index.ts";
import { type Clock, parseJson } from "../../../core/kit/index.ts";
import type { RunChild } from "../child.ts";
import { LiveRun, type LiveSession } from "../live-run.ts";
import { runWords } from "../words.ts";
import { PermissionAsks } from "./asks.ts";
import { asMessage } from "./command.ts";
import { ControlRequests } from "./control.ts";
import { readError } from "./failure.ts";
import { COMMAND, NAME, TITLE } from "./names.ts";
import {
  beginTranscript,
  type ClaudeFields,
  type ClaudeHeard,
  isActing,
  type Transcript,
  translate,
} from "./translate.ts";
import { type UsedByModel, writeTotals } from "./usage.ts";
import { CLAUDE_READS as reads, claudeWords as words } from "./words.ts";

export interface ClaudeSessionParts {
  request: RunRequest;
  ports: RunPorts;
  child: RunChild;
  clock: Clock;
  /** The conversation's id. */
  session: string;
  /** Used before this run, by its token. */
  totals: UsedByModel;
}

/** A cold start of a large program on a busy machine, and of the servers that it is lent. */
const OPEN_MS = 60_000;
/** How long words that came too late for a turn may take to begin their own. */
const LINGER_MS = 5000;
/** Lines that aren't its protocol. A warning or two do no harm. */
const MOST_GARBAGE = 200;
/** Of a run's token. */
export const TOKEN_FORM = 1;

export class ClaudeSession implements RunSession, LiveSession {
  readonly run: string;
  readonly attempt: number;
  private readonly parts: ClaudeSessionParts;
  private readonly live: LiveRun;
  private readonly control: ControlRequests;
  private readonly asks: PermissionAsks;
  /** Messages that it was given and hasn't read, by their ids. */
  private readonly unread = new Set<string>();
  private readonly later: string[] = [];
  private state: Transcript;
  private isOpen = false;
  private isInterrupted = false;
  private saysRead = false;
  private garbage = 0;
  private stopLinger = () => {};

  constructor(parts: ClaudeSessionParts) {
    this.parts = parts;
    this.run = parts.request.run;
    this.attempt = parts.request.attempt;
    this.live = new LiveRun({ ...parts, title: TITLE, session: this });
    this.state = beginTranscript(parts.totals);
    this.control = new ControlRequests((message) => this.write(message));
    this.asks = new PermissionAsks((id, answer) => this.respond(id, { subtype: "success", response: answer }));
  }

  /** Rejects when nothing was said to the model: then nothing of it is left, either. */
  async open(signal: AbortSignal): Promise<void> {
    const { child, clock, request, session } = this.parts;
    const stopTimer = clock.after(OPEN_MS, () => this.control.close(words.hangs(OPEN_MS)));
    const cancel = () => this.control.close(words.cancelled);
    signal.addEventListener("abort", cancel, { once: true });
    if (signal.aborted) cancel();
    try {
      await child.start({ line: (line) => this.take(line), ended: (why) => this.end(why) });
      const hello = await this.greet();
      const missing = await this.lendTools();
      this.isOpen = true;
      const version = asText(hello.claude_code_version) ?? null;
      this.emit({ type: "run_started", session, model: request.model, version });
      this.checkpoint();
      for (const text of missing) this.emit({ type: "notice", text });
    } catch (cause) {
      await this.live.leave();
      throw notStarted((cause as Error).message, cause);
    } finally {
      stopTimer();
      signal.removeEventListener("abort", cancel);
    }
    this.live.begin();
    this.send(request.prompt.text);
  }

  events(afterSeq: number) {
    return this.live.events(afterSeq);
  }

  async say(text: string, mode: "steer" | "queue"): Promise<"mid-turn" | "next-turn" | "ended"> {
    if (this.live.isOver || this.live.isStopping) return "ended";
    if (mode === "queue") {
      this.later.push(text);
      return "next-turn";
    }
    this.send(text);
    // It reads them with a tool's result. With no tool at work, the answer that it is writing comes first.
    return [...this.state.calls.values()].some(({ state }) => state !== "ended") ? "mid-turn" : "next-turn";
  }

  async answer(ask: string, answer: RunAnswer): Promise<"taken" | "late" | "unknown"> {
    const taken = this.asks.answer(ask, answer);
    if (taken === "taken") this.hear({ kind: "answered", ask, how: answer.kind });
    return taken;
  }

  stop(how: "soft" | "hard"): Promise<void> {
    return this.live.stop(how);
  }

  async park(): Promise<RunToken | null> {
    if (this.live.isOver || this.parts.ports.home === null) return null;
    await this.live.leave();
    return this.token();
  }

  async close(): Promise<void> {
    await this.live.finish("stopped");
  }

  isAsking(): boolean {
    return this.asks.isOpen;
  }

  isActing(): boolean {
    return isActing(this.state);
  }

  saidSoFar(): string {
    return this.state.text;
  }

  withdraw(): void {
    // First, or a denial would make it go on and call its model again.
    if (this.live.isStopping) this.interrupt();
    for (const ask of this.asks.denyAll()) this.hear({ kind: "answered", ask, how: "withdrawn" });
  }

  /** The turn's result says that it stopped; what it answers to the request itself says nothing more. */
  interrupt(): boolean {
    if (!this.isInterrupted) void this.control.ask({ subtype: "interrupt" }).catch(() => {});
    this.isInterrupted = true;
    return true;
  }

  closed(): void {
    this.stopLinger();
    this.control.close(words.over);
  }

  private token(): RunToken {
    const state: JsonObject = { session: this.parts.session, used: writeTotals(this.state.totals) };
    return { runtime: NAME, form: TOKEN_FORM, state };
  }

  /** Where nothing is kept from run to run, nothing can be found again. */
  private checkpoint(): void {
    if (this.parts.ports.home !== null) this.live.emit({ type: "checkpoint", token: this.token() });
  }

  private greet(): Promise<ClaudeFields> {
    const { instructions } = this.parts.request.prompt;
    // Not as an argument: those have a limit, and everybody on the machine can read them.
    const more = instructions === "" ? {} : { appendSystemPrompt: instructions };
    return this.control.ask({ subtype: "initialize", ...more });
  }

  /** Says which servers can't be reached. Over its input for the same reason: each has a token. */
  private async lendTools(): Promise<string[]> {
    const { mcp } = this.parts.ports;
    if (mcp.length === 0) return [];
    const servers = Object.fromEntries(
      mcp.map(({ name, url, token }) => [name, { type: "http", url, headers: { Authorization: `Bearer ${token}` } }]),
    );
    const { errors } = await this.control.ask({ subtype: "mcp_set_servers", servers });
    return Object.entries(asObject(errors)).map(([name, why]) => words.serverFailed(name, String(why).slice(0, 500)));
  }

  private send(text: string): void {
    const uuid = randomUUID();
    this.unread.add(uuid);
    const message = { role: "user", content: [{ type: "text", text: asMessage(text) }] };
    this.write({ type: "user", message, parent_tool_use_id: null, session_id: "", uuid });
  }

  private write(message: object): void {
    this.parts.child.write(`${JSON.stringify(message)}\n`);
  }

  private respond(request: string, response: { subtype: string } & ClaudeFields): void {
    this.write({ type: "control_response", response: { ...response, request_id: request } });
  }

  private take(line: string): void {
    const message = readLine(line);
    if (!message) {
      this.takeGarbage();
      return;
    }
    switch (message.type) {
      case "control_response":
        this.control.take(message);
        break;
      case "control_request":
        this.takeRequest(message);
        break;
      case "control_cancel_request":
        this.takeCancel(String(message.request_id));
        break;
      case "result":
        this.takeResult(message);
        break;
      default:
        this.takeRead(message);
        this.hear({ kind: "line", line: message, at: this.parts.clock.now() });
    }
    this.live.heard();
  }

  /** What a program prints besides the protocol is no message, and no sign of life. */
  private takeGarbage(): void {
    if (++this.garbage === MOST_GARBAGE) this.end(words.garbage);
  }

  private takeRequest(message: ClaudeFields): void {
    const id = String(message.request_id);
    const request = asObject(message.request);
    const isDeaf = !this.isOpen || this.live.isStopping || this.live.isOver;
    if (request.subtype !== "can_use_tool")
      this.respond(id, { subtype: "error", error: reads.unknownRequest(String(request.subtype)) });
    else if (isDeaf) this.respond(id, { subtype: "success", response: { behavior: "deny", message: reads.denied } });
    else if (this.asks.take(id, request)) this.hear({ kind: "asked", ask: id, request });
  }

  private takeCancel(request: string): void {
    const ask = this.asks.cancel(request);
    if (ask !== undefined) this.hear({ kind: "answered", ask, how: "withdrawn" });
  }

  /** Which of our messages it has read; its versions say it in different ways. */
  private takeRead(message: ClaudeFields): void {
    const read = [...asList(message.user_message_uuids)];
    if (message.type === "command_lifecycle" && message.state !== "queued") read.push(message.command_uuid);
    if (message.type === "user" && message.isReplay === true) read.push(message.uuid);
    if (read.length === 0) return;
    for (const uuid of read) this.unread.delete(String(uuid));
    this.saysRead = true;
    this.stopLinger();
  }

  private takeResult(line: ClaudeFields): void {
    // A conversation that isn't there comes as a turn that failed.
    if (!this.isOpen) {
      this.control.close(readError(line).text);
      return;
    }
    this.takeRead(line);
    // Where it doesn't say what it has read, it has read what came first.
    const [first] = this.unread;
    if (!this.saysRead && first !== undefined) this.unread.delete(first);
    const isStopped = this.live.isStopping;
    const isLast = isStopped || (this.unread.size === 0 && this.later.length === 0);
    this.hear({ kind: "result", line, isLast, isStopped });
    if (this.live.isOver) return;
    if (this.unread.size === 0) this.send(this.later.splice(0).join("\n\n"));
    else this.linger();
  }

  /** It was given words that it doesn't begin to answer: the run doesn't wait for that. */
  private linger(): void {
    this.stopLinger();
    const done = { type: "done" as const, outcome: "finished" as const, text: this.state.text };
    this.stopLinger = this.parts.clock.after(LINGER_MS, () => this.emit(done));
  }

  private hear(heard: ClaudeHeard): void {
    if (this.live.isOver || !this.isOpen) return;
    const { state, events } = translate(this.state, heard);
    this.state = state;
    for (const event of events) this.emit(event);
    this.live.rest();
  }

  private emit(event: RunEventBody): void {
    if (event.type === "done") this.checkpoint();
    this.live.emit(event);
    if (event.type === "done") void this.live.settle();
  }

  /** The program is gone, or has to go. */
  private end(why: string): void {
    if (!this.isOpen) this.control.close(why);
    this.live.died(why);
  }
}

function readLine(line: string): ClaudeFields | undefined {
  if (!line.trimStart().startsWith("{")) return undefined;
  try {
    const message = findObject(parseJson(line));
    return typeof message?.type === "string" ? message : undefined;
  } catch {
    return undefined;
  }
}

function notStarted(why: string, cause: unknown): AppError {
  return new AppError("NOT_READY", {
    message: runWords.notStarted(TITLE, why),
    hint: runWords.tryItself(COMMAND),
    cause,
  });
}
