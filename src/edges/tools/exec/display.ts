/**
 * What a person sees of a command before saying yes (AP-09, AP-11): rendered from what runs. Long texts lose the dull parts in
 * the middle, with the count said; programs, targets, beginning and end always stay.
 */
import type { ShellPlan } from "../../../core/contracts/index.ts";
import { visible, visibleLine } from "../escape.ts";

/** What fits a chat message; longer than this loses its middle. */
export const SHOWN_WHOLE = 3000;
const HEAD = 900;
const TAIL = 900;
/** Kept on each side of something that matters. */
const AROUND = 60;
/** A row of blanks longer than this only pushes something out of sight. */
const BLANKS = /[ \t]{12,}/g;
const EMPTY_LINES = 4;

/** The text with everything that could hide something spelt out. */
export function spelt(text: string): string {
  return visible(text).replace(/[ \t\n]{4,}/g, (run) => {
    const behind = run.lastIndexOf("\n") + 1;
    const isTall = run.split("\n").length > EMPTY_LINES;
    return isTall
      ? counted(run.slice(0, behind)) + run.slice(behind).replace(BLANKS, counted)
      : run.replace(BLANKS, counted);
  });
}

function counted(blank: string): string {
  return ` [… ${blank.length} blanks …] `;
}

/** Each line marked as the command's, so that none of them can pass for a line of ours. */
export function asCommand(text: string): string {
  return text
    .split("\n")
    .map((line, i) => (i === 0 ? `$ ${line}` : `> ${line}`))
    .join("\n");
}

/** `parts` are texts inside that must stay visible. */
export function elide(text: string, parts: readonly string[]): string {
  const seen = spelt(text);
  if (seen.length <= SHOWN_WHOLE) return seen;
  const keep: [number, number][] = [
    [0, HEAD],
    [seen.length - TAIL, seen.length],
  ];
  for (const part of new Set(parts.map((one) => visible(one)))) {
    if (part.length < 2) continue;
    // What is too much to show even so is refused by the gate.
    for (let at = seen.indexOf(part), n = 0; at >= 0 && n < 100; at = seen.indexOf(part, at + part.length), n++) {
      keep.push([Math.max(0, at - AROUND), Math.min(seen.length, at + Math.min(part.length, 200) + AROUND)]);
    }
  }
  keep.sort((a, b) => a[0] - b[0]);
  let out = "";
  let at = 0;
  for (const [from, to] of keep) {
    if (to <= at) continue;
    if (from > at) out += `\n[… ${from - at} of ${seen.length} characters not shown …]\n`;
    out += seen.slice(Math.max(from, at), to);
    at = to;
  }
  return out;
}

/** The lines below the command: programs by their real names, what was decoded, what the repository would run. */
export function notes(plan: ShellPlan): string[] {
  const lines: string[] = [];
  const programs = new Set<string>();
  for (const { words, within, program } of plan.commands) {
    const name = words[0]!.literal ?? words[0]!.guess;
    // A plain command starts exactly this file; what a shell finds under a name is only known when it runs.
    const file =
      plan.form !== "shell" && within.length === 0 ? program?.[plan.form === "argv" ? "real" : "path"] : undefined;
    if (name !== "")
      programs.add(
        `${visibleLine(clip(file ?? name))}${within.length > 0 ? ` (in ${visibleLine(within.join(" > "))})` : ""}`,
      );
  }
  const all = [...programs];
  if (all.length > 0) {
    const more = all.length > LISTED ? ` and ${all.length - LISTED} more` : "";
    lines.push(`[${all.length === 1 ? "program" : "programs"}: ${all.slice(0, LISTED).join(", ")}${more}]`);
  }
  const targets = plan.commands.flatMap(({ redirects }) =>
    redirects
      .filter((r) => r.target.guess !== "")
      .map((r) => `${r.operator} ${visibleLine(clip(r.target.literal ?? r.target.guess))}`),
  );
  if (targets.length > 0) lines.push(`[files: ${[...new Set(targets)].slice(0, LISTED).join(", ")}]`);
  for (const reason of plan.reasons) if (reason.kind === "encoded") lines.push(`[${reason.text}]`);
  for (const setting of plan.settings ?? []) lines.push(`[git setting: ${visibleLine(clip(setting))}]`);
  return lines;
}

const LISTED = 40;

function clip(text: string): string {
  return text.length > 160 ? `${text.slice(0, 100)}[…]${text.slice(-40)}` : text;
}
