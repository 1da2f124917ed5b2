/**
 * The numbered stream of events: what sockets are sent, what a client that comes back has missed, and what running turns
 * have said so far. One listener on the bus does all three, so that numbers and texts always agree.
 *
 * LIVE-2: a client that comes back with its last number gets every control event since, or an instruction to reload.
 * LIVE-4: what `live` returns is exactly what the deltas up to its `seq` said.
 */
import { randomUUID } from "node:crypto";
import type { LiveEvent } from "../../../core/domain/index.ts";
import type { Bus, Clock } from "../../../core/kit/index.ts";
import type { EventFrame } from "../../../core/protocol/index.ts";
import { type LiveTurn, Partials } from "./partials.ts";

/** Control events kept for clients that come back: hours of ordinary use, a minute of very busy use. */
const KEPT = 5000;
/** And their size: tool outputs can be long. */
const KEPT_BYTES = 16_777_216;
/** Texts that may be long; the whole is in the records. */
const LONGEST_EVENT_TEXT = 65_536;

export interface Numbered {
  seq: number;
  event: LiveEvent;
  isLossy: boolean;
  /** The frame as text, made once for all sockets. */
  text(): string;
}

export class EventStream {
  readonly boot = randomUUID();
  seq = 0;
  private readonly ring: { seq: number; size: number; text: () => string }[] = [];
  private ringBytes = 0;
  /** The newest control event that is no longer in the ring. */
  private forgotten = 0;
  private readonly partials: Partials;
  private readonly listeners = new Set<(event: Numbered) => void>();

  constructor(bus: Bus, clock: Pick<Clock, "now">) {
    this.partials = new Partials(clock);
    bus.on((event) => this.take(event));
  }

  on(listener: (event: Numbered) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** The frames after `lastSeq` up to `until`, or `reload` when some of them are gone. */
  since(lastSeq: number, until: number): readonly string[] | "reload" {
    if (lastSeq > this.seq || lastSeq < this.forgotten) return "reload";
    return this.ring.filter((kept) => kept.seq > lastSeq && kept.seq <= until).map((kept) => kept.text());
  }

  /** The turns that run in a session, with what they have said so far. */
  live(session: string): { seq: number; boot: string; turns: LiveTurn[] } {
    return { seq: this.seq, boot: this.boot, turns: this.partials.of(session) };
  }

  private take(event: LiveEvent): void {
    this.partials.take(event);
    const seq = ++this.seq;
    // Streamed text can be merged or fetched again; everything else is a control event and always arrives.
    const isLossy = event.event === "turn.delta" || event.event === "turn.thinking" || event.event === "log";
    // Nobody listens and nothing is kept: then the text is never made.
    if (isLossy && !this.listeners.size) return;
    let made: string | undefined;
    const numbered: Numbered = { seq, event, isLossy, text: () => (made ??= frameText(event, seq)) };
    if (!isLossy) this.keep(numbered);
    for (const listener of this.listeners) listener(numbered);
  }

  /** The text is made when somebody wants it: mostly nobody does. */
  private keep({ seq, event, text }: Numbered): void {
    const size = 200 + ("text" in event ? Math.min(event.text.length, LONGEST_EVENT_TEXT) : 0);
    this.ring.push({ seq, size, text });
    this.ringBytes += size;
    while (this.ring.length > KEPT || this.ringBytes > KEPT_BYTES) {
      const gone = this.ring.shift()!;
      this.ringBytes -= gone.size;
      this.forgotten = gone.seq;
    }
  }
}

export function frameText(event: LiveEvent, seq: number): string {
  const { event: name, ...rest } = event;
  const payload = "text" in rest && rest.text.length > LONGEST_EVENT_TEXT ? shortened(rest) : rest;
  return JSON.stringify({ type: "event", event: name, payload, seq } satisfies EventFrame);
}

function shortened<T extends { text: string }>(payload: T): T {
  return { ...payload, text: payload.text.slice(0, LONGEST_EVENT_TEXT), cut: true };
}
