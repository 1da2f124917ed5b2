/**
 * The one connection to a server, which all conversations share: made when it is wanted, with what is known of the server's era, and
 * ended so that nothing of it is left.
 *
 * MCP-9: which era of the protocol a server speaks is found out once and remembered until it stops being true.
 */
import type { Client, PriorDiscovery, Transport } from "@modelcontextprotocol/client";
import { AppError, type JsonObject, type QuestionAnswer } from "../../../../core/domain/index.ts";
import { type Clock, defined } from "../../../../core/kit/index.ts";
import { NeverSent, whyFailed } from "../../web/failure.ts";
import { findCause, NeedsLogin, NotReached } from "./errors.ts";
import { pastSdk } from "./past-sdk.ts";
import { MOST_LINES, TextRing } from "./ring.ts";
import type { PeerHealth } from "./state.ts";

/** Between what two processes of a server wrote. */
const STARTED_AGAIN = "[Lares] started again";

export type PeerTransport = Transport & {
  complaints?: { lines(most?: number): string[] };
  /** How it ended, if nobody closed it. */
  ending?(): PeerEnding | undefined;
  /** What the sandbox doesn't show of it, and the way out. */
  hides?: string | undefined;
};

/** `isContained`: Lares ended it, because of what it did. */
interface PeerEnding {
  why: string;
  isContained: boolean;
}

export interface ClientHandlers {
  onToolsChanged(): void;
  onQuestion(params: unknown): Promise<QuestionAnswer>;
  /** Absent: it may not ask for text from a model, and learns that. */
  onSample?: (params: unknown) => Promise<JsonObject>;
}

/** One connection serves all conversations: a server is a program with its own state, and people expect one of it. */
export interface PeerConnection {
  client: Client;
  transport: PeerTransport;
  since: number;
  /** Why it isn't connected any more. */
  ended?: string;
}

export interface LinkParts {
  name: string;
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
  #connection: PeerConnection | undefined;
  #connecting: Promise<PeerConnection> | undefined;
  /** The connection that is being made. */
  #opening: { transport?: PeerTransport; isGivenUp?: true } | undefined;
  /** Of the last process, also when it has ended. */
  #complaints: PeerTransport["complaints"];
  /** Of those before. */
  readonly #earlier = new TextRing();
  #hides: PeerTransport["hides"];

  constructor(parts: LinkParts) {
    this.#parts = parts;
  }

  get connection(): PeerConnection | undefined {
    return this.#connection;
  }

  get isConnecting(): boolean {
    return this.#connecting !== undefined;
  }

  /** What the last process complained about. */
  complaints(most?: number): string[] {
    return this.#complaints?.lines(most) ?? [];
  }

  /** The same, after what those before it complained about: why it had to be started again is there. */
  allComplaints(most = MOST_LINES): string[] {
    const earlier = this.#earlier.lines(most);
    const again = earlier.length > 0 ? [STARTED_AGAIN] : [];
    return [...earlier, ...again, ...this.complaints(most)].slice(-most);
  }

  #follow({ complaints, hides }: PeerTransport): void {
    const [before, words] = [this.#earlier.lines(1), this.complaints()];
    if (words.length > 0) {
      const lines = before.length > 0 ? [STARTED_AGAIN, ...words] : words;
      this.#earlier.add(Buffer.from(`${lines.join("\n")}\n`));
    }
    this.#complaints = complaints;
    this.#hides = hides;
  }

  connected(): Promise<PeerConnection> {
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
    if (connection) connection.ended = "Lares ended it";
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
  async #connect(): Promise<PeerConnection> {
    const prior = this.#parts.prior.get();
    const { clock, startMs } = this.#parts;
    const until = clock.now() + startMs;
    const tries: (PriorDiscovery | undefined)[] = [...(prior ? [prior] : []), undefined, { kind: "legacy" }];
    let failure: unknown;
    for (const era of tries) {
      try {
        return await this.#connectAs(era, until - clock.now());
      } catch (error) {
        if (this.#isGivenUp()) throw new NotReached("it was ended while it was starting");
        // The first failure is the one that means something; the later tries are guesses. That it had no time left means more than how
        // a try was given up, and less than that it ended by itself.
        if (!(failure instanceof Ended) && error instanceof TooLate) failure = error;
        failure ??= error;
        // It can't even be started, wants a login or has had its time: another era changes nothing.
        if (error instanceof AppError || error instanceof TooLate || findCause(error, NeedsLogin)) break;
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
    const isContained = failure instanceof Ended && failure.isContained;
    const said = isContained ? failure.message : this.#withComplaint(explained(failure));
    const why = this.#hides === undefined || isContained ? said : `${said}. ${this.#hides}`;
    health.failed({ why, isContained, isOurs: failure instanceof AppError });
    this.#parts.failed(why);
    return new NotReached(why);
  }

  async #connectAs(era: PriorDiscovery | undefined, timeout: number): Promise<PeerConnection> {
    const { clock, health, prior } = this.#parts;
    const client = await this.#parts.client();
    const transport = pastSdk(await this.#parts.transport());
    this.#follow(transport);
    // Listing included.
    let isLate = false;
    const stop = clock.after(timeout, () => {
      isLate = true;
      void transport.close();
    });
    try {
      if (this.#isGivenUp()) throw new NotReached("it was ended before it was started");
      this.#opening = { transport };
      // Ours is the one limit that says what it was: the SDK's comes after it.
      await client.connect(transport, { timeout: timeout * 2, ...defined({ prior: era }) });
      const discover = client.getDiscoverResult();
      prior.set(discover ? { kind: "modern", discover } : { kind: "legacy" });
      await this.#parts.list(client);
      if (this.#isGivenUp()) throw new NotReached("it was ended while it was starting");
    } catch (error) {
      const ending = isLate ? undefined : transport.ending?.();
      await transport.close();
      if (isLate) throw this.#tooLate(transport);
      throw ending ? new Ended(ending) : error;
    } finally {
      stop();
    }
    health.connected();
    return this.#hold(client, transport);
  }

  #hold(client: Client, transport: PeerTransport): PeerConnection {
    const connection: PeerConnection = { client, transport, since: this.#parts.clock.now() };
    this.#connection = connection;
    client.onclose = () => {
      if (this.#connection !== connection) return;
      this.#connection = undefined;
      this.lost(connection, transport.ending?.() ?? { why: "the connection was closed", isContained: false });
    };
    return connection;
  }

  /** It is gone without being asked to end. */
  lost(connection: PeerConnection, { why, isContained }: PeerEnding): void {
    const full = isContained ? why : this.#withComplaint(why);
    connection.ended = full;
    this.#parts.health.ended({ why: full, isContained });
    this.#parts.failed(full);
  }

  #tooLate({ ending }: PeerTransport): TooLate {
    const { name, startMs } = this.#parts;
    // Only a program can be ended.
    const end = ending ? ", so Lares ended it" : "";
    return new TooLate(
      `it wasn't ready within ${startMs / 1000} s${end}; it gets more time with mcp.servers.${name}.startSeconds`,
    );
  }

  #isGivenUp(): boolean {
    return this.#opening?.isGivenUp === true;
  }

  #withComplaint(what: string): string {
    const said = this.complaints();
    // A program that dies says why in one line and then where, in many.
    const last = said.findLast((line) => line.toLowerCase().includes("error") && !isPlaceInCode(line)) ?? said.at(-1);
    return last === undefined ? what : `${last} (${what})`;
  }
}

/** It had all the time it gets. */
class TooLate extends Error {}

/** It ended while it was being connected. */
class Ended extends Error {
  readonly isContained: boolean;

  constructor({ why, isContained }: PeerEnding) {
    super(why);
    this.isContained = isContained;
  }
}

/** An address that can't be reached is said without the words of the fetcher. */
function explained(failure: Error): string {
  return findCause(failure, NeverSent) ? whyFailed(failure) : failure.message;
}

/** A line of a stack trace, as Node prints it. */
function isPlaceInCode(line: string): boolean {
  const start = line.trimStart();
  return start.startsWith("at ") || start.startsWith("code:");
}
