/**
 * One run of an ACP agent: a program for this run, a session in it (new, or taken up again), a prompt, and its events until the end. What
 * is said meanwhile becomes the next prompt of the same run: the protocol has no way into a turn that runs.
 */
import type { RunAnswer, RunPorts, RunRequest, RunSession, RunToken } from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import { type Clock, RpcFailure, RpcPeer } from "../../../core/kit/index.ts";
import type { RunChild } from "../child.ts";
import { LiveRun, type LiveSession } from "../live-run.ts";
import { runWords } from "../words.ts";
import { AcpAsks } from "./asks.ts";
import { type AcpFields, asFields } from "./fields.ts";
import { chooseOption, type PermissionOutcome } from "./options.ts";
import type { AcpProfile } from "./profile.ts";
import { type AcpHeard, type Translation, translate, UNSPOKEN } from "./translate.ts";
import { RPC_WORDS, acpRunWords as words } from "./words.ts";

export interface AcpSessionParts {
  profile: AcpProfile;
  request: RunRequest;
  ports: RunPorts;
  child: RunChild;
  clock: Clock;
  /** Null: nobody looked. */
  version: string | null;
}

/** A cold start of a large program on a busy machine takes half a minute. */
const OPEN_MS = 90_000;
const PROTOCOL = 1;
/** Of a run's token. */
const TOKEN_FORM = 1;

export class AcpSession implements RunSession, LiveSession {
  readonly run: string;
  readonly attempt: number;
  private readonly parts: AcpSessionParts;
  private readonly live: LiveRun;
  private readonly peer: RpcPeer;
  private readonly asks = new AcpAsks();
  private readonly said: string[] = [];
  private state: Translation = UNSPOKEN;
  private session = "";

  constructor(parts: AcpSessionParts) {
    const { request, child, profile } = parts;
    this.parts = parts;
    this.run = request.run;
    this.attempt = request.attempt;
    this.live = new LiveRun({ ...parts, title: profile.title, session: this });
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
    const limit = AbortSignal.any([signal, this.live.over, AbortSignal.timeout(OPEN_MS)]);
    let ended = "";
    try {
      await child.start({
        line: (line) => this.take(line),
        ended: (why) => {
          ended = why;
          this.live.died(why);
        },
      });
      const hello = await this.greet(limit);
      await this.begin(hello, limit);
    } catch (cause) {
      await this.live.leave();
      throw notStarted(profile, ended || (cause as Error).message, cause);
    }
    this.live.emit({ type: "run_started", session: this.session, model: request.model, version });
    if (profile.resume !== "none") this.live.emit({ type: "checkpoint", token: this.token() });
    this.live.begin();
    void this.drive();
  }

  events(afterSeq: number) {
    return this.live.events(afterSeq);
  }

  async say(text: string): Promise<"next-turn" | "ended"> {
    if (this.live.isOver || this.live.isStopping) return "ended";
    this.said.push(text);
    return "next-turn";
  }

  async answer(ask: string, answer: RunAnswer): Promise<"taken" | "late" | "unknown"> {
    const options = this.asks.find(ask);
    if (options === null || answer.kind === "said") return "unknown";
    if (options === undefined) return "late";
    this.asks.settle(ask, chooseOption(this.parts.profile, options, answer.kind));
    this.hear({ kind: "answered", ask, how: answer.kind });
    return "taken";
  }

  stop(how: "soft" | "hard"): Promise<void> {
    return this.live.stop(how);
  }

  async park(): Promise<RunToken | null> {
    return this.parts.profile.resume === "none" ? null : this.live.park(() => this.token());
  }

  async close(): Promise<void> {
    await this.live.finish("stopped");
  }

  isAsking(): boolean {
    return this.asks.isOpen;
  }

  isActing(): boolean {
    return [...this.state.calls.values()].some((call) => call.state === "announced");
  }

  saidSoFar(): string {
    return this.state.text;
  }

  withdraw(): void {
    for (const ask of this.asks.cancelAll()) this.hear({ kind: "answered", ask, how: "withdrawn" });
  }

  interrupt(): boolean {
    this.peer.notify("session/cancel", { sessionId: this.session });
    return true;
  }

  closed(): void {
    this.peer.close();
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
    const hasHttp = profile.takesHttp || asFields(can.mcpCapabilities).http === true;
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
    if (token.form !== TOKEN_FORM || typeof session !== "string") throw new Error(runWords.oldToken);
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
        const result = asFields(await this.peer.ask("session/prompt", params, this.live.over));
        next = this.live.isStopping ? "" : this.said.splice(0).join("\n\n");
        const ended = this.live.isStopping ? { ...result, stopReason: "cancelled" } : result;
        this.hear({ kind: "ended", result: ended, isLast: next === "" });
      } catch (error) {
        if (this.live.isOver) return;
        if (!(error instanceof RpcFailure)) throw error;
        if (this.live.isStopping) return void this.live.finish("stopped");
        this.hear({ kind: "failed", code: error.code, message: error.message });
        next = "";
      }
    }
    await this.live.settle();
  }

  private ask(params: AcpFields, signal: AbortSignal): Promise<object> {
    return new Promise((resolve) => {
      const settle = (outcome: PermissionOutcome) => resolve({ outcome });
      if (this.live.isStopping || this.live.isOver) return settle({ outcome: "cancelled" });
      const hasEnded = (call: string) => this.state.calls.get(call)?.state === "ended";
      const { ask, isNew } = this.asks.take(params, settle, hasEnded);
      const onGone = () => {
        if (this.asks.leave(ask, settle)) this.hear({ kind: "answered", ask, how: "withdrawn" });
      };
      signal.addEventListener("abort", onGone, { once: true });
      if (isNew) this.hear({ kind: "asked", ask, request: params });
    });
  }

  private take(line: string): void {
    // What a program prints besides the protocol is no message.
    if (line.trimStart().startsWith("{")) this.peer.take(line);
    this.live.heard();
  }

  private hear(heard: AcpHeard): void {
    if (this.live.isOver) return;
    const { state, events } = translate(this.parts.profile, this.state, heard);
    this.state = state;
    for (const event of events) this.live.emit(event);
    this.live.rest();
  }
}

function notStarted({ title, command }: AcpProfile, why: string, cause: unknown): AppError {
  return new AppError("NOT_READY", {
    message: runWords.notStarted(title, why),
    hint: runWords.tryItself(command),
    cause,
  });
}
