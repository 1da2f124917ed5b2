/**
 * Which turn runs next. Pure bookkeeping in memory; the truth is the journal, from which this is rebuilt at start.
 *
 * EMBEDDED-1: a session runs at most one turn.
 * EMBEDDED-2: inside a session the better lane class goes first, then the order of acknowledgement.
 * EMBEDDED-3: each class has its own places, so background work never takes one from a person.
 * EMBEDDED-4: a turn that parked and holds its session keeps everybody else out until it ends.
 * EMBEDDED-5: a barred turn keeps its place in its session but isn't started; it takes nobody's place elsewhere.
 */
import type { LaneClass, SessionKey, TurnId } from "../../../core/domain/index.ts";

export interface WaitingTurn {
  turn: TurnId;
  session: SessionKey;
  lane: LaneClass;
  order: number;
}

export type LanePlaces = Record<LaneClass, number>;

const CLASSES: readonly LaneClass[] = ["interactive", "scheduled", "background"];
const RANK: Record<LaneClass, number> = { interactive: 0, scheduled: 1, background: 2 };

/** One session's order of work. It exists only while something runs, waits or holds it. */
interface Lane {
  running?: WaitingTurn;
  heldBy?: TurnId;
  queue: WaitingTurn[];
}

export class Lanes {
  private readonly lanes = new Map<SessionKey, Lane>();
  /** Sessions whose first turn could start now, by class. Sets keep their order, so sessions take turns. */
  private readonly ready: Record<LaneClass, Set<SessionKey>> = {
    interactive: new Set(),
    scheduled: new Set(),
    background: new Set(),
  };
  /** Turns that may have stopped Lares before (EMBEDDED-5). */
  private readonly barred = new Set<TurnId>();
  private readonly busy: LanePlaces = { interactive: 0, scheduled: 0, background: 0 };
  private readonly places: LanePlaces;
  private readonly begin: (next: WaitingTurn) => void;
  private open = false;

  constructor(places: LanePlaces, begin: (next: WaitingTurn) => void) {
    this.places = places;
    this.begin = begin;
  }

  /** Starts handing out turns; before it, `add` only queues. */
  go(): void {
    this.open = true;
    this.pump();
  }

  /** Hands out no more turns. */
  halt(): void {
    this.open = false;
  }

  add(item: WaitingTurn): void {
    const lane = this.lane(item.session);
    // From the end: nearly every turn is the newest of its class, so this is one comparison.
    let at = lane.queue.length;
    while (at > 0 && before(item, lane.queue[at - 1]!)) at--;
    lane.queue.splice(at, 0, item);
    this.refresh(item.session, lane);
    this.pump();
  }

  /** The running turn of this session let go. `holds`: it parked and keeps the session. */
  done(session: SessionKey, holds: boolean): void {
    const lane = this.lanes.get(session);
    const item = lane?.running;
    if (!lane || !item) return;
    lane.running = undefined;
    lane.heldBy = holds ? item.turn : undefined;
    this.busy[item.lane]--;
    this.refresh(session, lane);
    this.pump();
  }

  /** At start: this parked turn keeps its session. */
  hold(session: SessionKey, turn: TurnId): void {
    const lane = this.lane(session);
    lane.heldBy = turn;
    this.refresh(session, lane);
  }

  /** This turn waits until `unbar`, and its session with it. */
  bar(turn: TurnId): void {
    this.barred.add(turn);
  }

  unbar(session: SessionKey, turn: TurnId): void {
    this.barred.delete(turn);
    const lane = this.lanes.get(session);
    if (!lane) return;
    this.refresh(session, lane);
    this.pump();
  }

  running(session: SessionKey): TurnId | undefined {
    return this.lanes.get(session)?.running?.turn;
  }

  active(): number {
    return CLASSES.reduce((sum, c) => sum + this.busy[c], 0);
  }

  private lane(session: SessionKey): Lane {
    let lane = this.lanes.get(session);
    if (!lane) {
      lane = { queue: [] };
      this.lanes.set(session, lane);
    }
    return lane;
  }

  // Puts the session where it belongs after any change to its lane. Idempotent, so callers don't need to know what changed.
  private refresh(session: SessionKey, lane: Lane): void {
    for (const c of CLASSES) this.ready[c].delete(session);
    if (lane.running) return;
    const head = this.head(lane);
    if (head && !this.barred.has(head.turn)) this.ready[head.lane].add(session);
    // Forgotten when empty. Otherwise every session ever used would stay in memory.
    else if (!lane.queue.length && !lane.heldBy) this.lanes.delete(session);
  }

  // The holder goes first no matter what is queued, or the session would wait for itself.
  private head(lane: Lane): WaitingTurn | undefined {
    return lane.heldBy ? lane.queue.find((w) => w.turn === lane.heldBy) : lane.queue[0];
  }

  private pump(): void {
    if (!this.open) return;
    // Classes don't compete for places (EMBEDDED-3), so their order here doesn't matter.
    for (const c of CLASSES) {
      while (this.busy[c] < this.places[c]) {
        const next = this.ready[c].values().next();
        if (next.done) break;
        this.start(next.value, c);
      }
    }
  }

  private start(session: SessionKey, c: LaneClass): void {
    this.ready[c].delete(session);
    const lane = this.lanes.get(session)!;
    const item = this.head(lane)!;
    lane.queue.splice(lane.queue.indexOf(item), 1);
    lane.running = item;
    this.busy[c]++;
    this.begin(item);
  }
}

function before(a: WaitingTurn, b: WaitingTurn): boolean {
  return RANK[a.lane] !== RANK[b.lane] ? RANK[a.lane] < RANK[b.lane] : a.order < b.order;
}
