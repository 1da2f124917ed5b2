/**
 * Approvals answered by a word. One question is in front at a time, and its card is the last one shown; the others wait behind it.
 *
 * CHAT-7: an answer is a whole line, a word such as `yes`, `no` or `always`, sent with Enter. No letter answers by itself and none
 *     is swallowed: whatever else is typed is a message.
 * CHAT-8: the line was begun after the card was shown. A "yes" that somebody was typing when a question, or the next one, came up
 *     was meant for something else, so it is sent as a message.
 * CHAT-9: with its code after the word (`yes 7kd2qa`) any question that waits can be answered, whichever is in front.
 *
 * A question with fields is answered with `answer` and the values, `answer unit: c; days: 3`, with or without its code.
 */
import type { ApprovalDecision } from "../../../core/domain/index.ts";
import type { Clock } from "../../../core/kit/index.ts";
import type { Approval } from "../../../core/protocol/index.ts";
import { shortId } from "../format.ts";

/** UI.md §4: long enough for the eye to find the question. */
const UNREAD_MS = 600;

const WORDS: Readonly<Record<string, ApprovalDecision>> = {
  yes: "allow-once",
  allow: "allow-once",
  always: "allow-always",
  no: "deny",
  deny: "deny",
};

export interface QuestionParts {
  clock: Clock;
  /** Whether nothing is typed at the moment. */
  lineIsEmpty(): boolean;
  /** A question came to the front. */
  onFront(approval: Approval): void;
  /** `answers`: what was typed for a question with fields. */
  onAnswer(approval: Approval, decision: ApprovalDecision, answers?: string): void;
}

export class Questions {
  private readonly parts: QuestionParts;
  private readonly queue: Approval[] = [];
  private shownAt = 0;
  private lineIsOlder = false;

  constructor(parts: QuestionParts) {
    this.parts = parts;
  }

  get front(): Approval | undefined {
    return this.queue[0];
  }

  get waitingBehind(): number {
    return Math.max(this.queue.length - 1, 0);
  }

  /** What is being typed was begun before the question was shown: it will be a message (CHAT-8). */
  get isTypingOther(): boolean {
    return this.lineIsOlder;
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

  /** The line changed. */
  typed(): void {
    if (this.parts.lineIsEmpty()) this.lineIsOlder = false;
  }

  /** True when the line that was sent answered a question; otherwise it is a message. */
  line(text: string): boolean {
    const filled = /^answer\s/i.test(text.trimStart()) ? text.trimStart().slice("answer".length).trim() : "";
    if (filled) return this.fillIn(filled);
    const [word = "", code, ...more] = text.trim().toLowerCase().split(/\s+/);
    const decision = Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
    if (!decision || more.length) return false;
    const meant = code === undefined ? this.readable() : this.queue.find((a) => shortId(a.id).toLowerCase() === code);
    if (!meant) return false;
    this.remove(meant.id);
    this.parts.onAnswer(meant, decision);
    return true;
  }

  private fillIn(typed: string): boolean {
    const [code = ""] = typed.split(/\s/, 1);
    const named = this.queue.find((a) => shortId(a.id).toLowerCase() === code.toLowerCase());
    const meant = named ?? this.readable();
    // Any other sentence may begin with this word.
    if (!meant?.form?.fields.length) return false;
    this.remove(meant.id);
    this.parts.onAnswer(meant, "allow-once", named ? typed.slice(code.length).trim() : typed);
    return true;
  }

  /** The question in front, once it could have been read. */
  private readable(): Approval | undefined {
    const isRead = this.parts.clock.now() - this.shownAt >= UNREAD_MS && !this.lineIsOlder;
    return isRead ? this.front : undefined;
  }

  private toFront(): void {
    this.shownAt = this.parts.clock.now();
    this.lineIsOlder = !this.parts.lineIsEmpty();
    this.parts.onFront(this.queue[0]!);
  }
}
