/**
 * Follows tasks that a peer works on until each has ended and the session that asked knows it.
 *
 * HIRE-6: a peer that is away is asked again until the task's time is over; one that gives nonsense, or another question each time, is
 *     given up, and the session that asked gets a message about it.
 */
import type { Tx } from "../../../core/contracts/index.ts";
import { isOver, type ReplyRoute } from "../../../core/domain/index.ts";
import { deadline, sha256 } from "../../../core/kit/index.ts";
import { PeerNonsense } from "./card.ts";
import type { HireParts } from "./hires.ts";
import { bounded, reason } from "./said.ts";
import * as store from "./store.ts";
import type { FarTask } from "./wire.ts";
import * as words from "./words.ts";

/** Between two looks at a task; after the last of them, always that long. */
const LOOKS_MS = [500, 1000, 2000, 4000, 8000, 15_000, 30_000, 60_000];
const PATIENCE_MS = 30_000;
/** A peer that doesn't know a task so often in a row has lost it. */
const MOST_LOST = 5;
/** An answer that can't be read may be a page that somebody put in front of the peer for a while: that takes four minutes. */
const MOST_UNREADABLE = 10;
/** Different questions about one task. Each one costs a turn, so the peer doesn't decide how many there are. */
const MOST_QUESTIONS = 3;

export class Follower {
  private readonly parts: HireParts;
  private readonly timers = new Map<string, () => void>();
  private stopped = false;

  constructor(parts: HireParts) {
    this.parts = parts;
  }

  stop(): void {
    this.stopped = true;
    for (const cancel of this.timers.values()) cancel();
    this.timers.clear();
  }

  /** Until it has ended, or `leave`. */
  follow(hire: string): void {
    this.plan(hire, 0, 0);
  }

  leave(hire: string): void {
    this.timers.get(hire)?.();
  }

  private plan(id: string, looks: number, nonsense: number): void {
    if (this.stopped) return;
    this.timers.get(id)?.();
    const cancel = this.parts.clock.after(LOOKS_MS[Math.min(looks, LOOKS_MS.length - 1)]!, () => {
      this.timers.delete(id);
      this.look(id, looks, nonsense).catch((error: unknown) => {
        if (isOver(error)) return;
        this.parts.log.warn("a task couldn't be followed", { id, error: reason(error) });
        this.plan(id, looks + 1, nonsense);
      });
    });
    this.timers.set(id, () => {
      cancel();
      this.timers.delete(id);
    });
  }

  private async look(id: string, looks: number, nonsense: number): Promise<void> {
    const asked = await store.readHire(this.parts.records, id);
    if (asked?.state !== "open" || asked.task === null) return;
    if (this.parts.clock.now() > asked.until) return this.end(asked, "late", "");
    const now = await this.hear(asked, asked.task);
    // A person may have stopped it while the peer took its time.
    const row = await store.readHire(this.parts.records, id);
    if (row?.state !== "open") return;
    if (now === "away") return this.plan(id, looks + 1, nonsense);
    if (now === "unreadable" || now === "unknown") {
      const most = now === "unknown" ? MOST_LOST : MOST_UNREADABLE;
      if (nonsense + 1 >= most) return this.end(row, "lost", "");
      // After a long time away the looks are a minute apart, but whether it forgot the task is known within seconds.
      return this.plan(id, now === "unknown" ? nonsense : looks + 1, nonsense + 1);
    }
    const { state, text } = now;
    if (state === "asks" || state === "login") {
      const isPassedOn = await this.tellQuestion(row, state, bounded(text));
      if (!isPassedOn) return this.end(row, "fickle", "");
    } else if (state !== "working") return this.end(row, state, bounded(text));
    this.plan(id, looks + 1, 0);
  }

  /** What the peer says about a task now. `unknown`: it talks about another one, or about none. */
  private async hear(row: store.HireRow, task: string): Promise<FarTask | "away" | "unreadable" | "unknown"> {
    const patience = deadline(new AbortController().signal, PATIENCE_MS);
    try {
      const { far } = await this.parts.peers.reach(row.peer, patience.signal);
      const now = await far.get(task, patience.signal);
      return now?.id === task ? now : "unknown";
    } catch (error) {
      this.parts.log.debug("a peer couldn't be asked about a task", { id: row.id, error: reason(error) });
      return error instanceof PeerNonsense ? "unreadable" : "away";
    } finally {
      patience.done();
    }
  }

  /** Once for each question. False: there were too many. */
  private async tellQuestion(row: store.HireRow, state: "asks" | "login", text: string): Promise<boolean> {
    const print = sha256(JSON.stringify([state, text])).slice(0, 16);
    const before = row.asked?.split(" ") ?? [];
    if (before.includes(print)) return true;
    if (before.length >= MOST_QUESTIONS) return false;
    const label = state === "asks" ? words.askLabel(row.peer, row.id) : words.needsLogin(row.peer);
    const asked = [...before, print].join(" ");
    await this.tell(row, `${row.id}-${print}`, label, text, (tx) => store.noteAsked(tx, row.id, asked));
    return true;
  }

  /** Reported once: the row is no longer open then. */
  async end(row: store.HireRow, state: words.PeerEnd, text: string): Promise<void> {
    this.parts.crash.at("peer.heard", () => row.message);
    const label = words.endLabel(row.peer, row.message, state);
    await this.tell(row, row.id, label, text, (tx) => store.setHireState(tx, row.id, "told"));
    if (state === "late" || state === "fickle") await this.cancel(row).catch(() => {});
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

  /** Throws when the peer is away or refuses. */
  async cancel(row: store.HireRow, patienceMs = PATIENCE_MS): Promise<void> {
    if (row.task === null) return;
    const patience = deadline(new AbortController().signal, patienceMs);
    try {
      const { far } = await this.parts.peers.reach(row.peer, patience.signal);
      await far.cancel(row.task, patience.signal);
    } finally {
      patience.done();
    }
  }
}
