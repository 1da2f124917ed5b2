/** Glyph, word and colour of every state: the same everywhere, also in the terminal. */
import { w } from "./words.ts";

export type Tone = "ok" | "wait" | "fail" | "unknown" | "dim" | "run";
const MARKS: Record<string, [glyph: string, tone: Tone]> = {
  queued: ["○", "dim"],
  running: ["●", "run"],
  intent: ["●", "run"],
  parked: ["◐", "wait"],
  pending: ["◐", "wait"],
  attention: ["◐", "wait"],
  answered: ["✓", "ok"],
  done: ["✓", "ok"],
  allowed: ["✓", "ok"],
  sent: ["✓", "ok"],
  missed: ["–", "wait"],
  skipped: ["–", "dim"],
  silent: ["–", "dim"],
  declined: ["–", "dim"],
  stopped: ["–", "dim"],
  denied: ["–", "dim"],
  expired: ["–", "dim"],
  withdrawn: ["–", "dim"],
  failed: ["✕", "fail"],
  cut: ["…", "wait"],
  unknown: ["?", "unknown"],
  uncertain: ["?", "unknown"],
  undelivered: ["✕", "fail"],
  retrying: ["↻", "wait"],
  joined: ["→", "dim"],
};

export function mark(state: string): { glyph: string; tone: string; word: string } {
  const [glyph, tone] = MARKS[state] ?? ["?", "unknown"];
  return { glyph, tone: tone === "run" ? "ok" : tone, word: w.state[state] ?? state };
}
/** How a turn is, with what makes its end worse than its state says: an answer that didn't arrive is not simply answered. */
export function readState({ state, doubt }: { state: string; doubt?: string | undefined }): string {
  return doubt && (state === "answered" || state === "silent") ? doubt : state;
}
export const isOpen = (state: string): boolean => state === "queued" || state === "running" || state === "parked";
