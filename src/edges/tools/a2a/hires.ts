/**
 * Tasks that agents of this Lares have given to agents of others. The turn doesn't wait: it goes on, and what the peer answers comes as a
 * message to the session that asked, however long it takes and however often Lares is killed meanwhile.
 *
 * HIRE-1: a message is noted before it is sent, and sent once. Where its fate isn't known, the peer is asked for the task; only one that
 *     promises that the same message is the same task gets it again.
 * HIRE-2: the end of a task is reported once: in the result of the call, or as a message.
 * HIRE-3: what a peer says is text from outside (I12), bounded, and believed about the task that was asked for only.
 */
import {
  OutcomeUnknown,
  type Probed,
  type Records,
  type ToolCaller,
  type ToolResult,
  type Tx,
} from "../../../core/contracts/index.ts";
import { AppError, asId, type ReplyRoute, type TurnId } from "../../../core/domain/index.ts";
import { type Clock, type Crash, deadline, type Log, sha256 } from "../../../core/kit/index.ts";
import { PeerNonsense, PeerRefused, PeerStatus } from "./card.ts";
import { Follower } from "./follow.ts";
import type { PeerBook } from "./peers.ts";
import { bounded, reason } from "./said.ts";
import * as store from "./store.ts";
import type { FarMessage, FarSide, FarTask } from "./wire.ts";
import * as words from "./words.ts";

export interface HiredEvent {
  id: string;
  peer: string;
  agent: string;
  session: string;
  route: ReplyRoute;
  authority: store.HireRow["authority"];
  label: string;
  body: string;
}

export interface HireParts {
  records: Records;
  clock: Clock;
  crash: Crash;
  log: Log;
  peers: PeerBook;
  maxHops: () => number;
  /** How many agents asked each other before this session. */
  hops(session: string): Promise<number>;
  /** A message for the session that asked. Once for each key; `also` is written with it. */
  tell(key: string, event: HiredEvent, also: (tx: Tx) => void): Promise<unknown>;
}

export interface PeerQuestion {
  key: string;
  peer: string;
  text: string;
  /** An earlier task that asked something. */
  task?: string | undefined;
  caller: ToolCaller;
}

const MOST_OPEN = 20;
const FIND_PATIENCE_MS = 30_000;
/** How long a person who removes a peer waits for its tasks to be cancelled. */
const GOODBYE_MS = 5000;

export class Hires {
  private readonly parts: HireParts;
  private readonly follower: Follower;

  constructor(parts: HireParts) {
    this.parts = parts;
    this.follower = new Follower(parts);
  }

  /** Takes up what an earlier life left open. Reads one row for each, and connects to nobody yet. */
  async settle(): Promise<void> {
    for (const row of await store.openHires(this.parts.records)) this.follower.follow(row.id);
  }

  stop(): void {
    this.follower.stop();
  }

  async ask(asked: PeerQuestion, signal: AbortSignal): Promise<ToolResult> {
    const { records, crash, peers } = this.parts;
    const { peer, caller } = asked;
    const { far } = await peers.ready(peer, signal);
    const { row, message } = await this.note(asked);
    crash.at("peer.noted", () => asked.text);
    try {
      const said = await far.send(message, signal);
      crash.at("peer.sent", () => asked.text);
      return await this.took(row, said, asked.task);
    } catch (error) {
      if (error instanceof PeerRefused || (error instanceof PeerStatus && error.isRefusal)) {
        await records.write((tx) => store.setHireState(tx, row.id, "dropped"));
        throw this.refusal(peer, error);
      }
      if (signal.aborted) throw error;
      const found = await this.find({ row, far, repeats: false }).catch(() => undefined);
      if (found) return this.took(row, found, asked.task);
      this.parts.log.warn("a peer didn't say whether it got a message", {
        peer,
        session: caller.session,
        why: reason(error),
      });
      throw new OutcomeUnknown(whyUnknown(peer, error));
    }
  }

  private refusal(peer: string, cause: PeerRefused | PeerStatus): AppError {
    if (cause instanceof PeerStatus) return this.parts.peers.turnedAway(peer, cause);
    return new AppError("TOOL_INPUT", { message: words.declined(peer, cause.message), cause });
  }

  /** After a crash: whether a message was sent, and its outcome. */
  async probe({ key, task }: Pick<PeerQuestion, "key" | "task">, signal: AbortSignal): Promise<Probed<ToolResult>> {
    const row = await store.readHire(this.parts.records, toId(key));
    // It is noted before it is sent, so what isn't noted never went out.
    if (!row) return { never: true };
    if (row.text !== null) return { ok: answer(row.peer, row.text) };
    if (row.task !== null) return { ok: { text: words.toldBefore(row.peer, row.id), origin: "own" } };
    try {
      const { far, repeats } = await this.parts.peers.reach(row.peer, signal);
      const found = await this.find({ row, far, repeats, task }, signal);
      return found && { ok: await this.took(row, found, task) };
    } catch {
      return undefined;
    }
  }

  /** The answers that this turn asked for are no longer wanted. */
  async drop(turn: string): Promise<void> {
    const { records, log } = this.parts;
    for (const row of (await store.openHires(records)).filter((one) => one.turn === turn)) {
      await records.write((tx) => store.setHireState(tx, row.id, "dropped"));
      this.follower.leave(row.id);
      // The peer may be away: then it works for nothing, which is its own to end.
      void this.follower
        .cancel(row)
        .catch((error: unknown) => log.debug("a task couldn't be cancelled", { error: reason(error) }));
    }
  }

  /** The owner is about to remove this peer: its open tasks are cancelled, and the sessions that asked learn that nothing will come. */
  async leave(peer: string): Promise<void> {
    const open = (await store.openHires(this.parts.records)).filter((row) => row.peer === peer);
    await Promise.all(open.map((row) => this.follower.cancel(row, GOODBYE_MS).catch(() => {})));
    for (const row of open) {
      this.follower.leave(row.id);
      await this.follower.end(row, "removed", "");
    }
  }

  /** The turns of a session that wait for a peer's answer. */
  async askers(session: string): Promise<TurnId[]> {
    const open = await store.openHires(this.parts.records);
    return [...new Set(open.filter((row) => row.session === session).map((row) => asId<TurnId>(row.turn)))];
  }

  /** Tasks that are open at a peer. */
  async open(peer: string): Promise<number> {
    return (await store.openHires(this.parts.records)).filter((row) => row.peer === peer).length;
  }

  private async note({
    key,
    peer,
    text,
    task,
    caller,
  }: PeerQuestion): Promise<{ row: store.HireRow; message: FarMessage }> {
    const { records, clock, peers, maxHops } = this.parts;
    const { session, agent, turn, route, authority = "stranger" } = caller;
    const hops = (await this.parts.hops(session)) + 1;
    if (hops > maxHops()) throw refused(words.tooFar(maxHops()));
    if ((await this.open(peer)) >= MOST_OPEN) throw refused(words.tooMany(MOST_OPEN));
    const earlier = task === undefined ? undefined : await this.earlier(task, session, peer);
    const context = earlier?.context ?? (await store.lastContext(records, session, peer));
    const row: store.HireRow = {
      id: toId(key),
      peer,
      agent,
      session,
      turn,
      authority,
      message: text,
      state: "sending",
      route: JSON.stringify(route),
      task: null,
      context: context ?? null,
      text: null,
      asked: null,
      at: clock.now(),
      until: clock.now() + peers.get(peer).hours * 3_600_000,
    };
    await records.write((tx) => store.insertHire(tx, row));
    return { row, message: { id: row.id, text, hops, context, task: earlier?.task ?? undefined } };
  }

  private async earlier(task: string, session: string, peer: string): Promise<store.HireRow> {
    const row = await store.readHire(this.parts.records, task);
    if (row?.session === session && row.peer === peer && row.state === "open") return row;
    throw refused(words.notYours(task));
  }

  /** The peer has the message: what it said at once, or that its answer will come. */
  private async took(
    row: store.HireRow,
    said: FarTask | { text: string; context: string },
    task?: string,
  ): Promise<ToolResult> {
    const { records } = this.parts;
    const isOpen = "state" in said && (said.state === "working" || said.state === "asks" || said.state === "login");
    const text = isOpen ? null : bounded(said.text);
    const change = { task: "id" in said ? said.id : null, context: said.context || null, text };
    await records.write((tx) => {
      store.updateHire(tx, row.id, { ...change, state: isOpen ? "open" : "told" });
      // The answer to a question goes on with the same work, which is followed once.
      if (task !== undefined) store.setHireState(tx, task, "told");
    });
    if (task !== undefined) this.follower.leave(task);
    if (text === null) {
      this.follower.follow(row.id);
      return { text: words.sent(row.peer, row.id), origin: "own" };
    }
    const isError = "state" in said && said.state !== "completed";
    return { ...answer(row.peer, text), ...(isError ? { isError: true } : {}) };
  }

  /** The task that a message began. `repeats`: the peer promises that sending it again unchanged finds it. */
  private async find(lost: LostMessage, signal = new AbortController().signal) {
    const { row, far } = lost;
    const patience = deadline(signal, FIND_PATIENCE_MS);
    try {
      if (!lost.repeats) return await far.find(row.id, patience.signal);
      const hops = (await this.parts.hops(row.session)) + 1;
      const earlier = lost.task && (await store.readHire(this.parts.records, lost.task))?.task;
      const again = { id: row.id, text: row.message, hops, context: row.context ?? undefined };
      return await far.send({ ...again, task: earlier || undefined }, patience.signal);
    } finally {
      patience.done();
    }
  }
}

/** One of which nobody knows whether it arrived. */
interface LostMessage {
  row: store.HireRow;
  far: FarSide;
  repeats: boolean;
  /** The earlier task that it answers a question of. */
  task?: string | undefined;
}

/** The message's id at the peer, the same on every attempt of the call. */
function toId(key: string): string {
  return `hire-${sha256(key).slice(0, 12)}`;
}

function answer(peer: string, text: string): ToolResult {
  return { text: words.answered(peer, text), origin: "outside" };
}

function whyUnknown(peer: string, error: unknown): string {
  if (error instanceof PeerStatus) return words.failedThere(peer, error.status);
  return error instanceof PeerNonsense ? words.nonsense(peer) : words.maybeSent(peer);
}

function refused(message: string): AppError {
  return new AppError("TOOL_INPUT", { message, origin: "own" });
}
