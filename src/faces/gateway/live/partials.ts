/**
 * What running turns have said so far, for a page that is opened in the middle. Memory only and bounded: when a turn ends
 * or parks the records have it all.
 */

import { type Json, type LiveEvent, messageIds } from "../../../core/domain/index.ts";
import type { Clock } from "../../../core/kit/index.ts";
import { truthy } from "../../../core/kit/index.ts";

export interface LiveCall {
  /** The history's id of this reply once it is recorded: a client that already has it there leaves it out here. */
  id: string;
  call: number;
  text: string;
  thinking: string;
}

export interface LiveTool {
  id: string;
  name: string;
  input: Json;
  startedAt: number;
  endedAt?: number;
  text?: string;
  isError?: boolean;
}

export interface LiveTurn {
  turn: string;
  session: string;
  startedAt: number;
  /** What it is doing this moment, e.g. `model:0`. */
  step: string;
  calls: LiveCall[];
  tools: LiveTool[];
  /** True when the beginning of a very long text was dropped. */
  cut: boolean;
}

interface Held extends LiveTurn {
  segment: number;
  size: number;
}

/** Turns at the same time; more run without a preview. */
const MOST_TURNS = 1024;
/** Characters kept of one turn. */
const LONGEST = 262_144;
const LONGEST_TOOL_TEXT = 8192;

export class Partials {
  private readonly turns = new Map<string, Held>();
  private readonly clock: Pick<Clock, "now">;

  constructor(clock: Pick<Clock, "now">) {
    this.clock = clock;
  }

  /** Few turns run at once, so looking through them is cheaper than keeping a second table true. */
  of(session: string): LiveTurn[] {
    return [...this.turns.values()]
      .filter((turn) => turn.session === session)
      .map(({ segment: _segment, size: _size, ...rest }) => ({
        ...rest,
        calls: rest.calls.map((c) => ({ ...c })),
        tools: rest.tools.map((t) => ({ ...t })),
      }));
  }

  take(event: LiveEvent) {
    switch (event.event) {
      case "turn.started":
        return this.start(event);
      case "turn.ended":
      case "turn.parked":
        this.turns.delete(event.turn);
        return;
      case "turn.step": {
        const turn = this.turns.get(event.turn);
        if (turn) turn.step = event.step;
        return;
      }
      case "turn.delta":
        return this.say(event.turn, event.call, "text", event.text);
      case "turn.thinking":
        return this.say(event.turn, event.call, "thinking", event.text);
      case "turn.discarded": {
        const turn = this.turns.get(event.turn);
        if (turn) turn.calls = turn.calls.filter((c) => c.call !== event.call);
        return;
      }
      case "tool.call": {
        const { id, name, input } = event;
        this.turns.get(event.turn)?.tools.push({ id, name, input, startedAt: this.clock.now() });
        return;
      }
      case "tool.result": {
        const tool = this.turns.get(event.turn)?.tools.find((t) => t.id === event.id);
        if (tool) {
          Object.assign(tool, {
            endedAt: this.clock.now(),
            text: event.text.slice(0, LONGEST_TOOL_TEXT),
            ...truthy({ isError: event.isError }),
          });
        }
        return;
      }
      default:
    }
  }

  private start({ turn, session, segment }: { turn: string; session: string; segment: number }): void {
    if (this.turns.size >= MOST_TURNS && !this.turns.has(turn)) return;
    const startedAt = this.clock.now();
    this.turns.set(turn, { turn, session, segment, startedAt, step: "", calls: [], tools: [], cut: false, size: 0 });
  }

  private say(id: string, call: number, kind: "text" | "thinking", text: string): void {
    const turn = this.turns.get(id);
    if (!turn) return;
    let at = turn.calls.find((c) => c.call === call);
    if (!at) {
      at = { id: messageIds.reply(id, turn.segment, call), call, text: "", thinking: "" };
      turn.calls.push(at);
    }
    turn.size += text.length;
    at[kind] += text;
    if (turn.size <= LONGEST) return;
    // Earlier calls are in the history by now; of one endless text the end is what a reader wants.
    turn.cut = true;
    turn.calls = [at];
    at.thinking = at.thinking.slice(-LONGEST / 4);
    at.text = at.text.slice(-LONGEST / 2);
    turn.size = at.text.length + at.thinking.length;
  }
}
