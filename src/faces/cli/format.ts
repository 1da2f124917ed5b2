/** Figures, states and foreign text as people read them (UI.md §3, §9). */
import type { TurnState, Usage } from "../../core/domain/index.ts";
import { figureWords as words } from "./words/figures.ts";
import { plural } from "./words/plural.ts";

export { plural };

export type Tone = "ok" | "wait" | "fail" | "dim" | "plain";

/** Glyph, word and tone of each state: the same in every face. */
export const STATES: Readonly<Record<TurnState, { glyph: string; word: string; tone: Tone }>> = {
  queued: { glyph: "○", word: words.states.queued, tone: "dim" },
  running: { glyph: "●", word: words.states.running, tone: "plain" },
  parked: { glyph: "◐", word: words.states.parked, tone: "wait" },
  answered: { glyph: "✓", word: words.states.answered, tone: "ok" },
  declined: { glyph: "–", word: words.states.declined, tone: "dim" },
  failed: { glyph: "✕", word: words.states.failed, tone: "fail" },
  stopped: { glyph: "–", word: words.states.stopped, tone: "dim" },
  joined: { glyph: "→", word: words.states.joined, tone: "dim" },
  silent: { glyph: "–", word: words.states.silent, tone: "dim" },
  attention: { glyph: "?", word: words.states.attention, tone: "wait" },
};

/** 0.02 s · 4.2 s · 42 s · 3 min 12 s · 12 min · 5 h 2 min · 3 d 4 h. */
export function duration(ms: number): string {
  const s = Math.max(ms, 0) / 1000;
  if (s < 0.005) return "< 0.01 s";
  if (s < 0.095) return `${s.toFixed(2)} s`;
  if (s < 9.95) return `${s.toFixed(1)} s`;
  const whole = Math.round(s);
  if (whole < 60) return `${whole} s`;
  const min = Math.floor(whole / 60);
  if (min < 10) return two(min, "min", whole % 60, "s");
  if (min < 60) return `${min} min`;
  const h = Math.floor(min / 60);
  if (h < 24) return two(h, "h", min % 60, "min");
  return two(Math.floor(h / 24), "d", h % 24, "h");
}

/** Time that still runs, in whole seconds: 0 s · 12 s · 3 min 4 s. */
export function elapsed(ms: number): string {
  const whole = Math.floor(Math.max(ms, 0) / 1000);
  return whole < 60 ? `${whole} s` : duration(whole * 1000);
}

function two(a: number, unitA: string, b: number, unitB: string): string {
  return b === 0 ? `${a} ${unitA}` : `${a} ${unitA} ${b} ${unitB}`;
}

export function ago(at: number, now: number): string {
  const ms = now - at;
  return ms < 5000 ? words.justNow : words.ago(elapsed(ms));
}

/** 950 · 16.6k · 1.2M. */
export function count(n: number): string {
  if (n < 1000) return String(n);
  return n < 999_950 ? `${trim(n / 1000)}k` : `${trim(n / 1_000_000)}M`;
}

function trim(n: number): string {
  return n.toFixed(1).replace(/\.0$/, "");
}

/** What is known of a sum, and for how many calls it is not known. */
export function spent(sum: { cost: number | null; calls: number; unknownPrice: number }): string {
  if (sum.cost === null || (sum.calls > 0 && sum.unknownPrice >= sum.calls)) return words.priceUnknown;
  const known = sum.cost === 0 ? "$0" : money(sum.cost);
  return sum.unknownPrice ? words.partlyKnown(known, sum.unknownPrice) : known;
}

/** An unknown price is said to be unknown, never shown as nothing. */
export function money(cost: number | null): string {
  if (cost === null) return words.priceUnknown;
  return `$${cost.toFixed(decimals(cost))}`;
}

/** Small amounts need more digits to say anything. */
function decimals(cost: number): number {
  if (cost >= 0.1) return 2;
  return cost >= 0.001 ? 3 : 5;
}

export function tokens(usage: Usage): number {
  return usage.inputTokens + usage.outputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
}

export function bytes(n: number): string {
  if (n < 1024) return `${n} B`;
  if (n >= 10_737_418_240) return `${Math.round(n / 1_073_741_824)} GB`;
  return n < 1_048_576 ? `${Math.round(n / 1024)} kB` : `${Math.round(n / 1_048_576)} MB`;
}

/** Local date and time with the zone: `2026-06-15 14:02:10 +01:00`. */
export function when(at: number): string {
  const d = new Date(at);
  const off = -d.getTimezoneOffset();
  const zone = `${off < 0 ? "-" : "+"}${pad(Math.floor(Math.abs(off) / 60))}:${pad(Math.abs(off) % 60)}`;
  return `${d.getFullYear()}-${pad(d.getMonth() + 1)}-${pad(d.getDate())} ${clockTime(at)} ${zone}`;
}

export function clockTime(at: number): string {
  const d = new Date(at);
  return `${pad(d.getHours())}:${pad(d.getMinutes())}:${pad(d.getSeconds())}`;
}

function pad(n: number): string {
  return String(n).padStart(2, "0");
}

/** The last characters of an id, by which it is shown and typed. */
export function shortId(id: string): string {
  return id.slice(-6);
}

// Control characters, and those that turn the direction of text: what was approved must be what is read.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Text of a model, a tool or a stranger, made safe for a terminal: nothing in it can move the cursor or hide. */
export function visible(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(HIDDEN, (sign) => {
    const code = sign.charCodeAt(0);
    return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16)}`;
  });
}

/** The same on one line. */
/** Somebody else's text with its lines and how far they are indented, such as JSON. */
export function manyLines(text: string, indent: string): string[] {
  return text.split("\n").map((line) => {
    const inner = line.length - line.trimStart().length;
    return `${indent}${" ".repeat(Math.min(inner, MOST_INDENT))}${oneLine(line)}`;
  });
}

const MOST_INDENT = 40;

export function oneLine(text: string): string {
  return visible(text).replace(/\s+/g, " ").trim();
}
