/**
 * Watches over the process so that no work can keep it down (I13): the ledger says what runs, a thread ends the process when the
 * event loop is blocked, and the next start judges what was running (rule.ts).
 */
import { randomUUID } from "node:crypto";
import { url as debuggerUrl } from "node:inspector";
import { join } from "node:path";
import { getHeapStatistics } from "node:v8";
import { Worker } from "node:worker_threads";
import type { Clock, Crash, Guard, GuardedWork, Log, Suspicion, WorkKey } from "../../core/kit/index.ts";
import { fitting, type LedgerSlot, readPast, SLOT_BYTES, WorkLedger } from "./ledger.ts";
import { chooseWait, judgeHeld } from "./rule.ts";
import { Strikes } from "./strikes.ts";
import { BEAT, DEBUGGED, STOP, STORING, WORKER_SOURCE } from "./worker-source.ts";

/** How often the event loop shows that it lives, and how often that is looked at. */
const TICK_MS = 500;
/** Blocked for this long, what is running is noted; when the loop goes on, the note is withdrawn. */
const NOTE_MS = 1000;
/** Beyond this share of its limit the heap counts as full. V8 aborts at 80 % of it where the limit is small, at 95 % where it is large. */
const FULL_SHARE = 0.7;
/** A suspect that neither ended nor recorded anything for this long lets the next one start. */
const LONGEST_ALONE_MS = 30_000;
/** Blocked for this long, the process is ended. */
const END_MS = 5000;

const ENDED = { stalled: "stopped responding", threw: "crashed", full: "ran out of memory" } as const;

export interface WatchdogParts {
  home: string;
  clock: Clock;
  crash: Crash;
  log: Log;
}

export class Watchdog implements Guard {
  private readonly parts: WatchdogParts;
  private readonly strikes: Strikes;
  private readonly ledger: WorkLedger;
  /** Suspects wait until the program is up: whatever they do to it, it came up. */
  private readonly up: Promise<void>;
  private isUp!: () => void;
  /** By key: its slot and the work that started it last. */
  private readonly running = new Map<string, { slot: LedgerSlot; by: symbol }>();
  /** Suspects that wait for their turn, and the one whose turn it is. */
  private readonly line: { key: string; go: () => void }[] = [];
  private current: string | undefined;
  private readonly cells = new Int32Array(new SharedArrayBuffer(16));
  private isClosed = false;
  private isFull = false;
  private worker: Worker | undefined;
  private beat: NodeJS.Timeout | undefined;

  constructor(parts: WatchdogParts) {
    this.parts = parts;
    this.up = new Promise((resolve) => {
      this.isUp = resolve;
    });
    const file = join(parts.home, "in-flight");
    this.strikes = new Strikes(join(parts.home, "strikes.json"));
    const past = readPast(file);
    if (past && (past.running.length > 0 || !this.strikes.isEmpty)) {
      this.strikes.judge(past, parts.clock.now());
      parts.crash.at("strikes.stored");
      if (past.how !== "died") {
        const running = past.running.map(({ key }) => key).join(", ");
        parts.log.warn(`Lares ${ENDED[past.how]} last time`, { running });
      }
    }
    this.ledger = new WorkLedger(file, randomUUID());
    process.on("uncaughtExceptionMonitor", this.threw);
  }

  /**
   * The program serves. The thread starts now, so that the first turn doesn't wait for it. Not sooner: a start may have to migrate
   * a large database, which blocks the loop and is nobody's stall.
   */
  ready(): void {
    this.isUp();
    this.watch();
  }

  /** Starts the thread, or with the first work that is guarded when that comes before ready. */
  watch(): void {
    if (this.worker || this.isClosed) return;
    const { cells } = this;
    const { file, life } = this.ledger;
    this.beat = setInterval(() => {
      Atomics.add(cells, BEAT, 1);
      Atomics.store(cells, DEBUGGED, debuggerUrl() === undefined ? 0 : 1);
      this.weigh();
    }, TICK_MS);
    this.beat.unref();
    this.worker = new Worker(WORKER_SOURCE, {
      eval: true,
      env: {},
      execArgv: [],
      workerData: { cells, file, life, slotBytes: SLOT_BYTES, tickMs: TICK_MS, noteMs: NOTE_MS, endMs: END_MS },
      resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 1 },
    });
    this.worker.on("error", (error) => this.parts.log.warn("the watchdog does not run", { error: String(error) }));
    this.worker.unref();
  }

  /** A commit waits for the disk, which is no work's stall. */
  storing = (on: boolean): void => {
    Atomics.store(this.cells, STORING, on ? 1 : 0);
  };

  /**
   * The program begins to stop. A process waits for its threads when it exits, so this one goes now and not at the end, unless work
   * is running that could still block the loop.
   */
  stopping(): void {
    this.isClosed = true;
    if (this.running.size === 0) this.endThread();
  }

  /** The life ended as it should. */
  close(): void {
    this.isClosed = true;
    process.off("uncaughtExceptionMonitor", this.threw);
    this.endThread();
    this.ledger.close();
  }

  private endThread(): void {
    clearInterval(this.beat);
    Atomics.store(this.cells, STOP, 1);
    Atomics.notify(this.cells, STOP);
    // Not waited for: a thread that is still starting would not see the cell for some time.
    void this.worker?.terminate();
  }

  suspicion(key: WorkKey): Suspicion {
    return judgeHeld(this.strikes.get(fitting(key)));
  }

  turn(key: WorkKey): Promise<void> {
    if (this.suspicion(key) === "none") return Promise.resolve();
    const name = fitting(key);
    const wait = chooseWait(this.strikes.get(name));
    return new Promise((go) => {
      const enter = () => {
        this.line.push({ key: name, go });
        this.next();
      };
      void this.up.then(() => this.parts.clock.after(wait, enter));
    });
  }

  begin(key: WorkKey): GuardedWork {
    this.watch();
    const name = fitting(key);
    const slot = this.running.get(name)?.slot ?? this.ledger.take(name);
    if (slot.doing !== "works") this.ledger.change(slot, { doing: "works" });
    const by = Symbol(name);
    this.running.set(name, { slot, by });
    let isOver = false;
    let hasProgressed = false;
    return {
      progressed: () => {
        if (hasProgressed || isOver) return;
        hasProgressed = true;
        this.ledger.change(slot, { progressed: true });
        // It got further than last time; the others don't wait until it ends, which may take hours.
        this.leave(name);
      },
      waits: () => this.leave(name),
      doing: (now) => {
        if (isOver || this.running.get(name)?.by !== by) return;
        this.ledger.change(slot, { doing: now });
        // Without a strike, work isn't convicted by what an answer does to the process, so there is nothing to learn by waiting.
        const isDone = now === "waits" || (now === "asks" && !this.strikes.get(name)?.strikes);
        if (isDone) this.leave(name);
      },
      end: (finished) => {
        if (isOver) return;
        isOver = true;
        if (finished) this.strikes.forgive(name);
        // A new instance started it again while the old one was still shutting down.
        if (this.running.get(name)?.by !== by) return;
        this.running.delete(name);
        this.ledger.give(slot);
        this.leave(name);
      },
    };
  }

  forgive(key: WorkKey): void {
    this.strikes.forgive(fitting(key));
  }

  /** The instance that asked has ended, so nothing in this queue will run. */
  abandon(): void {
    this.line.length = 0;
    this.current = undefined;
  }

  private leave(key: string): void {
    if (this.current !== key) return;
    this.current = undefined;
    this.next();
  }

  private next(): void {
    if (this.current !== undefined) return;
    const first = this.line.shift();
    if (!first) return;
    this.current = first.key;
    this.parts.clock.after(LONGEST_ALONE_MS, () => this.leave(first.key));
    first.go();
  }

  /** Notes a heap that is nearly full, and withdraws the note when there is room again. */
  private weigh(): void {
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
    const isFull = used > FULL_SHARE * limit;
    // Each time: the thread withdraws its own note of a stall with the same line.
    if (isFull || this.isFull) this.ledger.note(isFull ? "full" : "died");
    this.isFull = isFull;
  }

  private threw = (): void => this.ledger.note("threw");
}
