/**
 * What goes to one socket. A client that reads slowly gets text in fewer, larger pieces; beyond a bound it is closed with a
 * reason, because a page that shows a wrong picture is worse than one that says it reloads.
 *
 * LIVE-3: streamed text is merged per turn and call, never dropped; control events are never lost and never overtake the text
 *     that was before them.
 */
import type { LiveEvent } from "../../../core/domain/index.ts";
import { frameText, type Numbered } from "./events.ts";

/** What the queue needs of a socket. */
export interface Pipe {
  readonly bufferedAmount: number;
  send(text: string): void;
  close(code: number, reason: string): void;
}

type Delta = Extract<LiveEvent, { event: "turn.delta" | "turn.thinking" }>;

/** Bytes waiting in the socket above which text is merged, and above which the client is given up. */
export const LAG_MERGE = 262_144;
export const LAG_CLOSE = 8_388_608;
/** Characters of merged text waiting for one client. */
const MOST_MERGED = 4_194_304;
/** How often a lagging client is looked at again. */
const LOOK_MS = 50;

export class SocketOutput {
  private readonly pipe: Pipe;
  private readonly merged = new Map<string, { event: Delta; seq: number }>();
  private mergedSize = 0;
  private timer: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(pipe: Pipe) {
    this.pipe = pipe;
  }

  push(numbered: Numbered): void {
    if (this.closed) return;
    if (this.pipe.bufferedAmount + this.mergedSize > LAG_CLOSE || this.mergedSize > MOST_MERGED) {
      this.stop();
      this.pipe.close(4008, "too slow: reload");
      return;
    }
    const { event } = numbered;
    if (!numbered.isLossy) {
      if (this.merged.size) this.before(event);
      this.pipe.send(numbered.text());
      return;
    }
    const lags = this.merged.size > 0 || this.pipe.bufferedAmount > LAG_MERGE;
    if (!lags) this.pipe.send(numbered.text());
    // A log line can be fetched again with logs.tail; text is merged.
    else if (event.event !== "log") this.merge(event as Delta, numbered.seq);
  }

  stop(): void {
    this.closed = true;
    clearTimeout(this.timer);
    this.merged.clear();
    this.mergedSize = 0;
  }

  private merge(event: Delta, seq: number): void {
    const key = `${event.turn} ${event.call} ${event.event}`;
    const waiting = this.merged.get(key);
    if (waiting) {
      waiting.event = { ...waiting.event, text: waiting.event.text + event.text };
      waiting.seq = seq;
    } else this.merged.set(key, { event, seq });
    this.mergedSize += event.text.length;
    this.look();
  }

  private look(): void {
    if (this.timer || this.closed) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      if (this.closed || !this.merged.size) return;
      if (this.pipe.bufferedAmount <= LAG_MERGE) this.flush(() => true);
      else this.look();
    }, LOOK_MS);
    this.timer.unref();
  }

  /** What was said in a turn goes out before the turn's next control event; what became void does not go out at all. */
  private before(event: LiveEvent): void {
    if (!("turn" in event)) return;
    if (event.event === "turn.discarded") {
      for (const [key, { event: waiting }] of this.merged) {
        if (waiting.turn === event.turn && waiting.call === event.call) this.drop(key, waiting);
      }
      return;
    }
    this.flush((waiting) => waiting.turn === event.turn);
  }

  private flush(which: (event: Delta) => boolean): void {
    for (const [key, { event, seq }] of this.merged) {
      if (!which(event)) continue;
      this.drop(key, event);
      this.pipe.send(frameText(event, seq));
    }
  }

  private drop(key: string, event: Delta): void {
    this.merged.delete(key);
    this.mergedSize -= event.text.length;
  }
}
