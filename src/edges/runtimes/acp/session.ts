/**
 * One run of an ACP agent: a program for this run, a session in it (new, or taken up again), a prompt, and its events until the end. What
 * is said meanwhile becomes the next prompt of the same run: the protocol has no way into a turn that runs.
 */
import type {
  RunAnswer,
  RunEventBody,
  RunPorts,
  RunRequest,
  RunSession,
  RunToken,
} from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import { type Clock, RpcFailure, RpcPeer } from "../../../core/kit/index.ts";
import { RunQueue } from "../run-queue.ts";
import type { AcpChild } from "./child.ts";
import { type AcpFields, asFields } from "./fields.ts";
import { chooseOption, type PermissionOption, type PermissionOutcome, readOptions } from "./options.ts";
import type { AcpProfile } from "./profile.ts";
import { type AcpHeard, type Translation, translate, UNSPOKEN } from "./translate.ts";
import { RPC_WORDS, acpRunWords as words } from "./words.ts";

export interface AcpSessionParts {
  profile: AcpProfile;
  request: RunRequest;
  ports: RunPorts;
  child: AcpChild;
  clock: Clock;
  /** Null: nobody looked. */
  version: string | null;
}

interface OpenAsk {
  options: PermissionOption[];
  /** Undefined: it was answered. */
  settle: ((outcome: PermissionOutcome) => void) | undefined;
}

/** A cold start of a large program on a busy machine takes half a minute. */
const OPEN_MS = 90_000;
/** How long a soft stop may take before it becomes a hard one. */
const SOFT_MS = 10_000;
const PROTOCOL = 1;
/** Of a run's token. */
const TOKEN_FORM = 1;

export class AcpSession implements RunSession {
  readonly run: string;
  readonly attempt: number;
  private readonly parts: AcpSessionParts;
  private readonly queue: RunQueue;
  private readonly peer: RpcPeer;
  private readonly asks = new Map<string, OpenAsk>();
  private readonly over = new AbortController();
  private readonly said: string[] = [];
  private state: Translation = UNSPOKEN;
  private session = "";
  private calls = 0;
  private isStopping = false;
  private stopQuiet = () => {};
  private stopTimers: (() => void)[] = [];

  constructor(parts: AcpSessionParts) {
    const { request, clock, child } = parts;
    this.parts = parts;
    this.run = request.run;
    this.attempt = request.attempt;
    this.queue = new RunQueue({ ...request, clock });
    this.peer = new RpcPeer({
      words: RPC_WORDS,
      write: (line) => child.write(line),
      requests: {
        "session/request_permission": (params, { signal }) => this.ask(params, signal),
      },
      notifications: {
        "session/update": ({ update }) => this.hear({ kind: "update", update }),
      },
    });
  }

  /** Rejects when nothing was said to the model: then nothing of it is left, either. */
  async open(signal: AbortSignal): Promise<void> {
    const { child, profile, request, version } = this.parts;
    const limit = AbortSignal.any([signal, this.over.signal, AbortSignal.timeout(OPEN_MS)]);
    let ended = "";
    try {
      await child.start({
        line: (line) => this.take(line),
        ended: (why) => {
          ended = why;
          this.died(why);
        },
      });
      const hello = await this.greet(limit);
      await this.begin(hello, limit);
    } catch (cause) {
      this.quiet();
      await child.end();
      throw notStarted(profile, ended || (cause as Error).message, cause);
    }
    this.emit({ type: "run_started", session: this.session, model: request.model, version });
    if (profile.resume !== "none") this.emit({ type: "checkpoint", token: this.token() });
    this.watch();
    this.rest();
    void this.drive();
  }

  events(afterSeq: number) {
    return this.queue.events(afterSeq);
  }

  async say(text: string): Promise<"next-turn" | "ended"> {
    if (this.over.signal.aborted || this.isStopping) return "ended";
    this.said.push(text);
    return "next-turn";
  }

  async answer(ask: string, answer: RunAnswer): Promise<"taken" | "late" | "unknown"> {
    const asked = this.asks.get(ask);
    if (!asked || answer.kind === "said") return "unknown";
    if (!asked.settle) return "late";
    asked.settle(chooseOption(this.parts.profile, asked.options, answer.kind));
    asked.settle = undefined;
    this.hear({ kind: "answered", ask, how: answer.kind });
    return "taken";
  }

  async stop(how: "soft" | "hard"): Promise<void> {
    if (this.over.signal.aborted) return;
    if (how === "hard") return this.finish("stopped");
    if (this.isStopping) return;
    this.isStopping = true;
    this.withdraw();
    this.peer.notify("session/cancel", { sessionId: this.session });
    this.stopTimers.push(this.parts.clock.after(SOFT_MS, () => void this.finish("stopped")));
  }

  async park(): Promise<RunToken | null> {
    if (this.parts.profile.resume === "none" || this.over.signal.aborted) return null;
    this.quiet();
    this.queue.end();
    await this.parts.child.end();
    return this.token();
  }

  async close(): Promise<void> {
    await this.finish("stopped");
  }

  private token(): RunToken {
    return { runtime: this.parts.profile.name, form: TOKEN_FORM, state: { session: this.session } };
  }

  private async greet(signal: AbortSignal): Promise<AcpFields> {
    const { profile } = this.parts;
    const hello = asFields(
      await this.peer.ask(
        "initialize",
        {
          protocolVersion: PROTOCOL,
          clientInfo: { name: "lares", version: "1" },
          // It has its own tools; ours it gets over MCP, through the gate.
          clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
        },
        signal,
      ),
    );
    if (hello.protocolVersion !== PROTOCOL) throw new Error(words.otherProtocol(profile.title, hello.protocolVersion));
    if (profile.auth !== null) await this.peer.ask("authenticate", { methodId: profile.auth }, signal);
    return asFields(hello.agentCapabilities);
  }

  private async begin(can: AcpFields, signal: AbortSignal): Promise<void> {
    const { profile, request, ports } = this.parts;
    const hasHttp = asFields(can.mcpCapabilities).http === true;
    const mcpServers = ports.mcp.map(({ name, url, token }) => ({
      type: "http",
      name,
      url,
      headers: [{ name: "Authorization", value: `Bearer ${token}` }],
    }));
    const place = { cwd: request.workspace?.path ?? ports.tmp, mcpServers: hasHttp ? mcpServers : [] };
    if (request.resume) await this.takeUp(request.resume, can, place, signal);
    else this.session = String(asFields(await this.peer.ask("session/new", place, signal)).sessionId ?? "");
    if (this.session === "") throw new Error(words.noSession(profile.title));
    if (profile.mode !== null)
      await this.peer.ask("session/set_mode", { sessionId: this.session, modeId: profile.mode }, signal);
  }

  /** Without a replay where it can; otherwise what is replayed is known already (ACPRUN-1). */
  private async takeUp(token: RunToken, can: AcpFields, place: object, signal: AbortSignal): Promise<void> {
    const { session } = token.state;
    if (token.form !== TOKEN_FORM || typeof session !== "string") throw new Error(words.oldToken);
    const canResume = asFields(can.sessionCapabilities).resume !== undefined;
    this.session = session;
    this.hear({ kind: "loading" });
    await this.peer.ask(canResume ? "session/resume" : "session/load", { sessionId: session, ...place }, signal);
    this.hear({ kind: "loaded" });
  }

  private async drive(): Promise<void> {
    const { instructions, text } = this.parts.request.prompt;
    const isNew = this.parts.request.resume === null;
    // The protocol has no other place for instructions.
    let next = isNew && instructions !== "" ? `${instructions}\n\n${text}` : text;
    while (next !== "") {
      const params = { sessionId: this.session, prompt: [{ type: "text", text: next }] };
      try {
        const result = asFields(await this.peer.ask("session/prompt", params, this.over.signal));
        next = this.isStopping ? "" : this.said.splice(0).join("\n\n");
        const ended = this.isStopping ? { ...result, stopReason: "cancelled" } : result;
        this.hear({ kind: "ended", result: ended, isLast: next === "" });
      } catch (error) {
        if (this.over.signal.aborted) return;
        if (!(error instanceof RpcFailure)) throw error;
        if (this.isStopping) return void this.finish("stopped");
        this.hear({ kind: "failed", code: error.code, message: error.message });
        next = "";
      }
    }
    this.quiet();
    await this.parts.child.end();
  }

  private ask(params: AcpFields, signal: AbortSignal): Promise<object> {
    const ask = `ask-${this.asks.size + 1}`;
    return new Promise((resolve) => {
      const settle = (outcome: PermissionOutcome) => resolve({ outcome });
      if (this.isStopping || this.over.signal.aborted) return settle({ outcome: "cancelled" });
      this.asks.set(ask, { options: readOptions(params.options), settle });
      signal.addEventListener("abort", () => this.drop(ask), { once: true });
      this.hear({ kind: "asked", ask, request: params });
    });
  }

  /** The agent doesn't wait any longer, or the run ends: a question without an answer is a no. */
  private drop(ask: string): void {
    const asked = this.asks.get(ask);
    if (!asked?.settle) return;
    asked.settle({ outcome: "cancelled" });
    asked.settle = undefined;
    this.hear({ kind: "answered", ask, how: "withdrawn" });
  }

  private withdraw(): void {
    for (const ask of this.asks.keys()) this.drop(ask);
  }

  private take(line: string): void {
    this.rest();
    // What a program prints besides the protocol is no message.
    if (line.trimStart().startsWith("{")) this.peer.take(line);
    if (!this.queue.isFull) return;
    this.parts.child.pause();
    void this.queue.room().then(() => this.parts.child.resume());
  }

  private hear(heard: AcpHeard): void {
    if (this.over.signal.aborted) return;
    const { state, events } = translate(this.parts.profile, this.state, heard);
    this.state = state;
    for (const event of events) this.emit(event);
    this.rest();
  }

  private emit(event: RunEventBody): void {
    this.queue.push(event);
    const { toolCalls } = this.parts.request.limits;
    if (event.type !== "tool_call" || toolCalls === null || ++this.calls !== toolCalls + 1) return;
    this.queue.push({ type: "notice", text: words.tooManyCalls(toolCalls) });
    void this.stop("soft");
  }

  private watch(): void {
    const { deadline } = this.parts.request.limits;
    if (deadline === null) return;
    const { clock } = this.parts;
    const late = () => {
      this.queue.push({ type: "notice", text: words.outOfTime });
      void this.stop("soft");
    };
    this.stopTimers.push(clock.after(Math.max(0, deadline - clock.now()), late));
  }

  /** Counts its silence from now. While a person is asked, it is silent because of us. */
  private rest(): void {
    this.stopQuiet();
    const isAsking = [...this.asks.values()].some(({ settle }) => settle);
    if (this.session === "" || isAsking || this.over.signal.aborted) return;
    const { quietMs } = this.parts.request.limits;
    this.stopQuiet = this.parts.clock.after(quietMs, () => {
      const text = words.silent(this.parts.profile.title, quietMs);
      this.queue.push({ type: "error", failure: "timeout", text, hint: null });
      void this.finish("failed");
    });
  }

  /** The program is gone. What it was doing then, nobody knows. */
  private died(why: string): void {
    if (this.over.signal.aborted || this.session === "") {
      this.peer.close();
      return;
    }
    const isActing = [...this.state.calls.values()].some((call) => call.state === "announced");
    this.queue.push({ type: "error", failure: "unknown", text: words.died(this.parts.profile.title, why), hint: null });
    void this.finish(isActing ? "unknown" : "failed");
  }

  private async finish(outcome: "stopped" | "failed" | "unknown"): Promise<void> {
    if (!this.over.signal.aborted) {
      this.withdraw();
      this.quiet();
      this.queue.push({ type: "done", outcome, text: this.state.text });
    }
    await this.parts.child.end();
  }

  private quiet(): void {
    this.stopQuiet();
    for (const stop of this.stopTimers) stop();
    this.over.abort();
    this.peer.close();
  }
}

function notStarted({ title, command }: AcpProfile, why: string, cause: unknown): AppError {
  return new AppError("NOT_READY", { message: words.notStarted(title, why), hint: words.tryItself(command), cause });
}
