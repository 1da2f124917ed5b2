/**
 * The embedded engine: durable execution in this process, on the home's SQLite file. See core/contracts/engine.ts for what
 * it promises (ENGINE-1 to ENGINE-6), lanes.ts for order, segment.ts for replay.
 */
import {
  type Accepted,
  CANCEL,
  type Ctx,
  type Engine,
  type EngineApp,
  type EngineEvent,
  type JournalEntry,
  type Outcome,
  type SegmentInput,
  Stopped,
  type Tx,
  type Wake,
} from "../../../core/contracts/index.ts";
import {
  AppError,
  acceptIds,
  asId,
  type Json,
  type LaneClass,
  type ScheduleId,
  type SessionKey,
  type TurnId,
  workKeys,
} from "../../../core/domain/index.ts";
import {
  bootId,
  type Clock,
  type Crash,
  defined,
  following,
  type Guard,
  type GuardedWork,
  type IdMaker,
  type Log,
  STOPPED_LARES,
  type WorkKey,
} from "../../../core/kit/index.ts";
import type { SqliteRecords } from "../../records/index.ts";
import { type LanePlaces, Lanes, type WaitingTurn } from "./lanes.ts";
import { segmentContext } from "./segment.ts";
import { EngineStore, type EngineTurnRow, type JournalRow } from "./store.ts";

export interface EmbeddedParts {
  records: SqliteRecords;
  clock: Clock;
  ids: IdMaker;
  crash: Crash;
  guard: Guard;
  log: Log;
  places: LanePlaces;
}

/** One timer serves all due times; it wakes at least this often so that clock jumps and sleep are noticed. */
const LONGEST_NAP_MS = 60_000;

/** Bodies held in memory; of a longer queue the rest is read when its turn comes. */
const MOST_UNTOUCHED = 256;

export class EmbeddedEngine implements Engine {
  private readonly parts: EmbeddedParts;
  private readonly store: EngineStore;
  private readonly lanes: Lanes;
  private readonly stops = new Map<TurnId, AbortController>();
  private readonly fence = new AbortController();
  private readonly recovered = new Set<TurnId>();
  /** Accepted by this process, not started, and nothing came for them since: what the store has of them is known without a look. */
  private readonly untouched = new Map<TurnId, EngineTurnRow>();
  /** Part of each attempt, to recognise intents from before the machine restarted. */
  private readonly boot = bootId() ?? "";
  private app: EngineApp | undefined;
  private order = 0;
  private cancelTimer: (() => void) | undefined;
  private idle: (() => void) | undefined;

  constructor(parts: EmbeddedParts) {
    this.parts = parts;
    this.store = new EngineStore(parts.records);
    this.lanes = new Lanes(parts.places, (next) => void this.runSegment(next));
  }

  async start(app: EngineApp): Promise<void> {
    this.app = app;
    this.order = this.store.lastOrder();
    // Before anything is queued: a session that a parked turn holds must not start another one.
    for (const holder of this.store.holders()) this.lanes.hold(holder.session, holder.id);
    const convicted: EngineTurnRow[] = [];
    for (const row of this.store.open()) {
      this.recovered.add(row.id);
      const suspicion = this.parts.guard.suspicion(workKey(row));
      if (suspicion === "convicted") convicted.push(row);
      else this.recover(row, suspicion === "suspect");
    }
    // Before the lanes open, so that none of them runs a third time.
    if (convicted.length) await this.giveUp(convicted);
    this.lanes.go();
    this.tick();
  }

  /** A suspect keeps its place in its session, and starts when no other suspect runs. */
  private recover(row: EngineTurnRow, isSuspect: boolean): void {
    if (isSuspect) {
      this.lanes.bar(row.id);
      void this.parts.guard.turn(workKey(row)).then(() => this.lanes.unbar(row.session, row.id));
    }
    this.lanes.add(waiting(row));
  }

  /** ENGINE-7. Each gets one more segment to make that visible; what stopped the process even so is set aside. */
  private async giveUp(rows: readonly EngineTurnRow[]): Promise<void> {
    const { clock, guard } = this.parts;
    const woken: WaitingTurn[] = [];
    await this.write((tx) => {
      for (const row of rows) {
        if (isBroken(row)) this.store.setAside(tx, row.id, STOPPED_LARES, clock.now());
        else woken.push(this.wake(tx, row, { why: "broken", code: "STOPPED_LARES", message: STOPPED_LARES }));
      }
    });
    for (const row of rows) guard.forgive(workKey(row));
    for (const item of woken) this.lanes.add(item);
  }

  async stop(drainMs: number): Promise<void> {
    this.lanes.halt();
    this.cancelTimer?.();
    // Running segments may finish within the drain time. What doesn't is continued from its journal at the next start.
    if (this.lanes.active() > 0) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, drainMs);
      });
      await Promise.race([new Promise<void>((resolve) => (this.idle = resolve)), late]);
      clearTimeout(timer);
    }
    this.lose(new AppError("NOT_READY", { message: "Lares is stopping.", retry: "later" }));
  }

  /** From now on nothing this engine does is recorded: it stopped, or its claim is lost. */
  lose(reason: AppError): void {
    this.lanes.halt();
    this.cancelTimer?.();
    if (!this.fence.signal.aborted) this.fence.abort(reason);
  }

  async accept(
    m: { id: string; fresh?: boolean; session: SessionKey; lane: LaneClass; body: Json },
    record?: (tx: Tx, turn: TurnId) => void,
    announce?: (turn: TurnId) => void,
  ): Promise<Accepted> {
    this.mustRun();
    // A fresh id was made a moment ago and can't be known, which saves a query per message.
    const known = m.fresh ? undefined : this.store.byAcceptId(m.id);
    if (known) {
      // It may be in the batch that is not yet durable; an empty write waits for that batch.
      await this.parts.records.write(() => {});
      return { turn: known, duplicate: true };
    }
    const turn = asId<TurnId>(this.parts.ids.next("t"));
    const item: WaitingTurn = { turn, session: m.session, lane: m.lane, order: ++this.order };
    await this.parts.records.write((tx) => {
      const at = this.parts.clock.now();
      const row = this.store.insertTurn(tx, { ...m, id: turn, acceptId: m.id, ord: item.order, at });
      record?.(tx, turn);
      // Most turns start at once, and their row needn't be read back.
      if (this.untouched.size < MOST_UNTOUCHED) this.untouched.set(turn, row);
    });
    this.parts.crash.at("accept.committed");
    // Before it can run: clients must hear of a turn before they hear from it.
    announce?.(turn);
    this.lanes.add(item);
    return { turn, duplicate: false };
  }

  async resume(turn: TurnId, event: EngineEvent, record?: (tx: Tx) => void): Promise<"taken" | "late" | "unknown"> {
    this.mustRun();
    const row = this.store.turn(turn);
    if (!row) return "unknown";
    // One event of a name counts, the first: that is how an approval is answered only once.
    const first = this.store.event(turn, event.name);
    if (first) {
      await this.parts.records.write(() => {});
      return first.id === event.id ? "taken" : "late";
    }
    if (row.status === "ended" || row.status === "attention") return "late";
    const awaited = event.name === CANCEL || (JSON.parse(row.park_on ?? "[]") as string[]).includes(event.name);
    // It waits for something else, for example another approval than this one.
    if (row.status === "parked" && !awaited) return "late";
    this.parts.crash.at("resume.before");
    this.untouched.delete(turn);
    let woken: WaitingTurn | undefined;
    await this.parts.records.write((tx) => {
      this.store.addEvent(tx, turn, event, this.parts.clock.now());
      record?.(tx);
      if (row.status === "parked") woken = this.wake(tx, row, { why: "event", events: [event] });
    });
    this.parts.crash.at("resume.committed");
    if (woken) this.lanes.add(woken);
    // A running turn is stopped by a signal. The event is stored as well, in case the process dies first.
    else if (event.name === CANCEL) this.stops.get(turn)?.abort();
    return "taken";
  }

  async schedule(id: ScheduleId, slot: { due: number; session: SessionKey; body: Json } | null): Promise<void> {
    this.mustHold();
    await this.parts.records.write((tx) => this.store.setSlot(tx, id, slot));
    this.tick();
  }

  async *history(query: { session?: SessionKey; turn?: TurnId; open?: boolean }): AsyncIterable<JournalEntry> {
    yield* this.store.entries(query);
  }

  async erase(session: SessionKey): Promise<void> {
    await this.parts.records.write((tx) => this.store.erase(tx, session));
  }

  async forgetIds(prefix: string): Promise<void> {
    for (;;) {
      // In portions: an old account has many ids, and one long transaction would block every turn.
      const some = this.store.withIdsFrom(prefix);
      if (some.length === 0) return;
      await this.parts.records.write((tx) => {
        for (const turn of some) this.store.forgetId(tx, turn);
      });
    }
  }

  async prune(before: number): Promise<number> {
    const old = this.store.endedBefore(before);
    await this.parts.records.write((tx) => {
      for (const turn of old) this.store.eraseTurn(tx, turn);
    });
    return old.length;
  }

  openIntents(): string[] {
    return this.store.openIntents();
  }

  running(session: SessionKey): TurnId | undefined {
    return this.lanes.running(session);
  }

  private mustHold(): void {
    if (this.fence.signal.aborted) throw this.fence.signal.reason;
  }

  /** Before the start the order of what is already there is not known, so nothing may be put behind it. */
  private mustRun(): void {
    this.mustHold();
    if (!this.app) throw new AppError("NOT_READY", { message: "Lares is starting.", retry: "later" });
  }

  /**
   * Writes of a segment. One that could not be made durable stops this engine. One that was refused, because a record's
   * statement is wrong, took nothing else with it: it rejects, and only the turn it belongs to breaks.
   */
  private write = (change: (tx: Tx) => void): Promise<void> => {
    if (this.fence.signal.aborted) return Promise.reject(this.fence.signal.reason);
    let refused: { error: unknown } | undefined;
    const done = this.parts.records.write((tx) => {
      try {
        change(tx);
      } catch (error) {
        refused = { error };
        throw error;
      }
    });
    done.catch((error) => {
      // A refused statement is one turn's mistake; anything else is the disk's, and nothing can be trusted to be stored.
      if (error !== refused?.error) this.failed(error);
    });
    return done;
  };

  private failed(error: unknown): void {
    this.parts.log.error("journal write failed", { error: String(error) });
    this.lose(error instanceof AppError ? error : new AppError("STORAGE_FAILED", { message: String(error) }));
  }

  private async runSegment(item: WaitingTurn): Promise<void> {
    const { turn, session } = item;
    const untouched = this.untouched.get(turn);
    this.untouched.delete(turn);
    const row = untouched ?? this.store.turn(turn);
    if (row?.status !== "open") {
      if (row) this.parts.guard.begin(workKey(row)).end(true);
      return this.lanes.done(session, false);
    }
    const work = this.parts.guard.begin(workKey(row));
    const stop = new AbortController();
    // It may have been stopped while it waited in its lane.
    if (!untouched && this.store.event(turn, CANCEL)) stop.abort();
    this.stops.set(turn, stop);
    // The fence lives as long as the process; a segment must leave nothing at it.
    const halt = following(this.fence.signal, stop.signal);
    let holds = false;
    try {
      const journal = untouched ? [] : this.store.journal(turn, row.segment);
      const outcome = await this.callApp(row, journal, work, { stopping: stop.signal, halt: halt.signal });
      // The claim is lost: another process decides about this turn, and nothing may be recorded here.
      if (this.fence.signal.aborted) return;
      holds = await this.settle(row, outcome);
    } catch (error) {
      if (this.fence.signal.aborted) return;
      holds = await this.broke(row, error).catch(() => false);
    } finally {
      halt.done();
      work.end(!this.fence.signal.aborted);
      this.stops.delete(turn);
      this.recovered.delete(turn);
      this.lanes.done(session, holds);
      // `stop` waits for this.
      if (this.lanes.active() === 0) this.idle?.();
    }
  }

  private async callApp(
    row: EngineTurnRow,
    journal: readonly JournalRow[],
    work: GuardedWork,
    signals: Pick<Ctx, "stopping" | "halt">,
  ): Promise<Outcome> {
    this.parts.crash.at("segment.started");
    const ctx = segmentContext({
      turn: row.id,
      session: row.session,
      segment: row.segment,
      journal,
      // Each run of a segment is a separate attempt, marked with the machine's boot: processes don't survive a reboot.
      attempt: `${this.parts.ids.next("a")}@${this.boot}`,
      isOfThisBoot: (attempt) => this.boot !== "" && attempt.endsWith(`@${this.boot}`),
      signal: this.fence.signal,
      ...signals,
      write: this.write,
      store: this.store,
      clock: this.parts.clock,
      crash: this.parts.crash,
      progressed: work.progressed,
      waits: work.waits,
      doing: work.doing,
    });
    const input: SegmentInput = {
      turn: row.id,
      session: row.session,
      lane: row.lane,
      body: JSON.parse(row.body) as Json,
      segment: row.segment,
      wake: JSON.parse(row.wake) as Wake,
      recovered: this.recovered.has(row.id),
      ...(row.state === null ? {} : { state: JSON.parse(row.state) as Json }),
      ...defined({ stateVersion: row.state_version ?? undefined }),
    };
    return this.app!.segment(ctx, input);
  }

  /** Records the end or the park. Returns whether the session stays held. */
  private async settle(row: EngineTurnRow, outcome: Outcome): Promise<boolean> {
    const { crash, clock } = this.parts;
    // Stored with the end and the park, so that a later version knows who wrote the state.
    const version = this.app!.version;
    if ("end" in outcome) {
      crash.at("end.before");
      await this.write((tx) => {
        outcome.record?.(tx);
        this.store.endTurn(tx, row.id, outcome.end, version, clock.now());
      });
      crash.at("end.committed");
      this.tell(row, "ended");
      return false;
    }
    crash.at("park.before");
    const { park } = outcome;
    let woken: WaitingTurn | undefined;
    await this.write((tx) => {
      outcome.record?.(tx);
      this.store.parkTurn(tx, row.id, park, version, clock.now());
      // What it waits for may have come while it was still running.
      const events = this.store.unused(row.id).filter((e) => e.name === CANCEL || park.on.includes(e.name));
      if (events.length) woken = this.wake(tx, row, { why: "event", events });
    });
    crash.at("park.committed");
    this.tell(row, "parked");
    if (woken) this.lanes.add(woken);
    else if (park.deadline !== undefined) this.tick();
    return park.holdsSession;
  }

  /** A hint only: a listener that throws must not break a turn that is already settled. */
  private tell(row: EngineTurnRow, how: "ended" | "parked"): void {
    try {
      this.app!.settled?.(row.id, row.session, how);
    } catch (error) {
      this.parts.log.error("settled listener threw", { turn: row.id, error: String(error) });
    }
  }

  private wake(tx: Tx, row: EngineTurnRow, wake: Wake): WaitingTurn {
    // A turn that broke is not over: it keeps its place, and the session's next turn waits until it has said so.
    const order = wake.why === "broken" ? row.ord : ++this.order;
    if (wake.why === "event")
      this.store.useEvents(
        tx,
        row.id,
        wake.events.map((e) => e.name),
      );
    this.store.wakeTurn(tx, row.id, wake, order, this.parts.clock.now());
    return { turn: row.id, session: row.session, lane: row.lane, order };
  }

  /**
   * The segment threw. The app gets one more segment to make that visible; if that throws too, the turn is set aside.
   * Returns whether the session stays held.
   */
  private async broke(row: EngineTurnRow, error: unknown): Promise<boolean> {
    const { clock, log } = this.parts;
    const message = error instanceof Error ? error.message : String(error);
    log.error("segment broke", { turn: row.id, error: error instanceof Error ? (error.stack ?? message) : message });
    if (isBroken(row) || error instanceof Stopped) {
      await this.write((tx) => this.store.setAside(tx, row.id, message, clock.now()));
      this.tell(row, "ended");
      return false;
    }
    // People can do something about a mismatch (send it again), so it keeps its own code.
    const code = error instanceof AppError && error.code === "JOURNAL_MISMATCH" ? "JOURNAL_MISMATCH" : "INTERNAL";
    let woken: WaitingTurn | undefined;
    await this.write((tx) => {
      woken = this.wake(tx, row, { why: "broken", code, message });
    });
    if (woken) this.lanes.add(woken);
    return row.holds === 1;
  }

  /** Fires what is due and sets the one timer for what is next. */
  private tick(): void {
    this.cancelTimer?.();
    if (this.fence.signal.aborted || !this.app) return;
    const now = this.parts.clock.now();
    const next = this.store.nextDue();
    if (next !== undefined && next <= now) this.fire(now);
    // Asked again, because firing may have changed what is due next.
    const soonest = this.store.nextDue();
    if (soonest === undefined) return;
    const wait = Math.min(Math.max(soonest - now, 0), LONGEST_NAP_MS);
    this.cancelTimer = this.parts.clock.after(wait, () => this.tick());
  }

  /**
   * A write that fails here stops the engine; otherwise the same slot would stay due forever. It is due again at the next start.
   */
  private fire(now: number): void {
    // Parked turns first: a person may be waiting for the deadline to pass.
    for (const id of this.store.overdueTurns(now)) {
      const row = this.store.turn(id)!;
      let woken: WaitingTurn | undefined;
      this.write((tx) => {
        woken = this.wake(tx, row, { why: "deadline" });
      }).then(
        () => woken && this.lanes.add(woken),
        (error) => this.failed(error),
      );
    }
    for (const slot of this.store.dueSlots(now)) {
      const turn = asId<TurnId>(this.parts.ids.next("t"));
      // It decides and hands the work on. Among long scheduled turns it would wait for one of their places and be late itself.
      const item: WaitingTurn = { turn, session: slot.session, lane: "interactive", order: ++this.order };
      const acceptId = acceptIds.timer(slot.id, slot.due);
      // The slot may have been fired just before a crash. Its turn exists, so only the slot is removed.
      const known = this.store.byAcceptId(acceptId);
      this.write((tx) => {
        this.store.setSlot(tx, slot.id, null);
        if (known) return;
        const at = this.parts.clock.now();
        this.store.insertTurn(tx, { ...item, id: turn, acceptId, ord: item.order, body: slot.body, at });
      }).then(
        () => known || this.lanes.add(item),
        (error) => this.failed(error),
      );
    }
  }
}

function isBroken(row: EngineTurnRow): boolean {
  return (JSON.parse(row.wake) as Wake).why === "broken";
}

function workKey(row: EngineTurnRow): WorkKey {
  return isBroken(row) ? workKeys.broken(row.id) : workKeys.turn(row.id);
}

function waiting(row: EngineTurnRow): WaitingTurn {
  return { turn: row.id, session: row.session, lane: row.lane, order: row.ord };
}
