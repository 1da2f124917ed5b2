/**
 * Links on the way of a command's words. The gate compares paths as text; a symbolic link makes `notes/today` mean any file of the
 * machine.
 */
import { resolve } from "node:path";
import type { ShellCommand } from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import { pathsInWord } from "../../../core/kit/index.ts";
import { withInside } from "../paths/index.ts";
import { Looks, pathFrom, piecesOf } from "./looks.ts";
import { type Link, wayOf } from "./way.ts";

export interface Around {
  /** Real path of the working directory. */
  cwd: string;
  /** Real path of the workspace. */
  home: string;
  /** Other folders of the agent. */
  roots?: readonly string[];
}

/** What was found out for one text in one directory. Its commands may name the same paths hundreds of times. */
export class Ways {
  readonly looks = new Looks();
  private readonly answers = new Map<string, boolean>();

  async leadOut(path: string, around: Around): Promise<boolean> {
    const known = this.answers.get(path);
    if (known !== undefined) return known;
    const answer = await leads(path, around, this.looks);
    this.answers.set(path, answer);
    return answer;
  }
}

/** Words that name something in the workspace which really lies elsewhere, by index; targets of redirections count on. */
export async function leadingOut(
  { words, redirects }: ShellCommand,
  around: Around,
  ways: Ways,
): Promise<NonNullable<ShellCommand["links"]>> {
  const { looks } = ways;
  const files = redirects.map(({ target, isDescriptor }) => (isDescriptor ? undefined : target.literal));
  const found: NonNullable<ShellCommand["links"]> = [];
  for (const [word, text] of [...words.map(({ literal }) => literal), ...files].entries()) {
    if (word === 0 || text === undefined) continue;
    for (const path of await namedIn(text, around.cwd, looks)) {
      if (await ways.leadOut(path, around)) found.push({ word, path });
      else if (await hasOtherNames(resolve(around.cwd, path), looks)) found.push({ word, path, isHard: true });
    }
    // What nobody has looked at may lead anywhere.
    if (looks.isCut) return [...found, { word, path: text }];
  }
  return found;
}

/** Another name of the same file may lie outside, and what is written to one is in the other. */
async function hasOtherNames(path: string, looks: Looks): Promise<boolean> {
  const stats = await looks.at(path);
  if (!stats?.isFile()) return false;
  return stats.nlink > 1n;
}

/** Names that are glued to one or two letters of options: `sort -oplan.txt`. The other words were looked at as paths. */
export async function lookAtGlued(
  commands: readonly ShellCommand[],
  { places, home, looks }: { places: readonly string[]; home: string; looks: Looks },
): Promise<void> {
  const words = new Set(commands.flatMap(({ words }) => words.map((word) => word.literal ?? word.guess)));
  for (const word of words) {
    if (!/^-[A-Za-z]/.test(word)) continue;
    for (const end of [word.slice(2), word.slice(3)])
      if (end !== "" && !looks.isCut) await looks.at(pathFrom(places[0]!, end, home));
  }
}

/** What is glued to an option counts when it begins with a link or has other names; most ends of options are no files. */
async function namedIn(text: string, cwd: string, looks: Looks): Promise<string[]> {
  const plain = pathsInWord(text);
  const glued: string[] = [];
  for (const end of piecesOf(text).slice(plain.length))
    if (
      (await looks.at(resolve(cwd, firstPart(end))))?.isSymbolicLink() ||
      (await hasOtherNames(resolve(cwd, end), looks))
    )
      glued.push(end);
  return [...plain, ...glued];
}

async function leads(path: string, { cwd, home, roots: others = [] }: Around, looks: Looks): Promise<boolean> {
  const roots = [home, ...others];
  const at = resolve(cwd, path);
  // Most words are no files.
  if (!(await looks.at(resolve(cwd, firstPart(path))))) return false;
  if (path.includes("..")) {
    const { ends, hasTurned } = await wayOf(path, cwd, looks);
    if (hasTurned && ends.some((end) => !roots.some((root) => end === root || end.startsWith(`${root}/`)))) return true;
  }
  const root = roots.find((one) => at.startsWith(`${one}/`));
  // What lies outside by its name is the gate's own business.
  if (root === undefined) return false;
  try {
    await withInside({ root, path: at, parents: "imagine" }, async () => {});
    return false;
  } catch (error) {
    return error instanceof AppError && error.code === "PATH_OUTSIDE";
  }
}

/**
 * Every link that words of the text may go over, from any directory it may stand in: what an earlier call linked, a later one can
 * empty by that name.
 */
export async function linksOnTheWay(
  commands: readonly ShellCommand[],
  /** The working directory is the first of the places. */
  { places, home, looks }: { places: readonly string[]; home: string; looks: Looks },
): Promise<Link[]> {
  const found = new Map<string, Link>();
  const add = (from: string, to: string) => found.set(`${from}\0${to}`, { from, to });
  const texts = commands.flatMap(({ words, redirects, assignments }) => [
    ...words,
    ...redirects.map(({ target }) => target),
    ...assignments.map(({ value }) => value),
  ]);
  const words = new Set(texts.map((word) => word.literal ?? word.guess));
  const pieces = new Set([...words].flatMap(pathsInWord));
  for (const piece of pieces) {
    for (const place of /^[/~]/.test(piece) ? [home] : places) {
      if (looks.isCut) return [...found.values()];
      const path = pathFrom(place, piece, home);
      // The way to the working directory has no links any more.
      const isBelow = path.startsWith(`${places[0]}/`);
      const { links } = isBelow
        ? await wayOf(path.slice(places[0]!.length + 1), places[0]!, looks)
        : await wayOf(path, "/", looks);
      for (const { from, to } of links) {
        add(from, to);
        // The gate takes `~` for the home of Lares' owner.
        if (piece.startsWith("~/") && from.startsWith(`${home}/`)) add(`~${from.slice(home.length)}`, to);
      }
    }
  }
  return [...found.values()];
}

function firstPart(path: string): string {
  const end = path.indexOf("/");
  return end > 0 ? path.slice(0, end) : path;
}
