/**
 * The way of a path over the symbolic links that are there, part by part: after a link, `..` counts from what it leads to. The one
 * walk for all that wants to know where a word of a command really leads.
 */
import { dirname, join } from "node:path";
import { truthy } from "../../../core/kit/index.ts";
import type { Looks } from "./looks.ts";
import { fitsWildcards } from "./wildcards.ts";

export interface Link {
  /** The path of the link as the words say it, from the last link before it on. A pattern stays a pattern. */
  from: string;
  /** Where it leads, without links. */
  to: string;
}

interface Step {
  /** Where the words say we are. */
  text: string;
  /** Where we are. */
  at: string;
  /** Nothing is there: nothing is below it, either. */
  isGone?: true;
}

export interface Way {
  /** Every place it may end at; several only for patterns. */
  ends: string[];
  /** All links on it, the last part included. */
  links: Link[];
  /** It went up again after a link. */
  hasTurned: boolean;
}

/** For a pattern, this many matches are followed. */
const MOST_STEPS = 16;
/** A path that goes over more than this is nobody's honest path. */
const MOST_PARTS = 128;
/** Names that are longer cannot be, and patterns that are longer nobody needs. */
const LONGEST_PART = 255;

export async function findWay(path: string, from: string, looks: Looks): Promise<Way> {
  const start = path.startsWith("/") ? "/" : from;
  let steps: Step[] = [{ text: start, at: start }];
  const links = new Map<string, Link>();
  let hasTurned = false;
  const parts = path.split("/");
  if (parts.length > MOST_PARTS) looks.cut();
  for (const part of parts) {
    if (part === "" || part === ".") continue;
    if (looks.isCut) break;
    if (part === "..") {
      hasTurned ||= links.size > 0;
      steps = steps.map(({ text, at }) => ({ text: dirname(text), at: dirname(at) }));
      continue;
    }
    const next: Step[] = [];
    for (const step of steps) {
      const text = join(step.text, part);
      const itself: Step = { text, at: join(step.at, part), ...truthy({ isGone: step.isGone }) };
      next.push(itself);
      if (step.isGone) continue;
      for (const name of isPattern(part) ? await namesFor(part, step.at, looks) : [part]) {
        const at = join(step.at, name);
        const looked = looks.at(at);
        const found = looked instanceof Promise ? await looked : looked;
        if (!found?.isSymbolicLink()) {
          if (name !== part) next.push({ text, at });
          else if (!found) itself.isGone = true;
          continue;
        }
        const to = await looks.readTarget(at);
        links.set(`${text}\0${to}`, { from: text, to });
        // A name is its target; a pattern may still be something else.
        if (name === part) next.pop();
        next.push({ text: to, at: to });
      }
    }
    // The shorter a path, the more lies below it.
    steps = next.length > MOST_STEPS ? next.sort((a, b) => a.at.length - b.at.length).slice(0, MOST_STEPS) : next;
  }
  return { ends: [...new Set(steps.map(({ at }) => at))], links: [...links.values()], hasTurned };
}

function isPattern(part: string): boolean {
  return /[*?]/.test(part);
}

/** What the folder has that fits a pattern. */
async function namesFor(part: string, folder: string, looks: Looks): Promise<string[]> {
  if (part.length > LONGEST_PART) return [];
  return (await looks.below(folder)).filter((name) => fits(part, name));
}

/** As in a shell: `*` and `?`, and neither stands for a dot at the beginning. */
function fits(pattern: string, name: string): boolean {
  return !(name.startsWith(".") && !pattern.startsWith(".")) && fitsAny(pattern, name);
}

/** `*` and `?`, a dot at the beginning like any letter. */
export function fitsAny(pattern: string, name: string): boolean {
  return fitsWildcards(pattern, name, {
    isStar: (token) => token === "*",
    takes: (token, letter) => token === "?" || token === letter,
  });
}
