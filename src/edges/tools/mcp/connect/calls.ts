/**
 * Calls of a server's tools on its connection, and the ones among them that wait for a person.
 *
 * MCP-8: a call that was sent and not answered is `unknown`. It is never sent again from here.
 */
import type { Client } from "@modelcontextprotocol/client";
import type { JsonObject, QuestionAnswer } from "../../../../core/domain/index.ts";
import { type Clock, defined } from "../../../../core/kit/index.ts";
import type { CallOutcome, CallRequest, LostLogin } from "../call/call.ts";
import { OpenCall } from "../call/open-call.ts";
import type { McpAnswer } from "../call/result.ts";
import type { ServerConfig } from "../config.ts";
import type { McpTool } from "../listed/manifest.ts";
import { isAboutTask, readCreated } from "../tasks/wire.ts";
import { findCause, NeedsLogin, NotReached, readStatus, toOutcome } from "./errors.ts";
import type { PeerConnection } from "./link.ts";

/** Progress keeps a call alive, but not forever. */
const LONGEST_CALL_MS = 60 * 60_000;

export interface CallsParts {
  name: string;
  config: ServerConfig;
  clock: Clock;
  /** Connects if it has to. */
  use<T>(work: (connection: PeerConnection) => Promise<T>): Promise<T>;
  /** As it was last listed. */
  tool(name: string): McpTool | undefined;
  close(): Promise<void>;
  /** It refused a call for want of a login. */
  lostLogin(why: string): LostLogin;
  /** It took a call. */
  foundLogin(): void;
  /** It began a task. */
  beganTask(): void;
}

export class PeerCalls {
  readonly #parts: CallsParts;
  /** Calls under way, and those of them that wait for a person. */
  readonly #calls = new Set<OpenCall>();
  readonly #asking = new Map<string, OpenCall>();

  constructor(parts: CallsParts) {
    this.#parts = parts;
  }

  async call(request: CallRequest): Promise<CallOutcome> {
    const { config, clock, name: server } = this.#parts;
    const live = new OpenCall({
      server,
      clock,
      quietMs: config.callSeconds * 1000,
      askMs: config.askSeconds * 1000,
      ...defined({ onSample: request.onSample }),
    });
    live.start((signal) => this.#run(live, request, signal));
    return this.#follow(request.key, live, request.signal);
  }

  /** Goes on with a call that asked something. Unknown if this process never had it: a server waits for one process only. */
  async answer(key: string, given: QuestionAnswer, signal: AbortSignal): Promise<CallOutcome> {
    const live = this.#asking.get(key);
    if (!live) return { kind: "unknown", why: "it waited for an answer when Lares or the server was stopped" };
    const isLate = live.isOver;
    live.answer(given);
    const outcome = await this.#follow(key, live, signal);
    if (!isLate || outcome.kind !== "unknown") return outcome;
    return { kind: "unknown", why: `your answer didn't reach it: ${outcome.why}` };
  }

  /** Which of several calls a question belongs to, a server of the older era doesn't say; then no person can be asked. */
  async asked(params: unknown): Promise<QuestionAnswer> {
    const [only, ...others] = this.#calls;
    // Nobody waits at the other end of a task.
    if (isAboutTask(params)) return { action: "cancel" };
    if (only && others.length === 0) return only.ask(params);
    for (const live of this.#calls)
      live.notes.push(`${this.#parts.name} asked something during several calls at once.`);
    return { action: "cancel" };
  }

  async sampled(params: unknown): Promise<JsonObject> {
    const [only, ...others] = this.#calls;
    if (only && others.length === 0 && !isAboutTask(params)) return only.sample(params);
    throw new Error("Text from a model is only to be had during a call, and one call at a time.");
  }

  async #follow(key: string, live: OpenCall, signal: AbortSignal): Promise<CallOutcome> {
    this.#asking.delete(key);
    const outcome = await live.wait(signal);
    if (outcome.kind === "asks") this.#asking.set(key, live);
    if (outcome.kind !== "answered" || live.notes.length === 0) return outcome;
    return { ...outcome, notes: live.notes };
  }

  async #run(live: OpenCall, request: CallRequest, signal: AbortSignal): Promise<CallOutcome> {
    let sent: PeerConnection | undefined;
    this.#calls.add(live);
    try {
      return await this.#parts.use(async (connection) => {
        const now = this.#parts.tool(request.tool);
        if (now === undefined || now.digest !== request.digest)
          throw new NotReached("the tool has changed and can't be used until the owner has accepted it");
        sent = connection;
        live.heard();
        const outcome = await this.#send(connection.client, { ...request, signal }, { tool: now, live });
        // Not with the connection: some servers list their tools for everybody.
        this.#parts.foundLogin();
        return outcome;
      });
    } catch (error) {
      // A stop isn't the server's failure and must not count as one.
      if (request.signal.aborted) throw error;
      const login = findCause(error, NeedsLogin);
      if (login) {
        await this.#parts.close();
        return { kind: "refused", why: login.message, lost: this.#parts.lostLogin(login.message) };
      }
      if (readStatus(error as Error)) await this.#parts.close();
      const outcome = toOutcome(error as Error, sent !== undefined);
      // The SDK only says that the connection was closed, or repeats why it was aborted with "Error:" before it.
      const given = signal.reason instanceof Error ? signal.reason.message : undefined;
      return outcome.kind === "unknown" ? { ...outcome, why: sent?.ended ?? given ?? outcome.why } : outcome;
    } finally {
      this.#calls.delete(live);
    }
  }

  async #send(
    client: Client,
    request: CallRequest,
    { tool, live }: { tool: McpTool; live: OpenCall },
  ): Promise<CallOutcome> {
    const { responses, state } = request.answers ?? {};
    const params = {
      name: request.tool,
      arguments: request.arguments,
      ...(request.answers ? { inputResponses: responses, ...defined({ requestState: state }) } : {}),
      ...this.#asTask(client, tool),
    };
    const result = (await client.callTool(params as Parameters<Client["callTool"]>[0], {
      signal: request.signal,
      // How long it may be silent, the live call knows: time spent waiting for a person doesn't count.
      timeout: LONGEST_CALL_MS,
      allowInputRequired: true,
      // The list was read without the SDK, which learns from this what it repeats in headers.
      toolDefinition: { name: tool.name, inputSchema: { ...tool.input, type: "object" } },
      onprogress: (progress) => {
        live.heard();
        request.onProgress?.(progress);
      },
    })) as McpAnswer & { _meta?: unknown; resultType?: string; inputRequests?: unknown; requestState?: string };
    const task = readCreated(result);
    if (task === "unfit") return { kind: "unknown", why: "it answered with a task that can't be followed" };
    if (task) {
      this.#parts.beganTask();
      return { kind: "task", task };
    }
    if (result.resultType !== "input_required") return { kind: "answered", answer: result };
    const { requestState: left } = result;
    return { kind: "input-required", requests: result.inputRequests ?? {}, ...defined({ state: left }) };
  }

  /** In the older era the client decides. A task outlives a broken connection, and Lares. */
  #asTask(client: Client, { isTask }: McpTool): { task?: { ttl: number } } {
    if (!isTask || client.getProtocolEra() === "modern") return {};
    const { tasks } = client.getServerCapabilities() ?? {};
    return tasks?.requests?.tools?.call ? { task: { ttl: this.#parts.config.taskMinutes * 60_000 } } : {};
  }
}
