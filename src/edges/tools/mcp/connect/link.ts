/**
 * The one connection to a server, which all conversations share: made when it is wanted, with what is known of the server's era, and
 * ended so that nothing of it is left.
 *
 * MCP-9: which era of the protocol a server speaks is found out once and remembered until it stops being true.
 */
import type { Client, PriorDiscovery, Transport } from "@modelcontextprotocol/client";
import { AppError, type JsonObject, type QuestionAnswer } from "../../../../core/domain/index.ts";
import { type Clock, defined } from "../../../../core/kit/index.ts";
import { findCause, NeedsLogin, NotReached } from "./errors.ts";
import { pastSdk } from "./past-sdk.ts";
import type { PeerHealth } from "./state.ts";

export type PeerTransport = Transport & {
  complaints?: { lines(most?: number): string[] };
  endedFor?: string | undefined;
};

export interface ClientHandlers {
  onToolsChanged(): void;
  onQuestion(params: unknown): Promise<QuestionAnswer>;
  /** Absent: it may not ask for text from a model, and learns that. */
  onSample?: (params: unknown) => Promise<JsonObject>;
}

/** One connection serves all conversations: a server is a program with its own state, and people expect one of it. */
export interface Connection {
  client: Client;
  transport: PeerTransport;
  since: number;
}

export interface LinkParts {
  clock: Clock;
  health: PeerHealth;
  /** How long connecting may take. */
  startMs: number;
  /** A fresh connection to it. Throws when there can't be one. */
  transport(): Promise<PeerTransport>;
  client(): Promise<Client>;
  prior: { get(): PriorDiscovery | undefined; set(prior: PriorDiscovery): void };
  /** With every connection: what answers now may be another version than the one whose tools were accepted. */
  list(client: Client): Promise<unknown>;
  /** It couldn't be reached, or ended without being asked to. */
  failed(why: string): void;
}

export class PeerLink {
  readonly #parts: LinkParts;
  #connection: Connection | undefined;
  #connecting: Promise<Connection> | undefined;
  /** The connection that is being made. */
  #opening: { transport?: PeerTransport; isGivenUp?: true } | undefined;
  /** Of the last process, also when it has ended. */
  #complaints: PeerTransport["complaints"];

  constructor(parts: LinkParts) {
    this.#parts = parts;
  }

  get connection(): Connection | undefined {
    return this.#connection;
  }

  get isConnecting(): boolean {
    return this.#connecting !== undefined;
  }

  /** What it complained about last. */
  complaints(most?: number): string[] {
    return this.#complaints?.lines(most) ?? [];
  }

  connected(): Promise<Connection> {
    if (this.#connection) return Promise.resolve(this.#connection);
    const why = this.#parts.health.whyNotNow();
    if (why !== undefined) throw new NotReached(why);
    // Many calls at once want it: one of them connects.
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
      this.#opening = undefined;
    });
    return this.#connecting;
  }

  /** Ends it, also while it is being connected; the next call starts it again. */
  async close(): Promise<void> {
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

  /**
   * With what is known of the server's era; where that is nothing, or stopped being true, by asking. A server of the older era may
   * answer the question by ending or not at all, so the last try does not ask.
   */
  async #connect(): Promise<Connection> {
    const prior = this.#parts.prior.get();
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
    throw this.#unconnected(failure as Error);
  }

  #unconnected(failure: Error): NotReached {
    const { health } = this.#parts;
    const login = findCause(failure, NeedsLogin);
    if (login) {
      health.refused(login.message);
      return new NotReached(login.message, { cause: login });
    }
    const why = this.#withComplaint(failure.message);
    health.failed(why);
    this.#parts.failed(why);
    return new NotReached(why);
  }

  async #connectAs(era: PriorDiscovery | undefined): Promise<Connection> {
    const { clock, health, startMs, prior } = this.#parts;
    const client = await this.#parts.client();
    const transport = pastSdk(await this.#parts.transport());
    this.#complaints = transport.complaints;
    try {
      if (this.#isGivenUp()) throw new NotReached("it was ended before it was started");
      this.#opening = { transport };
      await client.connect(transport, { timeout: startMs, ...defined({ prior: era }) });
      const discover = client.getDiscoverResult();
      prior.set(discover ? { kind: "modern", discover } : { kind: "legacy" });
      await this.#parts.list(client);
      if (this.#isGivenUp()) throw new NotReached("it was ended while it was starting");
    } catch (error) {
      await transport.close();
      throw error;
    }
    health.connected();
    const connection = { client, transport, since: clock.now() };
    this.#connection = connection;
    client.onclose = () => {
      if (this.#connection !== connection) return;
      this.#connection = undefined;
      this.#parts.failed(this.#whyEnded(transport));
    };
    return connection;
  }

  #isGivenUp(): boolean {
    return this.#opening?.isGivenUp === true;
  }

  #whyEnded({ endedFor }: PeerTransport): string {
    return endedFor === undefined ? this.#withComplaint("it ended by itself") : `${endedFor}, so Lares ended it`;
  }

  #withComplaint(what: string): string {
    const said = this.complaints();
    // A program that dies says why in one line and then where, in many.
    const last = said.findLast((line) => line.toLowerCase().includes("error") && !isPlaceInCode(line)) ?? said.at(-1);
    return last === undefined ? what : `${last} (${what})`;
  }
}

/** A line of a stack trace, as Node prints it. */
function isPlaceInCode(line: string): boolean {
  const start = line.trimStart();
  return start.startsWith("at ") || start.startsWith("code:");
}
