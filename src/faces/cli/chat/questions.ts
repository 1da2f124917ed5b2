/**
 * Approvals answered by one key. One question is in front at a time; the others wait behind it.
 *
 * Q1: a key answers only when nothing was pressed for 600 ms and the question has stood as long, so that somebody who types
 *     answers nothing by accident. Such keys are text as ever.
 * Q2: a key answers only on an empty line.
 */
import type { ApprovalDecision } from "../../../core/domain/index.ts";
import type { Clock } from "../../../core/kit/index.ts";
import type { Approval } from "../../../core/protocol/index.ts";

/** UI.md §4: long enough for the eye to find the question. */
export const DEAF_MS = 600;

const KEYS: Readonly<Record<string, ApprovalDecision>> = { a: "allow-once", A: "allow-always", d: "deny" };

export interface QuestionParts {
  clock: Clock;
  /** A question came to the front. */
  onFront(approval: Approval): void;
  /** The pause is over: keys are heard from now on. */
  onReady(): void;
  onAnswer(approval: Approval, decision: ApprovalDecision): void;
}

export class Questions {
  private readonly parts: QuestionParts;
  private readonly queue: Approval[] = [];
  private deafUntil = 0;
  private off: (() => void) | undefined;

  constructor(parts: QuestionParts) {
    this.parts = parts;
  }

  get front(): Approval | undefined {
    return this.queue[0];
  }

  get waitingBehind(): number {
    return Math.max(this.queue.length - 1, 0);
  }

  get isDeaf(): boolean {
    return this.parts.clock.now() < this.deafUntil;
  }

  add(approval: Approval): void {
    if (this.queue.some((a) => a.id === approval.id)) return;
    this.queue.push(approval);
    if (this.queue.length === 1) this.toFront();
  }

  /** Answered, or no longer asked. */
  remove(id: string): void {
    const at = this.queue.findIndex((a) => a.id === id);
    if (at < 0) return;
    this.queue.splice(at, 1);
    if (at === 0 && this.queue.length) this.toFront();
  }

  /** No longer asked since its turn ended. */
  removeTurn(turn: string): void {
    for (const a of this.queue.filter((one) => one.turn === turn)) this.remove(a.id);
  }

  /** True when the key answered the question in front. */
  key(text: string | undefined, lineIsEmpty: boolean): boolean {
    const { front } = this;
    if (!front) return false;
    if (this.isDeaf) {
      this.hush();
      return false;
    }
    const decision = text !== undefined && Object.hasOwn(KEYS, text) ? KEYS[text] : undefined;
    if (!decision || !lineIsEmpty) {
      this.hush();
      return false;
    }
    this.remove(front.id);
    this.parts.onAnswer(front, decision);
    return true;
  }

  close(): void {
    this.off?.();
  }

  private toFront(): void {
    this.hush();
    this.parts.onFront(this.queue[0]!);
  }

  private hush(): void {
    this.deafUntil = this.parts.clock.now() + DEAF_MS;
    this.off?.();
    this.off = this.parts.clock.after(DEAF_MS, () => {
      if (this.front) this.parts.onReady();
    });
  }
}

/** A line that is nothing but an impatient answer. */
export function isImpatient(line: string): boolean {
  return /^(a+|A+|d+)$/.test(line);
}
