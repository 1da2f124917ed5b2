/**
 * Links on the way of a command's words. The gate compares paths as text; a symbolic link makes `notes/today` mean any file of the
 * machine.
 */
import { resolve } from "node:path";
import type { ShellCommand } from "../../../core/contracts/index.ts";
import { pathsInWord } from "../../../core/kit/index.ts";
import { type Looks, pathFrom, splitWord } from "./looks.ts";
import { type CommandPlace, type FoundLink, firstPart, hasOtherNames, type PathWays, placed } from "./placed.ts";
import { secretsMet } from "./searched.ts";
import { reachedUnnamed } from "./unnamed.ts";
import { findWay, type Link } from "./way.ts";

export { PathWays } from "./placed.ts";

/** Words that name or reach more than they say, by index; targets of redirections count on. */
export async function leadingOut(command: ShellCommand, around: CommandPlace, ways: PathWays): Promise<FoundLink[]> {
  const { words, redirects } = command;
  const { looks } = ways;
  const files = redirects.map(({ target, isDescriptor }) => (isDescriptor ? undefined : target.literal));
  const found: FoundLink[] = [];
  for (const [word, text] of [...words.map(({ literal }) => literal), ...files].entries()) {
    if (word === 0 || text === undefined) continue;
    for (const path of await namedIn(text, around.cwd, looks))
      found.push(...(await placed({ word, path }, around, ways)));
    // What nobody has looked at may lead anywhere.
    if (looks.isCut) return [...found, { word, path: text }];
  }
  for (const redirect of redirects) {
    const plain = await findPlainFile(redirect, around.cwd, looks);
    if (plain) Object.assign(redirect, { isPlainFile: true, ...plain });
  }
  if (words[0]!.literal === "tee") {
    command.plainFiles = [];
    for (const [word, target] of words.entries()) {
      const plain = word > 0 ? await findPlainFile({ operator: ">", target }, around.cwd, looks) : undefined;
      if (plain) command.plainFiles.push({ word, ...plain });
    }
  }
  found.push(...(await reachedUnnamed(command, around, ways)), ...(await secretsMet(command, around, ways.searches)));
  return found;
}

const MAY_RUN = 0o111n;

/** A new file or one that only holds something, reached without going over any link. */
async function findPlainFile(
  { operator, target, isDescriptor }: ShellCommand["redirects"][number],
  cwd: string,
  looks: Looks,
): Promise<{ bytes?: number } | undefined> {
  if (isDescriptor || target.literal === undefined || operator.startsWith("<")) return undefined;
  const { links } = await findWay(target.literal, cwd, looks);
  const stats = await looks.at(resolve(cwd, target.literal));
  if (looks.isCut || links.length > 0) return undefined;
  if (stats === undefined) return {};
  const isPlain = stats.isFile() && stats.nlink === 1n && (stats.mode & MAY_RUN) === 0n;
  return isPlain ? { bytes: Number(stats.size) } : undefined;
}

/** Names that are glued to one or two letters of options: `sort -oplan.txt`. The other words were looked at as paths. */
export async function lookAtGlued(
  commands: readonly ShellCommand[],
  { places, home, looks }: { places: readonly string[]; home: string; looks: Looks },
): Promise<void> {
  const words = new Set(commands.flatMap(({ words }) => words.map((word) => word.literal ?? word.guess)));
  for (const word of words) {
    if (!/^-[^-]/.test(word)) continue;
    for (const end of [word.slice(2), word.slice(3)])
      if (end !== "" && !looks.isCut) await looks.at(pathFrom(places[0]!, end, home));
  }
}

/** What is glued to an option counts when it begins with a link or has other names; most ends of options are no files. */
async function namedIn(text: string, cwd: string, looks: Looks): Promise<string[]> {
  const plain = pathsInWord(text);
  const glued: string[] = [];
  for (const end of splitWord(text).slice(plain.length))
    if (
      (await looks.at(resolve(cwd, firstPart(end))))?.isSymbolicLink() ||
      (await hasOtherNames(resolve(cwd, end), looks))
    )
      glued.push(end);
  return [...plain, ...glued];
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
      // The path to the working directory is already resolved.
      const isBelow = path.startsWith(`${places[0]}/`);
      const { links } = isBelow
        ? await findWay(path.slice(places[0]!.length + 1), places[0]!, looks)
        : await findWay(path, "/", looks);
      for (const { from, to } of links) {
        add(from, to);
        // The gate takes `~` for the home of Lares' owner.
        if (piece.startsWith("~/") && from.startsWith(`${home}/`)) add(`~${from.slice(home.length)}`, to);
      }
    }
  }
  return [...found.values()];
}
