/**
 * Names near to a path that is not there, so that a model that mistyped one finds it without another call. Looks only into the
 * agent's own folders, at a bounded number of names, and never through a link.
 *
 * The names are text from outside: anyone can name a file. Guests never get here (`opensFiles`).
 */
import { posix } from "node:path";
import type { ToolPlace } from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import { type Inside, walkTree, withInside } from "../../../core/files/index.ts";
import { distance } from "../../../core/kit/index.ts";
import { visibleLine } from "../escape.ts";
import { isBeyond, rooted } from "./rooted.ts";

type Where = Pick<ToolPlace, "workspace" | "roots" | "userHome" | "folder">;

/** Enough to choose from. */
const MOST_NAMED = 3;
/** Names looked at: in the folder itself (about 0.1 s), in one folder of the tree, and in the whole tree. */
const MOST_BESIDE = 50_000;
const MOST_IN_FOLDER = 2000;
const MOST_BELOW = 5000;
const DEPTH = 8;
/** Faults in a name: a mistyped, missing or extra letter, or two letters swapped. Elsewhere in the tree only the nearest count. */
const MOST_FAULTS = 5;
const FAULTS_BELOW = 2;
/** A longer name is not compared letter by letter. */
const LONGEST = 64;
const CLOSED = new Set([".git", "node_modules", ".lares"]);

/** Does the work; "there is no such file" then names what is near. */
export async function orNear<T>(place: Where, path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "NOT_FOUND") throw error;
    const near = await nearNames(place, path);
    if (near.length === 0) throw error;
    throw new AppError("NOT_FOUND", {
      message: `${error.message} ${didYouMean(near)}`,
      retry: error.retry,
      cause: error,
    });
  }
}

export function didYouMean(names: readonly string[]): string {
  const quoted = names.map((name) => `"${visibleLine(name)}"`);
  const last = quoted.pop();
  return `Did you mean ${quoted.length ? `${quoted.join(", ")} or ${last}` : last}?`;
}

/** At most three paths, the nearest first, written as the one that was given. Never throws. */
export async function nearNames(place: Where, path: string): Promise<string[]> {
  if (isBeyond(place, path)) return [];
  const at = rooted(place, path);
  const wanted = posix.basename(path);
  const found: { path: string; score: number }[] = [];
  await look(at.root, posix.dirname(at.path), async (inside) => {
    const { entries } = await inside.directory().entries(MOST_BESIDE);
    for (const { name } of entries) {
      const score = likeness(wanted, name, MOST_FAULTS);
      if (score !== undefined) found.push({ path: joined(inside, at, name), score });
    }
  });
  if (found.length < MOST_NAMED) {
    await look(at.root, ".", async (inside) => {
      let left = MOST_BELOW;
      for await (const entry of walkTree(inside.directory(), { depth: DEPTH, closed: CLOSED, names: MOST_IN_FOLDER })) {
        if (left-- <= 0) return;
        const score = likeness(wanted, entry.name, FAULTS_BELOW);
        if (score === undefined) continue;
        const whole = joined(inside, at, entry.path);
        if (!found.some((one) => one.path === whole))
          found.push({ path: whole, score: score + 0.5 + entry.depth / 100 });
        if (found.length > 10 * MOST_NAMED) return;
      }
    });
  }
  return found
    .sort((a, b) => a.score - b.score)
    .slice(0, MOST_NAMED)
    .map((one) => one.path);
}

/** Below the workspace by its relative path, elsewhere by the whole one: as models write them. */
function joined(inside: Inside, at: { root: string; path: string }, name: string): string {
  const below = inside.path === "." ? name : `${inside.path}/${name}`;
  return at.path.startsWith("/") ? `${at.root}/${below}` : below;
}

/** Smaller is nearer; undefined: too different. */
function likeness(wanted: string, name: string, faults: number): number | undefined {
  const [a, b] = [plain(wanted), plain(name)];
  if (a === b) return 0;
  const [stem, other] = [a.replace(ENDING, ""), b.replace(ENDING, "")];
  if (stem === other && stem !== "") return 1;
  if (a.length < 3 || a.length > LONGEST || b.length > LONGEST) return undefined;
  const most = Math.min(faults, Math.max(2, Math.floor(a.length / 3)));
  const d = Math.min(distance(a, b, most), stem.length < SHORT ? Infinity : 1 + distance(stem, other, most - 1));
  return d <= most ? 1 + d : undefined;
}

/** Of a shorter name without its ending, too little is left to be like another. */
const SHORT = 5;
const ENDING = /\.[^.]{1,8}$/;

/** Case, blanks and hyphens, and look-alikes of one letter in two ways of writing count for nothing. */
function plain(name: string): string {
  return name
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[\s_-]/g, "");
}

async function look(root: string, path: string, work: (inside: Inside) => Promise<void>): Promise<void> {
  try {
    await withInside({ root, path }, work);
  } catch {
    // Not there, closed to us, or swapped meanwhile: then there is nothing to name.
  }
}
