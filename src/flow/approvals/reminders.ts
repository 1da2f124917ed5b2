/**
 * Reminders: an unanswered approval is repeated after a while, then after twice that, three times at most. The next due time is
 * in the approval's row and advances in the transaction that intends the message, so neither a restart nor a kill repeats a
 * reminder. One timer serves all.
 */
import type { Records, Tx } from "../../core/contracts/index.ts";
import { answerIds, type ReplyRoute, type SessionKey, type TurnId } from "../../core/domain/index.ts";
import type { Bus, Clock, Log } from "../../core/kit/index.ts";
import { type Due, dueReminders, moveReminder, nextReminder } from "./store.ts";
import { reminderText } from "./words.ts";

export interface ReminderParts {
  records: Records;
  clock: Clock;
  bus: Bus;
  log: Log;
  /** Hours until the first one; 0: none. */
  afterHours: () => number;
  /** Idempotent per answer id. */
  send: (tx: Tx, m: { answer: string; turn: TurnId; session: SessionKey; route: ReplyRoute; text: string }) => void;
  /** After it is durable: sends it. */
  wake: (turn: TurnId) => void;
}

const MOST_REMINDERS = 3;
/** Checked at least this often, so that clock changes and sleep are noticed. */
const LONGEST_NAP_MS = 60_000;
/** Reminders sent in one go; the rest follow at the next check. */
const BATCH = 100;

export class Reminders {
  private readonly parts: ReminderParts;
  private cancel: (() => void) | undefined;
  private next = Number.POSITIVE_INFINITY;
  private looking: Promise<void> | undefined;
  private stopped = false;

  constructor(parts: ReminderParts) {
    this.parts = parts;
  }

  async start(): Promise<void> {
    this.expect(await nextReminder(this.parts.records));
  }

  stop(): void {
    this.stopped = true;
    this.cancel?.();
  }

  /** When the first reminder of a question is due; null: never. */
  firstAt(askedAt: number, deadline: number): number | null {
    return dueAt(askedAt, deadline, 0, this.parts.afterHours());
  }

  /** Sets the timer for a reminder, unless another is due earlier. */
  expect(at: number | null): void {
    if (at === null || at >= this.next || this.stopped) return;
    this.next = at;
    this.arm();
  }

  private arm(): void {
    this.cancel?.();
    if (this.stopped || this.next === Number.POSITIVE_INFINITY) return;
    const wait = Math.min(Math.max(this.next - this.parts.clock.now(), 0), LONGEST_NAP_MS);
    this.cancel = this.parts.clock.after(wait, () => {
      this.looking ??= this.look()
        .catch((error) => this.parts.log.warn("reminders failed", { error: String(error) }))
        .finally(() => {
          this.looking = undefined;
          this.arm();
        });
    });
  }

  private async look(): Promise<void> {
    const { records, clock } = this.parts;
    if (this.stopped || this.next > clock.now()) return;
    const due = await dueReminders(records, clock.now(), BATCH);
    await Promise.all(due.map((one) => this.remind(one)));
    this.next = (await nextReminder(records)) ?? Number.POSITIVE_INFINITY;
  }

  private async remind(due: Due): Promise<void> {
    const { records, clock, bus } = this.parts;
    const now = clock.now();
    // Reminders missed during sleep count as sent: one now, not three.
    let count = due.reminded + 1;
    let next = dueAt(due.askedAt, due.deadline, count, this.parts.afterHours());
    while (next !== null && next <= now) next = dueAt(due.askedAt, due.deadline, ++count, this.parts.afterHours());
    const { id, turn, session, route } = due;
    await records.write((tx) => {
      moveReminder(tx, { id, from: due.reminded, to: count, at: next });
      const text = reminderText(due, now);
      this.parts.send(tx, { answer: answerIds.remind(turn, id, due.reminded + 1), turn, session, route, text });
    });
    this.parts.wake(turn);
    bus.emit({ event: "approval.reminded", session, turn, approval: id, count: due.reminded + 1 });
  }
}

/** When reminder `n` (from 0) is due: after the configured hours, doubling each time, never past the deadline. */
function dueAt(askedAt: number, deadline: number, n: number, hours: number): number | null {
  if (hours <= 0 || n >= MOST_REMINDERS) return null;
  const at = askedAt + hours * 3_600_000 * 2 ** n;
  return at < deadline ? at : null;
}
