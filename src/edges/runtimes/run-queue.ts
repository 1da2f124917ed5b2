/**
 * A run's events between its adapter and the host that records them. It numbers them, holds each until it is recorded, and says when the
 * adapter has to stop reading from its runtime.
 *
 * QUEUE-1: nothing that was pushed is lost (RUNTIME-3). A slow reader makes the queue full, never shorter.
 * QUEUE-2: text, and thinking, that nobody has read yet grows by what follows it instead of taking another place.
 * QUEUE-3: an event is held until the reader asks for the next one (RUNTIME-4).
 * QUEUE-4: after `done` every push is refused: some runtimes say it twice.
 */
import type { RunEvent, RunEventBody } from "../../core/contracts/index.ts";
import type { Clock } from "../../core/kit/index.ts";

export interface QueueBounds {
  /** Events that may wait. */
  events: number;
  /** Characters of text that may wait, in all of them together. */
  characters: number;
  /** Longest text of one event. */
  merged: number;
}

/** A reader that records to the disk takes a few milliseconds for each: this is seconds of a busy runtime. */
const BOUNDS: QueueBounds = { events: 1000, characters: 4 * 1024 * 1024, merged: 64 * 1024 };

export interface QueueParts {
  run: string;
  attempt: number;
  /** The last number used in this run. */
  lastSeq: number;
  clock: Pick<Clock, "now">;
  bounds?: QueueBounds;
}

export class RunQueue {
  private readonly parts: QueueParts;
  private readonly bounds: QueueBounds;
  private readonly held: RunEvent[] = [];
  private characters = 0;
  private seq: number;
  /** The highest number that a reader has seen: that event no longer grows. */
  private read: number;
  private isEnded = false;
  private reader = 0;
  private wakeReader: () => void = () => {};
  private readonly waitingForRoom = new Set<() => void>();

  constructor(parts: QueueParts) {
    this.parts = parts;
    this.bounds = parts.bounds ?? BOUNDS;
    this.seq = parts.lastSeq;
    this.read = parts.lastSeq;
  }

  /** False when the run has ended and this comes too late (QUEUE-4). */
  push(body: RunEventBody): boolean {
    if (this.isEnded) return false;
    if (!this.merge(body)) {
      const { run, attempt, clock } = this.parts;
      this.held.push({ run, attempt, seq: ++this.seq, at: clock.now(), body });
    }
    this.characters += weigh(body);
    if (body.type === "done") this.end();
    else this.wakeReader();
    return true;
  }

  /** True: stop reading from the runtime until `room` resolves. Pushing still works, for the few events that are under way. */
  get isFull(): boolean {
    return this.held.length >= this.bounds.events || this.characters >= this.bounds.characters;
  }

  /** Resolves when there is room again, or when nobody will read it. */
  async room(): Promise<void> {
    while (this.isFull && !this.isEnded) await new Promise<void>((resolve) => this.waitingForRoom.add(resolve));
  }

  /** The run goes on elsewhere, or not at all: readers end after what is held, without `done`. */
  end(): void {
    this.isEnded = true;
    this.wakeReader();
    this.freed();
  }

  /** RunSession.events. Throws for events that are recorded and gone. */
  async *events(afterSeq: number): AsyncGenerator<RunEvent, void> {
    const me = ++this.reader;
    this.wakeReader();
    const first = this.held[0]?.seq ?? this.seq + 1;
    if (afterSeq < first - 1 || afterSeq > this.seq)
      throw new RangeError(`events ${afterSeq + 1} and later were asked for; those from ${first} on are here`);
    this.forget(afterSeq);
    while (me === this.reader) {
      const event = this.held[0];
      if (event) {
        this.read = Math.max(this.read, event.seq);
        yield event;
        // Asked for the next one, and still the reader: this one is recorded.
        if (me === this.reader) this.forget(event.seq);
      } else if (this.isEnded) return;
      else await new Promise<void>((resolve) => (this.wakeReader = resolve));
    }
  }

  private merge(body: RunEventBody): boolean {
    const last = this.held.at(-1);
    if (!last || last.seq <= this.read || (body.type !== "text" && body.type !== "thinking")) return false;
    if (last.body.type !== body.type || last.body.text.length + body.text.length > this.bounds.merged) return false;
    this.held[this.held.length - 1] = { ...last, body: { type: body.type, text: last.body.text + body.text } };
    return true;
  }

  private forget(upTo: number): void {
    for (let first = this.held[0]; first && first.seq <= upTo; first = this.held[0]) {
      this.characters -= weigh(first.body);
      this.held.shift();
    }
    this.read = Math.max(this.read, upTo);
    if (!this.isFull) this.freed();
  }

  private freed(): void {
    const waiting = [...this.waitingForRoom];
    this.waitingForRoom.clear();
    for (const wake of waiting) wake();
  }
}

/** What an event holds in memory, roughly. */
function weigh(body: RunEventBody): number {
  if ("text" in body) return body.text.length;
  return body.type === "tool_call" ? JSON.stringify(body.input).length : 0;
}
