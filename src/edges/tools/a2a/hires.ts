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
import { AppError, asId, isOver, type ReplyRoute, type TurnId } from "../../../core/domain/index.ts";
import { type Clock, type Crash, deadline, type Log, sha256, withoutHidden } from "../../../core/kit/index.ts";
import { PeerRefused } from "./card.ts";
import type { PeerBook } from "./peers.ts";
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
const MOST_TEXT = 50_000;
/** Between two looks at a task; after the last of them, always that long. */
const LOOKS_MS = [500, 1000, 2000, 4000, 8000, 15_000, 30_000, 60_000];
const LOOK_PATIENCE_MS = 30_000;
/** A peer that gives nonsense about a task so often in a row has lost it. */
const MOST_NONSENSE = 5;

export class Hires {
  private readonly parts: HireParts;
  private readonly timers = new Map<string, () => void>();
  private stopped = false;

  constructor(parts: HireParts) {
    this.parts = parts;
  }

  /** Takes up what an earlier life left open. Reads one row for each, and connects to nobody yet. */
  async settle(): Promise<void> {
    for (const row of await store.openHires(this.parts.records)) this.plan(row.id, 0, 0);
  }

  stop(): void {
    this.stopped = true;
    for (const cancel of this.timers.values()) cancel();
    this.timers.clear();
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
      if (error instanceof PeerRefused) {
        await records.write((tx) => store.setHireState(tx, row.id, "dropped"));
        throw new AppError("TOOL_INPUT", { message: `${peer}: ${withoutHidden(error.message)}`, cause: error });
      }
      if (signal.aborted) throw error;
      const found = await this.find(row, far, false).catch(() => undefined);
      if (found) return this.took(row, found, asked.task);
      this.parts.log.warn("a peer didn't say whether it got a message", {
        peer,
        session: caller.session,
        why: String(error),
      });
      throw new OutcomeUnknown(words.maybeSent(peer));
    }
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
      const found = await this.find(row, far, repeats, signal);
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
      this.timers.get(row.id)?.();
      // The peer may be away: then it works for nothing, which is its own to end.
      void this.cancel(row).catch((error: unknown) =>
        log.debug("a task couldn't be cancelled", { error: String(error) }),
      );
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
      context: null,
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
    if (task !== undefined) this.timers.get(task)?.();
    if (text === null) {
      this.plan(row.id, 0, 0);
      return { text: words.sent(row.peer, row.id), origin: "own" };
    }
    const isError = "state" in said && said.state !== "completed";
    return { ...answer(row.peer, text), ...(isError ? { isError: true } : {}) };
  }

  /** The task that a message began. `repeats`: the peer promises that sending it again finds it. */
  private async find(row: store.HireRow, far: FarSide, repeats: boolean, signal?: AbortSignal) {
    const patience = deadline(signal ?? new AbortController().signal, LOOK_PATIENCE_MS);
    try {
      if (!repeats) return await far.find(row.id, patience.signal);
      const { records } = this.parts;
      const hops = (await this.parts.hops(row.session)) + 1;
      const context = await store.lastContext(records, row.session, row.peer);
      return await far.send({ id: row.id, text: row.message, hops, context }, patience.signal);
    } finally {
      patience.done();
    }
  }

  private plan(id: string, looks: number, nonsense: number): void {
    if (this.stopped) return;
    this.timers.get(id)?.();
    const cancel = this.parts.clock.after(LOOKS_MS[Math.min(looks, LOOKS_MS.length - 1)]!, () => {
      this.timers.delete(id);
      this.look(id, looks, nonsense).catch((error: unknown) => {
        if (isOver(error)) return;
        this.parts.log.debug("a peer couldn't be asked about a task", { id, error: String(error) });
        this.plan(id, looks + 1, nonsense);
      });
    });
    this.timers.set(id, () => {
      cancel();
      this.timers.delete(id);
    });
  }

  private async look(id: string, looks: number, nonsense: number): Promise<void> {
    const row = await store.readHire(this.parts.records, id);
    if (row?.state !== "open" || row.task === null) return;
    if (this.parts.clock.now() > row.until) return this.end(row, "late", "");
    const patience = deadline(new AbortController().signal, LOOK_PATIENCE_MS);
    let now: FarTask | undefined;
    try {
      const { far } = await this.parts.peers.reach(row.peer, patience.signal);
      now = await far.get(row.task, patience.signal);
    } finally {
      patience.done();
    }
    // Somebody else's task, or none: not what was asked about.
    if (now?.id !== row.task) {
      if (nonsense + 1 >= MOST_NONSENSE) return this.end(row, "lost", "");
      return this.plan(id, looks + 1, nonsense + 1);
    }
    const { state, text } = now;
    if (state === "asks" || state === "login") await this.tellQuestion(row, state, bounded(text));
    else if (state !== "working") return this.end(row, state, bounded(text));
    this.plan(id, looks + 1, 0);
  }

  private async tellQuestion(row: store.HireRow, state: "asks" | "login", text: string): Promise<void> {
    const print = sha256(JSON.stringify([state, text])).slice(0, 16);
    if (row.asked === print) return;
    const label = state === "asks" ? words.askLabel(row.peer, row.id) : words.needsLogin(row.peer);
    await this.tell(row, `${row.id}-${print}`, label, text, (tx) => store.noteAsked(tx, row.id, print));
  }

  private async end(row: store.HireRow, state: words.PeerEnd, text: string): Promise<void> {
    this.parts.crash.at("peer.heard", () => row.message);
    const label = words.endLabel(row.peer, row.message, state);
    await this.tell(row, row.id, label, text, (tx) => store.setHireState(tx, row.id, "told"));
    if (state === "late") await this.cancel(row).catch(() => {});
  }

  private async tell(
    row: store.HireRow,
    key: string,
    label: string,
    body: string,
    also: (tx: Tx) => void,
  ): Promise<void> {
    const { id, peer, agent, session, authority } = row;
    const route = JSON.parse(row.route) as ReplyRoute;
    await this.parts.tell(key, { id, peer, agent, session, route, authority, label, body }, also);
  }

  private async cancel(row: store.HireRow): Promise<void> {
    if (row.task === null) return;
    const patience = deadline(new AbortController().signal, LOOK_PATIENCE_MS);
    try {
      const { far } = await this.parts.peers.reach(row.peer, patience.signal);
      await far.cancel(row.task, patience.signal);
    } finally {
      patience.done();
    }
  }
}

/** The message's id at the peer, the same on every attempt of the call. */
function toId(key: string): string {
  return `hire-${sha256(key).slice(0, 12)}`;
}

function bounded(text: string): string {
  const clean = withoutHidden(text);
  return clean.length > MOST_TEXT ? `${clean.slice(0, MOST_TEXT)}${words.CUT}` : clean;
}

function answer(peer: string, text: string): ToolResult {
  return { text: `${words.answered(peer)}\n${text}`, origin: "outside" };
}

function refused(message: string): AppError {
  return new AppError("TOOL_INPUT", { message, origin: "own" });
}
