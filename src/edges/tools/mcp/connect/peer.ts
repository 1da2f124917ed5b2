/**
 * One MCP server of this home: connected when it is needed, ended when it was not needed for a while, left alone for a while when it
 * keeps failing. All conversations share it.
 *
 * MCP-7: nothing is started before a tool of the server is wanted; its list of tools is known from the last time.
 * MCP-8: a call that was sent and not answered is `unknown`. It is never sent again from here.
 * MCP-9: which era of the protocol a server speaks is found out once and remembered until it stops being true.
 */
import type { Client, PriorDiscovery, Transport } from "@modelcontextprotocol/client";
import { AppError, type JsonObject, type QuestionAnswer } from "../../../../core/domain/index.ts";
import { type Backoff, backoffMs, type Clock, defined } from "../../../../core/kit/index.ts";
import { NeverSent, whyFailed } from "../../web/failure.ts";
import { OpenCall, type OpenQuestion, type Sampler } from "../call/open-call.ts";
import type { McpAnswer } from "../call/result.ts";
import type { ServerConfig } from "../config.ts";
import { type Manifest, type McpTool, MOST_TOOLS, readManifest } from "../listed/manifest.ts";
import { type McpPrompt, readPrompts } from "../listed/prompts.ts";
import { type CreatedTask, isAboutTask, readCreated, type TaskLine } from "../tasks/wire.ts";
import { pastSdk, unjudged } from "./past-sdk.ts";

/** After so many failures in a row it is left alone for a while. */
const MOST_FAILURES = 3;
const PAUSE: Backoff = { firstMs: 30_000, mostMs: 15 * 60_000, jitter: 0.2 };
/** Pages of a list; a list without end is cut (the SDK's bound). */
const MOST_PAGES = 64;
/** Progress keeps a call alive, but not forever. */
const LONGEST_CALL_MS = 60 * 60_000;
/** A program that works between calls is looked at again after this, at the earliest. */
const LOOK_AGAIN_MS = 60_000;

export type PeerState =
  | { kind: "off" }
  /** Not running; it starts with the next call. */
  | { kind: "idle" }
  | { kind: "connecting" }
  | { kind: "ready"; since: number }
  /** A person has to log in first. */
  | { kind: "needs-login"; why: string }
  /** It failed several times in a row. */
  | { kind: "paused"; until: number; why: string };

export type CallOutcome =
  /** `notes`: what it asked on the way and did not get. */
  | { kind: "answered"; answer: McpAnswer; notes?: readonly string[] }
  /** It wants to know something first. The same call again, with the answers and this state, goes on from there. */
  | { kind: "input-required"; requests: unknown; state?: string }
  /** It has begun, and answers later, when it is asked. */
  | { kind: "task"; task: CreatedTask }
  /** The same of a server that waits meanwhile: `answer` goes on with the call. */
  | { kind: "asks"; question: OpenQuestion }
  /** It did not happen: never sent, or the server said no. */
  | { kind: "refused"; why: string; lost?: LostLogin }
  | { kind: "unknown"; why: string };

/** Since when it refuses us. `isNew`: this call found out. */
export interface LostLogin {
  at: number;
  isNew: boolean;
}

/** What is remembered of a server over restarts. */
export interface PeerMemory {
  /** Since when a person has to log in, until a call succeeds: they get one notice of it. */
  lostLogin?: number;
  prior?: PriorDiscovery;
  manifest?: Manifest;
  prompts?: McpPrompt[];
  /** The definition that a person lets have a model write for it. */
  samples?: string;
}

export interface PeerParts {
  name: string;
  config: ServerConfig;
  clock: Clock;
  /** A fresh connection to it. Throws when there can't be one. */
  transport(): Promise<Transport & { complaints?: { lines(most?: number): string[] }; endedFor?: string | undefined }>;
  /** The SDK, loaded when the first server is wanted. */
  client(options: {
    probeMs: number;
    onToolsChanged(): void;
    onQuestion(params: unknown): Promise<QuestionAnswer>;
    /** Absent: it may not ask for text from a model, and learns that. */
    onSample?: (params: unknown) => Promise<JsonObject>;
  }): Promise<Client>;
  remember(memory: PeerMemory): void;
  /** Its tools were listed: with every connection, and when it says that they changed. */
  listed(manifest: Manifest): Promise<void>;
  memory: PeerMemory;
  /** Whether it works on something between calls, and so isn't idle. */
  isWorking?(): boolean;
  /** It couldn't be reached, or ended without being asked to. */
  failed?(why: string): void;
}

export interface CallProgress {
  progress: number;
  total?: number | undefined;
  message?: string | undefined;
}

export interface CallRequest {
  /** Of this call, the same when it goes on. */
  key: string;
  tool: string;
  /** What was judged: a tool that says something else by now is not called (MCP-10). */
  digest: string;
  arguments: Record<string, unknown>;
  /** From an earlier `input-required`. */
  answers?: { responses: unknown; state?: string };
  onProgress?(progress: CallProgress): void;
  /** A server of the older era wants text from a model in the middle of the call. */
  onSample?: Sampler;
  signal: AbortSignal;
}

/** One connection serves all conversations: a server is a program with its own state, and people expect one of it. */
interface Connection {
  client: Client;
  transport: Awaited<ReturnType<PeerParts["transport"]>>;
  since: number;
}

export class McpPeer {
  readonly #parts: PeerParts;
  #connection: Connection | undefined;
  #connecting: Promise<Connection> | undefined;
  /** The connection that is being made. */
  #opening: { transport?: Connection["transport"]; isGivenUp?: true } | undefined;
  #failures = 0;
  #pausedUntil = 0;
  #why = "";
  /** What it said when it refused us for want of a login. */
  #needsLogin: string | undefined;
  #running = 0;
  /** A task has begun that may not be followed yet. */
  #taskUntil = 0;
  #stopIdle: (() => void) | undefined;
  #memory: PeerMemory;
  /** Calls under way, and those of them that wait for a person. */
  readonly #calls = new Set<OpenCall>();
  readonly #asking = new Map<string, OpenCall>();
  /** Of the last process, also when it has ended. */
  #complaints: { lines(most?: number): string[] } | undefined;

  constructor(parts: PeerParts) {
    this.#parts = parts;
    this.#memory = parts.memory;
  }

  state(): PeerState {
    if (!this.#parts.config.enabled) return { kind: "off" };
    if (this.#connection) return { kind: "ready", since: this.#connection.since };
    if (this.#connecting) return { kind: "connecting" };
    if (this.#needsLogin !== undefined) return { kind: "needs-login", why: this.#needsLogin };
    if (this.#pausedUntil > this.#parts.clock.now()) {
      return { kind: "paused", until: this.#pausedUntil, why: this.#why };
    }
    return { kind: "idle" };
  }

  /** As they were last listed. Undefined: never. */
  prompts(): readonly McpPrompt[] | undefined {
    return this.#memory.prompts;
  }

  /** What it complained about last. */
  complaints(most?: number): string[] {
    return this.#complaints?.lines(most) ?? [];
  }

  /** Asks for its tools again. Throws when it can't be reached. */
  async list(): Promise<Manifest> {
    return this.#useKnown(async ({ client }) => await this.#list(client));
  }

  /** A request that only reads. Throws when it can't be reached or refuses. */
  async request(method: string, params: object, signal: AbortSignal): Promise<unknown> {
    const { looseResult } = await import("./loose.ts");
    const timeout = this.#parts.config.callSeconds * 1000;
    return this.#useKnown(({ client }) =>
      client.request({ method, params: { ...params } }, looseResult, { signal, timeout }),
    );
  }

  /** Asks the server about a task. Throws when it can't be reached or refuses. */
  async task<T>(work: (line: TaskLine) => Promise<T>): Promise<T> {
    const { looseResult } = await import("./loose.ts");
    const timeout = this.#parts.config.callSeconds * 1000;
    return this.#use(({ client }) =>
      work({
        isModern: client.getProtocolEra() === "modern",
        request: (method, params) => client.request({ method, params }, looseResult, { timeout }),
      }),
    );
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
    live.answer(given);
    return this.#follow(key, live, signal);
  }

  async #follow(key: string, live: OpenCall, signal: AbortSignal): Promise<CallOutcome> {
    this.#asking.delete(key);
    const outcome = await live.wait(signal);
    if (outcome.kind === "asks") this.#asking.set(key, live);
    if (outcome.kind !== "answered" || live.notes.length === 0) return outcome;
    return { ...outcome, notes: live.notes };
  }

  async #run(live: OpenCall, request: CallRequest, signal: AbortSignal): Promise<CallOutcome> {
    let isSent = false;
    this.#calls.add(live);
    try {
      return await this.#useKnown(async ({ client }) => {
        const now = this.#memory.manifest?.tools.find(({ name }) => name === request.tool);
        if (now === undefined || now.digest !== request.digest)
          throw new NotReached("the tool has changed and can't be used until the owner has accepted it");
        isSent = true;
        live.heard();
        const outcome = await this.#send(client, { ...request, signal }, { tool: now, live });
        // Not with the connection: some servers list their tools for everybody.
        this.foundLogin();
        return outcome;
      });
    } catch (error) {
      // A stop isn't the server's failure and must not count as one.
      if (request.signal.aborted) throw error;
      const login = findCause(error, NeedsLogin);
      if (login) {
        await this.close();
        this.#needsLogin = login.message;
        return { kind: "refused", why: login.message, lost: this.#lostLogin() };
      }
      // A server that was restarted knows nothing about our session: the next call begins a new one.
      if (readStatus(error as Error)) await this.close();
      return toOutcome(error as Error, isSent);
    } finally {
      this.#calls.delete(live);
    }
  }

  #lostLogin(): LostLogin {
    const known = this.#memory.lostLogin;
    const at = known ?? this.#parts.clock.now();
    if (known === undefined) this.#keep({ ...this.#memory, lostLogin: at });
    return { at, isNew: known === undefined };
  }

  /** A person logged in, or it takes us again. */
  foundLogin(): void {
    const { lostLogin, ...rest } = this.#memory;
    if (lostLogin !== undefined) this.#keep(rest);
  }

  async #sampled(params: unknown): Promise<JsonObject> {
    const [only, ...others] = this.#calls;
    if (only && others.length === 0 && !isAboutTask(params)) return only.sample(params);
    throw new Error("Text from a model is only to be had during a call, and one call at a time.");
  }

  maySample(definition: string): boolean {
    return this.#memory.samples === definition;
  }

  allowSampling(definition: string): void {
    this.#keep({ ...this.#memory, samples: definition });
  }

  /** Which of several calls a question belongs to, a server of the older era doesn't say; then no person can be asked. */
  async #asked(params: unknown): Promise<QuestionAnswer> {
    const [only, ...others] = this.#calls;
    // Nobody waits at the other end of a task.
    if (isAboutTask(params)) return { action: "cancel" };
    if (only && others.length === 0) return only.ask(params);
    for (const live of this.#calls)
      live.notes.push(`${this.#parts.name} asked something during several calls at once.`);
    return { action: "cancel" };
  }

  /** Ends it, also while it is being connected; the next call starts it again. */
  async close(): Promise<void> {
    this.#stopIdle?.();
    const connection = this.#connection;
    const opening = this.#opening;
    this.#connection = undefined;
    if (this.#connecting) this.#opening = { isGivenUp: true };
    await connection?.client.close().catch(() => undefined);
    // The SDK's close does not wait for the process; ours does, and may be asked twice.
    await (connection?.transport ?? opening?.transport)?.close();
    // One that was about to be started is ended there.
    await this.#connecting?.catch(() => undefined);
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
      this.#taskUntil = this.#parts.clock.now() + LOOK_AGAIN_MS;
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

  /** Page by page and without the SDK's schema, which refuses the whole list for one bad tool. */
  async #list(client: Client): Promise<Manifest> {
    const tools: unknown[] = [];
    let cursor: string | undefined;
    // A server that never ends its list must not keep us reading it.
    for (let page = 0; page < MOST_PAGES && tools.length <= MOST_TOOLS; page++) {
      const { looseList } = await import("./loose.ts");
      const found = await client.request(
        { method: unjudged("tools/list"), params: cursor === undefined ? {} : { cursor } },
        looseList,
        { timeout: this.#parts.config.startSeconds * 1000 },
      );
      tools.push(...found.tools);
      cursor = found.nextCursor;
      if (cursor === undefined) break;
    }
    const manifest = readManifest(this.#parts.name, tools);
    const prompts = client.getServerCapabilities()?.prompts ? await this.#listPrompts(client) : [];
    this.#keep({ ...this.#memory, manifest, prompts });
    await this.#parts.listed(manifest);
    return manifest;
  }

  /** The first page: nobody types more names than that. A server that can't list them has none. */
  async #listPrompts(client: Client): Promise<McpPrompt[]> {
    const { loosePrompts } = await import("./loose.ts");
    const timeout = this.#parts.config.startSeconds * 1000;
    const found = await client
      .request({ method: unjudged("prompts/list"), params: {} }, loosePrompts, { timeout })
      .catch(() => undefined);
    return readPrompts(found?.prompts ?? []);
  }

  /**
   * A server that was restarted doesn't know our session any more and did nothing of what it was asked: it is asked again, in a new
   * session.
   */
  async #useKnown<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    try {
      return await this.#use(work);
    } catch (error) {
      const hadSession = this.#connection?.transport.sessionId !== undefined;
      if (!hadSession || readStatus(error as Error) !== 404) throw error;
      await this.close();
      return this.#use(work);
    }
  }

  async #use<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    this.#stopIdle?.();
    this.#running++;
    try {
      const connection = await this.#connected();
      const done = await work(connection);
      // Only work that succeeded shows that it is well; a connection alone does not.
      this.#failures = 0;
      return done;
    } finally {
      if (--this.#running === 0) this.#endWhenIdle();
    }
  }

  #endWhenIdle(): void {
    const { idleMinutes, command } = this.#parts.config;
    // A server elsewhere costs nothing while it is idle.
    if (command === undefined) return;
    const endIn = (ms: number) => {
      this.#stopIdle = this.#parts.clock.after(ms, () => {
        if (this.#taskUntil > this.#parts.clock.now() || this.#parts.isWorking?.()) endIn(Math.max(ms, LOOK_AGAIN_MS));
        else void this.close();
      });
    };
    endIn(idleMinutes * 60_000);
  }

  #connected(): Promise<Connection> {
    if (this.#connection) return Promise.resolve(this.#connection);
    const pause = this.#pausedUntil - this.#parts.clock.now();
    if (pause > 0) throw new NotReached(`it failed ${this.#failures} times and is left alone for now: ${this.#why}`);
    // Many calls at once want it: one of them connects.
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
      this.#opening = undefined;
    });
    return this.#connecting;
  }

  /**
   * With what is known of the server's era; where that is nothing, or stopped being true, by asking. A server of the older era may
   * answer the question by ending or not at all, so the last try does not ask.
   */
  async #connect(): Promise<Connection> {
    const { prior } = this.#memory;
    const tries: (PriorDiscovery | undefined)[] = [...(prior ? [prior] : []), undefined, { kind: "legacy" }];
    let failure: unknown;
    for (const era of tries) {
      try {
        return await this.#connectAs(era);
      } catch (error) {
        if (this.#isGivenUp()) throw new NotReached("it was ended while it was starting");
        // The first failure is the one that means something; the later tries are guesses.
        failure ??= error;
        // It can't even be started, or wants a login: another era changes nothing.
        if (error instanceof AppError || findCause(error, NeedsLogin)) break;
      }
    }
    const login = findCause(failure, NeedsLogin);
    if (login) {
      this.#needsLogin = login.message;
      throw new NotReached(login.message, { cause: login });
    }
    this.#failed(failure as Error);
    throw new NotReached(this.#why);
  }

  async #connectAs(prior: PriorDiscovery | undefined): Promise<Connection> {
    const client = await this.#parts.client({
      probeMs: this.#parts.config.startSeconds * 1000,
      // A list that can't be had now is asked for with the next connection.
      // After the end nothing is listed: that would start it again.
      onToolsChanged: () => {
        if (this.#connection ?? this.#connecting) void this.list().catch(() => undefined);
      },
      onQuestion: (params) => this.#asked(params),
      ...(this.#parts.config.sampling ? { onSample: (params: unknown) => this.#sampled(params) } : {}),
    });
    const transport = pastSdk(await this.#parts.transport());
    this.#complaints = transport.complaints;
    try {
      if (this.#isGivenUp()) throw new NotReached("it was ended before it was started");
      this.#opening = { transport };
      await client.connect(transport, {
        timeout: this.#parts.config.startSeconds * 1000,
        ...defined({ prior }),
      });
      const discover = client.getDiscoverResult();
      this.#memory = { ...this.#memory, prior: discover ? { kind: "modern", discover } : { kind: "legacy" } };
      // With every connection: what answers now may be another version than the one whose tools were accepted.
      await this.#list(client);
      if (this.#isGivenUp()) throw new NotReached("it was ended while it was starting");
    } catch (error) {
      await transport.close();
      throw error;
    }
    this.#needsLogin = undefined;
    const connection = { client, transport, since: this.#parts.clock.now() };
    this.#connection = connection;
    client.onclose = () => {
      if (this.#connection !== connection) return;
      this.#connection = undefined;
      const { endedFor } = transport;
      this.#parts.failed?.(
        endedFor === undefined ? this.#withComplaint("it ended by itself") : `${endedFor}, so Lares ended it`,
      );
    };
    return connection;
  }

  #isGivenUp(): boolean {
    return this.#opening?.isGivenUp === true;
  }

  #failed(error: Error): void {
    this.#failures++;
    this.#why = this.#withComplaint(error.message);
    this.#parts.failed?.(this.#why);
    // A server that just restarts fails once or twice. Only a broken one keeps failing.
    if (this.#failures < MOST_FAILURES) return;
    this.#pausedUntil = this.#parts.clock.now() + backoffMs(PAUSE, this.#failures - MOST_FAILURES + 1);
  }

  #withComplaint(what: string): string {
    const said = this.complaints();
    // A program that dies says why in one line and then where, in many.
    const last = said.findLast((line) => line.toLowerCase().includes("error") && !isPlaceInCode(line)) ?? said.at(-1);
    return last === undefined ? what : `${last} (${what})`;
  }

  #keep(memory: PeerMemory): void {
    this.#memory = memory;
    this.#parts.remember(memory);
  }
}

/** The server wants a login that only a person can do. */
export class NeedsLogin extends Error {}

/** The SDK wraps what its transport throws. */
function findCause<T extends Error>(error: unknown, kind: new (...given: never[]) => T): T | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if (at instanceof kind) return at;
  }
  return undefined;
}

/** Nothing was sent. */
class NotReached extends Error {}

/** The wire's errors in the one distinction that matters: did it happen, did it not, or does nobody know? */
function toOutcome(error: Error & { code?: unknown }, isSent: boolean): CallOutcome {
  if (!isSent || error instanceof NotReached) return { kind: "refused", why: error.message };
  const unsent = findCause(error, NeverSent);
  if (unsent) return { kind: "refused", why: whyFailed(unsent) };
  const status = readStatus(error);
  if (status) return { kind: "refused", why: `${error.message} (HTTP ${status})` };
  // A number is the server's own answer; the SDK's own failures have words for codes.
  if (typeof error.code === "number") return { kind: "refused", why: error.message };
  if (error.code === "NOT_CONNECTED" || error.code === "SEND_FAILED") return { kind: "refused", why: error.message };
  return { kind: "unknown", why: error.message };
}

/** The server's own no over HTTP; undefined for anything else. */
function readStatus(error: Error & { status?: unknown; data?: unknown }): number | undefined {
  const data = error.data as { status?: unknown } | undefined;
  const status = error.status ?? data?.status;
  return typeof status === "number" && status >= 400 && status < 500 ? status : undefined;
}

/** A line of a stack trace, as Node prints it. */
function isPlaceInCode(line: string): boolean {
  const start = line.trimStart();
  return start.startsWith("at ") || start.startsWith("code:");
}
