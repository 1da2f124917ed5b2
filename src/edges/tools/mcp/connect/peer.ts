/**
 * One MCP server of this home: connected when it is needed, ended when it was not needed for a while, left alone for a while when it
 * keeps failing. All conversations share it.
 *
 * MCP-7: nothing is started before a tool of the server is wanted; its list of tools is known from the last time.
 */
import type { Client } from "@modelcontextprotocol/client";
import type { QuestionAnswer } from "../../../../core/domain/index.ts";
import type { Clock } from "../../../../core/kit/index.ts";
import { NeverSent, whyFailed } from "../../web/failure.ts";
import type { CallOutcome, CallRequest, LostLogin } from "../call/call.ts";
import type { ServerConfig } from "../config.ts";
import type { Manifest } from "../listed/manifest.ts";
import type { McpPrompt } from "../listed/prompts.ts";
import type { TaskLine } from "../tasks/wire.ts";
import { PeerCalls } from "./calls.ts";
import { findCause, readStatus } from "./errors.ts";
import { type ClientHandlers, type PeerConnection, PeerLink, type PeerTransport } from "./link.ts";
import { listAll } from "./listing.ts";
import { PeerHealth, type PeerMemory, type PeerState } from "./state.ts";

/** Of the time to start: a server of the older era may not answer the question about its era at all, and is then greeted the old way. */
const PROBE_SHARE = 0.7;
/** A program that works between calls is looked at again after this, at the earliest. */
const LOOK_AGAIN_MS = 60_000;

export interface PeerParts {
  name: string;
  config: ServerConfig;
  clock: Clock;
  /** A fresh connection to it. Throws when there can't be one. */
  transport(): Promise<PeerTransport>;
  /** The SDK, loaded when the first server is wanted. */
  client(options: ClientHandlers & { probeMs: number }): Promise<Client>;
  remember(memory: PeerMemory): void;
  /** Its tools were listed: with every connection, and when it says that they changed. */
  listed(manifest: Manifest): Promise<void>;
  memory: PeerMemory;
  /** Whether it works on something between calls, and so isn't idle. */
  isWorking?(): boolean;
  /** It couldn't be reached, or ended without being asked to. */
  failed?(why: string): void;
}

export class McpPeer {
  readonly #parts: PeerParts;
  readonly #health: PeerHealth;
  readonly #link: PeerLink;
  readonly #calls: PeerCalls;
  #memory: PeerMemory;
  #running = 0;
  /** A task has begun that may not be followed yet. */
  #taskUntil = 0;
  #stopIdle: (() => void) | undefined;

  constructor(parts: PeerParts) {
    const { config, clock, name } = parts;
    this.#parts = parts;
    this.#memory = parts.memory;
    this.#health = new PeerHealth(clock, { read: () => this.#memory, keep: (memory) => this.#keep(memory) });
    this.#link = new PeerLink({
      name,
      clock,
      health: this.#health,
      startMs: config.startSeconds * 1000,
      transport: () => parts.transport(),
      client: () => this.#client(),
      prior: {
        get: () => this.#memory.prior,
        set: (prior) => {
          this.#memory = { ...this.#memory, prior };
        },
      },
      list: (client) => this.#list(client),
      failed: (why) => parts.failed?.(why),
    });
    this.#calls = new PeerCalls({
      name,
      config,
      clock,
      use: (work) => this.#useKnown(work),
      tool: (wanted) => this.#memory.manifest?.tools.find((one) => one.name === wanted),
      close: () => this.close(),
      lostLogin: (why) => this.#lostLogin(why),
      foundLogin: () => this.foundLogin(),
      beganTask: () => {
        this.#taskUntil = clock.now() + LOOK_AGAIN_MS;
      },
    });
  }

  state(): PeerState {
    if (!this.#parts.config.enabled) return { kind: "off" };
    if (this.#link.connection) return { kind: "ready", since: this.#link.connection.since };
    return this.#link.isConnecting ? { kind: "connecting" } : this.#health.state();
  }

  /** Why Lares had to end it the last time, if it did and it didn't work since. */
  whyContained(): string | undefined {
    return this.#link.connection ? undefined : this.#health.whyContained();
  }

  /** As they were last listed. Undefined: never. */
  prompts(): readonly McpPrompt[] | undefined {
    return this.#memory.prompts;
  }

  /** Why it isn't there: it couldn't be started the last time, or ended without being asked to. */
  trouble(): ReturnType<PeerHealth["trouble"]> {
    return this.#link.connection ? undefined : this.#health.trouble();
  }

  /** What its last process complained about. */
  complaints(most?: number): string[] {
    return this.#link.complaints(most);
  }

  /** With what those before it did. */
  allComplaints(most?: number): string[] {
    return this.#link.allComplaints(most);
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

  call(request: CallRequest): Promise<CallOutcome> {
    return this.#calls.call(request);
  }

  /** Goes on with a call that asked something. */
  answer(key: string, given: QuestionAnswer, signal: AbortSignal): Promise<CallOutcome> {
    return this.#calls.answer(key, given, signal);
  }

  /** A person logged in, or it takes us again. */
  foundLogin(): void {
    const { lostLogin, ...rest } = this.#memory;
    if (lostLogin !== undefined) this.#keep(rest);
  }

  maySample(definition: string): boolean {
    return this.#memory.samples === definition;
  }

  allowSampling(definition: string): void {
    this.#keep({ ...this.#memory, samples: definition });
  }

  /** Ends it, also while it is being connected; the next call starts it again. */
  async close(): Promise<void> {
    this.#stopIdle?.();
    await this.#link.close();
  }

  #client(): Promise<Client> {
    const { client, config } = this.#parts;
    return client({
      probeMs: config.startSeconds * 1000 * PROBE_SHARE,
      // A list that can't be had now is asked for with the next connection.
      // After the end nothing is listed: that would start it again.
      onToolsChanged: () => {
        if (this.#link.connection || this.#link.isConnecting) void this.list().catch(() => undefined);
      },
      onQuestion: (params) => this.#calls.asked(params),
      ...(config.sampling ? { onSample: (params: unknown) => this.#calls.sampled(params) } : {}),
    });
  }

  async #list(client: Client): Promise<Manifest> {
    const { name, config, listed } = this.#parts;
    const { manifest, prompts } = await listAll(client, name, config.startSeconds * 1000);
    this.#keep({ ...this.#memory, manifest, prompts });
    await listed(manifest);
    return manifest;
  }

  #lostLogin(why: string): LostLogin {
    this.#health.refused(why);
    const known = this.#memory.lostLogin;
    const at = known ?? this.#parts.clock.now();
    if (known === undefined) this.#keep({ ...this.#memory, lostLogin: at });
    return { at, isNew: known === undefined };
  }

  /**
   * A server that was restarted doesn't know our session any more and did nothing of what it was asked: it is asked again, in a new
   * session.
   */
  async #useKnown<T>(work: (connection: PeerConnection) => Promise<T>): Promise<T> {
    try {
      return await this.#use(work);
    } catch (error) {
      const { connection } = this.#link;
      const unsent = findCause(error, NeverSent);
      if (connection && unsent) {
        await this.close();
        this.#link.lost(connection, { why: whyFailed(unsent), isContained: false });
      }
      const hadSession = connection?.transport.sessionId !== undefined;
      if (!hadSession || readStatus(error as Error) !== 404) throw error;
      await this.close();
      return this.#use(work);
    }
  }

  async #use<T>(work: (connection: PeerConnection) => Promise<T>): Promise<T> {
    this.#stopIdle?.();
    this.#running++;
    try {
      const done = await work(await this.#link.connected());
      this.#health.worked();
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

  #keep(memory: PeerMemory): void {
    this.#memory = memory;
    this.#parts.remember(memory);
  }
}
