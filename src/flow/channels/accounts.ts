/**
 * The accounts: each one runs independently, is restarted after a wait when it fails, is watched for silence, and reports three
 * states separately: connected, receiving, sending. One account's failure affects no other.
 */
import { createHash } from "node:crypto";
import type {
  AccountPolicy,
  Capabilities,
  Channel,
  ChannelAnswer,
  ChannelHost,
  ChannelRequest,
  Peer,
  PlatformEvent,
  Records,
  Speaker,
} from "../../core/contracts/index.ts";
import { type AccountKey, AppError, type Json, toAccountName, workKeys } from "../../core/domain/index.ts";
import {
  type Bus,
  backoffMs,
  type Clock,
  type Crash,
  following,
  type Guard,
  type Log,
  pause,
  STOPPED_LARES,
  truthy,
  untilAborted,
} from "../../core/kit/index.ts";
import { trouble } from "./health.ts";
import type { Intake } from "./intake.ts";
import { CURSOR, readKept, writeKept } from "./store.ts";

/** One account as the file has it. */
export interface AccountSpec extends AccountKey {
  policy: AccountPolicy;
  can: Capabilities;
  enabled: boolean;
  /** Changes when anything in the file changes. */
  fingerprint: string;
  /** Loads the adapter (and its library) and builds the channel. */
  open(): Promise<Channel>;
}

export interface AccountsParts {
  records: Records;
  clock: Clock;
  crash: Crash;
  guard: Guard;
  bus: Bus;
  log: Log;
  intake: Intake;
  /** The platform reports that it couldn't deliver a message it had accepted. */
  undelivered: (at: AccountKey, key: string, why: string) => Promise<void>;
}

export type AccountState = "off" | "starting" | "connected" | "down";

export interface AccountStatus extends AccountKey {
  /** `ok`: connected, receiving and sending. */
  state: "off" | "starting" | "ok" | "down";
  connected: boolean;
  /** Whether the platform was heard from lately; undefined for a platform without regular signals. */
  hearing: boolean | undefined;
  /** Whether the last outgoing message succeeded. */
  sending: boolean | undefined;
  detail?: string;
  as?: string;
  restarts: number;
  /** How many events since the start the adapter couldn't parse. */
  unreadable: number;
  /** The latest events skipped because they stopped Lares twice. */
  passedOver?: string[];
  heardAt?: number;
}

const LOOK_EVERY_MS = 10_000;
const RETRY = { firstMs: 1000, mostMs: 300_000, jitter: 0.5 };
/** A connection that lasted this long counts as good: the next failure starts with a short wait again. */
const GOOD_MS = 60_000;
/** Kinds of unreadable things that are worth a line each; a platform has about twenty. */
const MOST_STRANGE = 50;
/** Names shown of what stopped Lares; the log has them all. */
const MOST_NAMED = 5;

interface Running {
  spec: AccountSpec;
  channel: Channel | undefined;
  opening: Promise<Channel> | undefined;
  state: AccountState;
  detail: string | undefined;
  as: string | undefined;
  restarts: number;
  unreadable: number;
  passedOver: string[];
  /** Kinds already logged; limited, in case a platform keeps inventing new ones. */
  strange: Set<string>;
  startedAt: number;
  aliveAt: number | undefined;
  heardAt: number | undefined;
  behind: number;
  stuckSince: number | undefined;
  sending: boolean | undefined;
  sendError: string | undefined;
  life: AbortController;
  connection: AbortController | undefined;
  done: Promise<void>;
}

export class Accounts {
  private readonly parts: AccountsParts;
  private readonly running = new Map<string, Running>();
  private cancelLook: (() => void) | undefined;
  private stopped = false;

  constructor(parts: AccountsParts) {
    this.parts = parts;
  }

  /**
   * Brings the running accounts in line with the settings: starts, stops, and restarts changed ones. Doesn't wait for any
   * platform.
   */
  async apply(wanted: readonly AccountSpec[]): Promise<void> {
    const specs = new Map(wanted.map((spec) => [toAccountName(spec), spec]));
    const going = [...this.running].filter(([key, one]) => specs.get(key)?.fingerprint !== one.spec.fingerprint);
    await Promise.all(going.map(([key]) => this.end(key)));
    for (const [key, spec] of specs) if (!this.running.has(key) && !this.stopped) this.begin(key, spec);
    if (!this.cancelLook && this.running.size) this.look();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.cancelLook?.();
    await Promise.all([...this.running.keys()].map((key) => this.end(key)));
  }

  /** The account a route refers to: what it can do, and how to load its channel. */
  get(channel: string, account: string): { can: Capabilities; open(): Promise<Channel> } | undefined {
    const one = this.running.get(toAccountName({ channel, account }));
    return one && { can: one.spec.can, open: () => this.opened(one) };
  }

  get size(): number {
    return this.running.size;
  }

  policy(at: AccountKey): AccountPolicy | undefined {
    return this.running.get(toAccountName(at))?.spec.policy;
  }

  list(): AccountStatus[] {
    return [...this.running.values()].map((one) => this.toStatus(one));
  }

  /** By `channel/account`. Throws CHANNEL_UNKNOWN, with the name that may have been meant. */
  find(name: string): AccountStatus {
    const known = this.list();
    const found = known.find((one) => toAccountName(one) === name);
    if (found) return found;
    const fitting = known.filter((one) => one.account === name || one.channel === name);
    const names = known.map(toAccountName).join(", ") || "none. Add one: lares channels add";
    throw new AppError("CHANNEL_UNKNOWN", {
      message: `There is no channel "${name}".`,
      hint: fitting.length === 1 ? `Did you mean "${toAccountName(fitting[0]!)}"?` : `Known: ${names}.`,
    });
  }

  /** Records whether an outgoing message succeeded. */
  sent(at: AccountKey, ok: boolean, detail?: string): void {
    const one = this.running.get(toAccountName(at));
    if (!one || (one.sending === ok && one.sendError === detail)) return;
    one.sending = ok;
    one.sendError = ok ? undefined : detail;
    if (!ok) this.parts.log.warn("a message could not be sent", { ...at, detail: detail ?? "" });
    this.tell(one);
  }

  /** Reads the body only after the account is found and its adapter has accepted the headers. */
  async receive(
    at: AccountKey,
    head: Omit<ChannelRequest, "body">,
    readBody: () => Promise<Buffer>,
  ): Promise<ChannelAnswer> {
    const one = this.running.get(toAccountName(at));
    if (!one?.spec.enabled) throw unknown(at);
    const channel = await this.opened(one);
    if (!channel.receive) throw unknown(at);
    channel.knock?.(head);
    return channel.receive({ ...head, body: await readBody() }, this.door(one));
  }

  /** Connects an external program that speaks for an account. */
  async speak(at: AccountKey, token: string, peer: Peer): Promise<Speaker> {
    const one = this.running.get(toAccountName(at));
    if (!one?.spec.enabled) throw unknown(at);
    const channel = await this.opened(one);
    if (!channel.speak) throw unknown(at);
    return channel.speak(token, peer, this.door(one));
  }

  private begin(key: string, spec: AccountSpec): void {
    const one: Running = {
      spec,
      channel: undefined,
      opening: undefined,
      state: spec.enabled ? "starting" : "off",
      detail: undefined,
      as: undefined,
      restarts: 0,
      unreadable: 0,
      passedOver: [],
      strange: new Set(),
      startedAt: this.parts.clock.now(),
      aliveAt: undefined,
      heardAt: undefined,
      behind: 0,
      stuckSince: undefined,
      sending: undefined,
      sendError: undefined,
      life: new AbortController(),
      connection: undefined,
      done: Promise.resolve(),
    };
    this.running.set(key, one);
    if (spec.enabled) one.done = this.live(one);
  }

  private async end(key: string): Promise<void> {
    const one = this.running.get(key);
    if (!one) return;
    this.running.delete(key);
    one.life.abort();
    one.connection?.abort();
    // A library that does not let go must not hold up the others.
    await Promise.race([one.done, new Promise<void>((resolve) => setTimeout(resolve, 3000).unref())]);
  }

  private async live(one: Running): Promise<void> {
    const { clock, log } = this.parts;
    const { channel: name, account } = one.spec;
    for (let failures = 0; !one.life.signal.aborted; ) {
      one.startedAt = clock.now();
      one.aliveAt = undefined;
      one.behind = 0;
      one.stuckSince = undefined;
      const connection = new AbortController();
      one.connection = connection;
      const both = following(one.life.signal, connection.signal);
      try {
        const channel = await this.opened(one);
        if (!channel.run) {
          // Nothing to connect to: requests come in, messages go out.
          this.become(one, "connected");
          await untilAborted(one.life.signal);
          return;
        }
        await channel.run(this.door(one), both.signal);
        if (one.life.signal.aborted) return;
        throw connection.signal.aborted ? connection.signal.reason : new Error("The connection ended.");
      } catch (error) {
        if (one.life.signal.aborted) return;
        const detail = error instanceof Error ? error.message : String(error);
        if (clock.now() - one.startedAt > GOOD_MS && one.aliveAt !== undefined) failures = 0;
        failures++;
        one.restarts++;
        log.warn("a channel is down", { channel: name, account, detail, failures });
        this.become(one, "down", detail);
        await pause(this.parts.clock, backoffMs(RETRY, failures), one.life.signal);
        if (!one.life.signal.aborted) this.become(one, "starting", detail);
      } finally {
        // Anything the adapter left running ends with its connection, and nothing of it stays with the account.
        connection.abort();
      }
    }
  }

  /** Loads the channel once, on first use. A failed load is tried again on the next use. */
  private async opened(one: Running): Promise<Channel> {
    one.opening ??= one.spec.open();
    try {
      one.channel = await one.opening;
      return one.channel;
    } catch (error) {
      one.opening = undefined;
      throw error;
    }
  }

  private door(one: Running): ChannelHost {
    const { records, clock, crash, guard, intake } = this.parts;
    const at = { channel: one.spec.channel, account: one.spec.account };
    const alive = (behind = 0) => {
      const now = clock.now();
      one.aliveAt = now;
      if (behind > 0) one.stuckSince ??= now;
      else one.stuckSince = undefined;
      one.behind = behind;
      if (one.state !== "connected") this.become(one, "connected");
    };
    const unreadable = (kind: string, id: string) => {
      one.unreadable++;
      if (one.strange.has(kind) || one.strange.size >= MOST_STRANGE) return;
      one.strange.add(kind);
      this.parts.log.warn("a platform's message couldn't be read and was skipped", { ...at, kind, id });
    };
    const passOver = ({ kind, id }: { kind: string; id: string }) => {
      one.unreadable++;
      one.passedOver = [...one.passedOver, `${kind} ${id}`].slice(-MOST_NAMED);
      this.parts.log.warn("a platform's message was skipped", { ...at, kind, id, why: STOPPED_LARES });
    };
    return {
      read: (given, read) => {
        const id = given.id === undefined || given.id === "" ? makeDigest(given.value) : String(given.id);
        const key = workKeys.raw(at, given.kind, id);
        if (guard.suspicion(key) === "convicted") {
          passOver({ kind: given.kind, id });
          return undefined;
        }
        // It doesn't wait for its turn as other suspects do: it never waits once it runs, so it is always the last that began (WATCHDOG-1).
        const running = guard.begin(key);
        try {
          crash.at("channel.reading", () => JSON.stringify(given.value) ?? "");
          return read();
        } finally {
          running.end(true);
        }
      },
      hear: async (events: readonly PlatformEvent[], cursor?: Json) => {
        if (one.life.signal.aborted)
          throw new AppError("NOT_READY", { message: "The account is being stopped.", retry: "later" });
        const heard = await intake.hear({ ...at, passOver }, one.spec.policy, events, cursor);
        if (events.length) one.heardAt = clock.now();
        one.stuckSince = undefined;
        return heard;
      },
      cursor: () => readKept(records, at, CURSOR),
      keep: (name, value) => records.write((tx) => writeKept(tx, at, name, value)),
      kept: (name) => readKept(records, at, name),
      alive,
      known: (as) => {
        one.as = as;
      },
      undelivered: (key, why) => this.parts.undelivered(at, key, why),
      unreadable,
    };
  }

  /** Checks every connection and restarts silent ones. */
  private look(): void {
    this.cancelLook = this.parts.clock.after(LOOK_EVERY_MS, () => {
      const now = this.parts.clock.now();
      for (const one of this.running.values()) {
        if (!one.channel || one.state === "down" || one.state === "off") continue;
        const why = trouble({ ...one, silenceMs: one.channel.run ? one.spec.can.silenceMs : undefined }, now);
        if (why) one.connection?.abort(new Error(why));
      }
      if (!this.stopped) this.look();
    });
  }

  private become(one: Running, state: AccountState, detail?: string): void {
    if (one.state === state && one.detail === detail) return;
    one.state = state;
    one.detail = detail;
    this.tell(one);
  }

  private tell(one: Running): void {
    const { channel, account, state, detail } = this.toStatus(one);
    const name = toAccountName({ channel, account });
    this.parts.bus.emit({ event: "channel.status", channel: name, state, ...truthy({ detail }) });
  }

  private toStatus(one: Running): AccountStatus {
    const { silenceMs } = one.spec.can;
    const now = this.parts.clock.now();
    const hearing = silenceMs === undefined ? undefined : one.aliveAt !== undefined && now - one.aliveAt <= silenceMs;
    const connected = one.state === "connected";
    const well = connected && hearing !== false && one.sending !== false;
    const whileConnected = well ? "ok" : "down";
    const detail = one.detail ?? one.sendError;
    return {
      channel: one.spec.channel,
      account: one.spec.account,
      state: one.state === "connected" ? whileConnected : one.state,
      connected,
      hearing,
      sending: one.sending,
      restarts: one.restarts,
      unreadable: one.unreadable,
      ...(one.passedOver.length ? { passedOver: [...one.passedOver] } : {}),
      ...truthy({ detail, as: one.as, heardAt: one.heardAt }),
    };
  }
}

function unknown(at: AccountKey): AppError {
  return new AppError("CHANNEL_UNKNOWN", { message: `There is no ${at.channel} account "${at.account}".` });
}

/** Identifies an event without an id by its content. */
function makeDigest(value: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify(value) ?? "")
    .digest("hex")
    .slice(0, 16);
}
