/**
 * Where the hunks of one file go, as pure functions. First exactly; then without regard to trailing blanks, then to
 * indentation; then, where the patch gives line numbers, without the outermost lines of context, as patch(1) does. A hunk that
 * fits in several places goes to the one its line number is nearest to; without a number it is refused.
 */

import { truthy } from "../../../../core/kit/index.ts";
import { wrongInput } from "../../paths/index.ts";
import { LineIndex } from "../line-index.ts";
import { nearest, nearestWords } from "../nearest.ts";
import type { Hunk, HunkLine } from "./parse.ts";

export interface Fitted {
  text: string;
  added: number;
  removed: number;
  /** How a hunk was placed, when not exactly where the patch says; sentences for the model. */
  notes: string[];
  /** Where each hunk went: its first line in the old file, from 1. */
  lines: number[];
  /** The first new lines, with their numbers in the new file. */
  fresh: { line: number; text: string }[];
}

/** patch(1) drops up to this many lines of context. */
const MOST_FUZZ = 2;
/** Each hunk is sought in the whole rest of the file. */
const MOST_HUNKS = 500;
/** New lines that are shown again. */
const MOST_FRESH = 12;

export function fitHunks(name: string, text: string, hunks: readonly Hunk[]): Fitted {
  const usesCrlf = text.includes("\r\n") && !/(^|[^\r])\n/.test(text);
  let isOpen = text !== "" && !text.endsWith("\n");
  const old = text === "" ? [] : (isOpen ? text : text.slice(0, -1)).split("\n");
  if (hunks.length > MOST_HUNKS) {
    throw wrongInput(
      `The patch has ${hunks.length} hunks for ${name}; at most ${MOST_HUNKS} are allowed. Nothing was changed.`,
      "Make it several patches, or write the whole file.",
    );
  }
  const file = new OldFile(old);
  const out: string[] = [];
  const fitted: Fitted = { text: "", added: 0, removed: 0, notes: [], lines: [], fresh: [] };
  let from = 0;
  let drift = 0;
  for (const [i, hunk] of hunks.entries()) {
    const label = `Hunk ${i + 1} of ${hunks.length} in ${name}`;
    const spot = place(file, hunk, { from, drift, label });
    for (let i = from; i < spot.at; i++) out.push(old[i]!);
    let at = spot.at;
    for (const { kind, text: line } of spot.lines) {
      if (kind === "+") {
        out.push(usesCrlf ? `${line}\r` : line);
        fitted.added++;
        if (fitted.fresh.length < MOST_FRESH) fitted.fresh.push({ line: out.length, text: line });
        continue;
      }
      // A line of context stays as the file has it, also where it was matched loosely.
      if (kind === " ") out.push(old[at]!);
      else fitted.removed++;
      at++;
    }
    if (at === old.length && hunk.newIsOpen) isOpen = true;
    else if (at === old.length && hunk.oldIsOpen) isOpen = false;
    if (spot.note) fitted.notes.push(`${label} ${spot.note}.`);
    if (hunk.line) drift = spot.at + 1 - hunk.line;
    fitted.lines.push(spot.at + 1);
    from = at;
  }
  for (let i = from; i < old.length; i++) out.push(old[i]!);
  fitted.text = out.length === 0 ? "" : out.join("\n") + (isOpen ? "" : "\n");
  return fitted;
}

const BACKWARDS = { "+": "-", "-": "+", " ": " " } as const;

/** The same hunks backwards: whether a file already has what they make of it. */
export function reversed(hunks: readonly Hunk[]): Hunk[] {
  return hunks.map((hunk) => {
    const { line: _line, oldIsOpen, newIsOpen, ...rest } = hunk;
    const turned = hunk.lines.map((one): HunkLine => {
      return { kind: BACKWARDS[one.kind], text: one.text };
    });
    return {
      ...rest,
      lines: turned,
      ...truthy({ newIsOpen: oldIsOpen, oldIsOpen: newIsOpen }),
    };
  });
}

interface Spot {
  at: number;
  lines: HunkLine[];
  note?: string;
}

function place(file: OldFile, hunk: Hunk, where: { from: number; drift: number; label: string }): Spot {
  const { from, drift, label } = where;
  const { lines: old } = file;
  const start = hunk.after === undefined ? from : named(file, hunk.after, from, label);
  const wanted = hunk.line === undefined ? undefined : hunk.line - 1 + drift;
  if (hunk.lines.every((line) => line.kind === "+")) {
    // Nothing to match: after the numbered line, behind the named one, or at the end.
    const behindNamed = hunk.after === undefined ? old.length : start + 1;
    const at = wanted === undefined ? behindNamed : wanted + (hunk.line === 0 ? 0 : 1);
    return { at: Math.min(Math.max(at, from), old.length), lines: hunk.lines };
  }
  for (const { lines, same, note } of ways(hunk)) {
    const sought = lines.filter((line) => line.kind !== "+").map((line) => line.text);
    const found = file.places(sought, start, same).filter((at) => !hunk.atEnd || at + sought.length === old.length);
    const at = choose(found, wanted, hunk.after !== undefined);
    if (at === "many") {
      const places = found.map((one) => one + 1);
      throw wrongInput(
        `${label} ("${hunk.title}") fits in ${found.length} places (lines ${places.slice(0, 10).join(", ")}); nothing was changed.`,
        "Give more lines of context, so that it fits in one.",
      );
    }
    if (at === undefined) continue;
    const away = wanted === undefined ? 0 : Math.abs(at - wanted);
    const moved = away > 0 && drift !== at - (hunk.line! - 1) ? `was placed at line ${at + 1}` : undefined;
    const told = [moved, note].filter(Boolean).join(" and ");
    return { at, lines, ...truthy({ note: told }) };
  }
  const sought = hunk.lines.filter((line) => line.kind !== "+").map((line) => line.text);
  const near = nearestWords(nearest(old.join("\n"), sought.join("\n")));
  throw wrongInput(
    `${label} ("${hunk.title}") does not fit: its old lines, beginning with "${(sought.find((l) => l.trim()) ?? "").slice(0, 200)}", are not there${start > 0 ? ` after line ${start}` : ""}; nothing was changed.${near}`,
    "Read the file again and make the patch from what it says.",
  );
}

/** How two lines are compared: as they are, without trailing blanks, without indentation. */
type Same = "exactly" | "but trailing" | "but indent";

const PLAIN: Readonly<Record<Same, (line: string) => string>> = {
  exactly: (line) => line,
  "but trailing": (line) => line.trimEnd(),
  "but indent": (line) => line.trim(),
};

/** The file's lines, indexed for each way of comparing when that is first asked for. */
class OldFile {
  readonly lines: readonly string[];
  readonly #indexes = new Map<string, LineIndex>();
  readonly #hasReturns: boolean;

  constructor(lines: readonly string[]) {
    this.lines = lines;
    this.#hasReturns = lines.some((line) => line.endsWith("\r"));
  }

  places(sought: readonly string[], from: number, same: Same): number[] {
    const found = this.#index(same, PLAIN[same]).places(sought.map(PLAIN[same]), from);
    if (same !== "exactly" || !this.#hasReturns) return found;
    // A patch is mostly made without a file's carriage returns.
    const bare = this.#index("no return", (line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
    return [...new Set([...found, ...bare.places(sought, from)])].sort((a, b) => a - b);
  }

  #index(name: string, plain: (line: string) => string): LineIndex {
    const known = this.#indexes.get(name) ?? new LineIndex(this.lines.map(plain));
    this.#indexes.set(name, known);
    return known;
  }
}

function* ways(hunk: Hunk): Generator<{ lines: HunkLine[]; same: Same; note?: string }> {
  const { lines } = hunk;
  yield { lines, same: "exactly" };
  yield { lines, same: "but trailing", note: "matched only when trailing spaces were ignored" };
  yield { lines, same: "but indent", note: "matched only when indentation was ignored" };
  if (hunk.line === undefined) return;
  for (let fuzz = 1; fuzz <= MOST_FUZZ; fuzz++) {
    const fewer = trimmed(lines, fuzz);
    // Without a single old line left it would fit everywhere.
    if (fewer.every((line) => line.kind === "+")) return;
    yield {
      lines: fewer,
      same: "exactly",
      note: `matched only without ${fuzz} outer ${fuzz === 1 ? "line" : "lines"} of context`,
    };
  }
}

function trimmed(lines: readonly HunkLine[], fuzz: number): HunkLine[] {
  const first = lines.findIndex((line) => line.kind !== " ");
  const last = lines.findLastIndex((line) => line.kind !== " ");
  return lines.slice(Math.min(fuzz, first), lines.length - Math.min(fuzz, lines.length - 1 - last));
}

function choose(found: readonly number[], wanted: number | undefined, first: boolean): number | "many" | undefined {
  if (found.length <= 1 || first) return found[0];
  if (wanted === undefined) return "many";
  const byDistance = [...found].sort((a, b) => Math.abs(a - wanted) - Math.abs(b - wanted));
  const isTie = Math.abs(byDistance[0]! - wanted) === Math.abs(byDistance[1]! - wanted);
  return isTie ? "many" : byDistance[0];
}

function named(file: OldFile, name: string, from: number, label: string): number {
  for (const same of ["exactly", "but trailing", "but indent"] as const) {
    const at = file.places([name], from, same)[0];
    // The line itself counts too: it is often repeated as the first line of context.
    if (at !== undefined) return at;
  }
  const near = nearestWords(nearest(file.lines.join("\n"), name));
  throw wrongInput(
    `${label}: the line its "@@" names ("${name.slice(0, 200)}") is not there; nothing was changed.${near}`,
    "Read the file again and make the patch from what it says.",
  );
}
