/** What a command would do, before anybody has said yes: what a person reads, and what the yes is bound to. */
import type { ActionPlan, ShellPlan } from "../../../core/contracts/index.ts";
import type { JsonObject, RunsWhere } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import { visibleLine } from "../escape.ts";
import type { SandboxRoom } from "../sandbox/index.ts";
import { codeTree, evaluatesData, loadsCode, obeysData } from "./code-tree.ts";
import type { Held } from "./directory.ts";
import { asCommand, elide, notes, SHOWN_WHOLE, spelt } from "./display.ts";
import { DEFAULT_S, type ExecInput } from "./input.ts";
import { linksOnTheWay, lookAtGlued } from "./links.ts";
import { Looks, listPlaces } from "./looks.ts";
import { namedFiles, readFiles } from "./named-files.ts";
import { actsOnData, changesFound, readsFolders } from "./obeys.ts";
import type { Prepared } from "./prepare.ts";
import type { Link } from "./way.ts";
import {
  COVERED,
  IN_BACKGROUND,
  inFolder,
  NOT_COVERED,
  ON_TERMINAL,
  ONCE,
  ONCE_EVALUATED,
  ONCE_FOUND,
  ONCE_TOO_MANY,
  PARTLY_COVERED,
  upTo,
} from "./words.ts";

/** Part of a saved approval: what was always allowed in a sandbox asks again once there is no sandbox. */
const UNCONFINED = "without a sandbox";

/** What is known about a command once its words, its folder and its sandbox are. */
export interface Planned {
  given: ExecInput;
  prepared: Prepared;
  held: Held;
  room: SandboxRoom | undefined;
  /** Names of the secrets it gets. */
  secrets: readonly string[];
}

export async function planCommand({ given, prepared, held, room, secrets }: Planned): Promise<ActionPlan> {
  const { shell } = prepared;
  // The files its patterns and redirections are about are those of the other machine.
  if (room?.name === "ssh") {
    delete shell.settled;
    for (const command of shell.commands) {
      delete command.plainFiles;
      for (const redirect of command.redirects) delete redirect.isPlainFile;
    }
  }
  const whole = spelt(prepared.said);
  const code = await lookAtCode(prepared, held);
  const { followed, named, fed, once, isCut } = await lookAtFiles(prepared, held);
  const where = describeWhere(given, held.path, room);
  const below = [
    ...(code ? [code.covered] : []),
    ...(secrets.length ? [`[with the secrets ${secrets.join(", ")}]`] : []),
    where.line,
  ];
  return {
    tool: "exec",
    risk: "exec",
    targets: [...listTargets(prepared, held), ...fed, ...followed, ...describePlace(room)],
    shown: [...show(prepared), ...below].join("\n"),
    ...(whole.length > SHOWN_WHOLE ? { whole: [asCommand(whole), ...notes(shell), ...below].join("\n") } : {}),
    where,
    ...truthy({ once: code?.once ?? once }),
    ...truthy({ unbound: isCut || code?.isPartial }),
    ...truthy({ starts: given.background }),
    binding: {
      argv: [...prepared.argv],
      argv0: prepared.argv0 ?? null,
      timeout_s: given.timeout_s ?? DEFAULT_S,
      background: given.background ?? false,
      pty: given.pty ?? false,
      cwd: held.path,
      cwd_id: held.identity,
      env: prepared.env,
      secrets: [...secrets],
      sandbox: room ? boundTo(room) : null,
      files: prepared.files,
      links: followed,
      ...(code ? { tree: code.hash } : {}),
      ...truthy({ named }),
      settings: shell.settings ?? [],
    },
    shell,
  };
}

/** A command in a folder that is not the agent's: nothing of it is looked at, and the gate refuses it. */
export function planOutside(given: ExecInput, why: string): ActionPlan {
  const { command, cwd = "." } = given;
  const where = describeWhere(given, cwd);
  return {
    tool: "exec",
    risk: "exec",
    targets: [command],
    shown: `${asCommand(elide(command, []))}\n${where.line}`,
    where,
    binding: { command, cwd },
    outside: why,
  };
}

interface SeenCode {
  /** Why no "always" can cover it. */
  once: string;
  hash: string | null;
  /** How much of it a change would be noticed in. */
  covered: string;
  isPartial: boolean;
}

/** The code in the workspace that the command would run, if it runs any, or the data that its shell may take for code. */
async function lookAtCode({ shell }: Prepared, { home, root }: Held): Promise<SeenCode | undefined> {
  const isLoading = loadsCode(shell);
  if (!isLoading && !evaluatesData(shell)) return undefined;
  const once = isLoading ? ONCE : ONCE_EVALUATED;
  const tree = await codeTree(root === home ? [home] : [home, root]);
  if (tree === undefined) return { once, hash: null, covered: NOT_COVERED, isPartial: true };
  return { once, hash: tree.hash, covered: tree.isWhole ? COVERED : PARTLY_COVERED, isPartial: !tree.isWhole };
}

/** The files and links its words lead to. What the gate has to know of them is added to the shell's facts. */
async function lookAtFiles({ shell }: Prepared, held: Held) {
  const looks = new Looks();
  const places = listPlaces(shell.commands, held.path, held.home);
  const around = { places, home: held.home, looks };
  const links = await linksOnTheWay(shell.commands, around);
  if (links.length > 0) shell.links = links;
  const followed = followedIn(links, held);
  if (looks.isCut) shell.isCut = true;
  const named = await namedFiles(shell.commands, around);
  const isObeying = obeysData(shell) || actsOnData(shell.commands, held);
  const obeyed = isObeying ? await readFiles(shell.commands, around) : undefined;
  // "Allow always" was said to what the files say now.
  const fed = obeyed?.hash ? [`with files ${obeyed.hash}`] : [];
  if (obeyed?.isFolder && readsFolders(shell.commands)) fed.push(`in a tree ${(await codeTree([held.home]))?.hash}`);
  await lookAtGlued(shell.commands, around);
  const hardLinks = looks.hardLinked().filter((path) => isIn(path, held));
  if (hardLinks.length > 0) shell.hardLinks = hardLinks;
  return { followed, named, fed, once: chooseOnce(shell, isObeying && looks.isCut), isCut: looks.isCut };
}

function chooseOnce({ commands }: ShellPlan, isTooMany: boolean): string | undefined {
  if (isTooMany) return ONCE_TOO_MANY;
  return changesFound(commands) ? ONCE_FOUND : undefined;
}

/** Where, how long, and what shuts it in. The line is the last one a person reads. */
function describeWhere(
  { timeout_s = DEFAULT_S, background, pty }: ExecInput,
  path: string,
  room?: SandboxRoom,
): RunsWhere {
  const folder = visibleLine(path);
  const sandbox = room && visibleLine(room.where);
  const long = background ? IN_BACKGROUND : upTo(timeout_s);
  const parts = [inFolder(folder), long, pty ? ON_TERMINAL : "", sandbox ?? ""].filter(Boolean);
  return {
    folder,
    ...(background ? { background: true } : {}),
    ...(pty ? { terminal: true } : {}),
    ...truthy({ sandbox }),
    line: `[${parts.join(", ")}]`,
  };
}

/** Somebody who said yes to a sandbox did not say yes to none, nor to another machine or image. */
function boundTo({ name, where, rules }: SandboxRoom): JsonObject {
  // Why there is no sandbox may be said differently from one moment to the next.
  return {
    name,
    where: name === "none" ? "" : where,
    network: rules.network,
    writable: [...rules.writable],
    readable: [...rules.readable],
  };
}

/** What "allow always" keeps of the place: another host or another image asks again. */
function describePlace(room: SandboxRoom | undefined): string[] {
  if (room === undefined || room.name === "bubblewrap") return [];
  return [room.name === "none" ? UNCONFINED : room.where];
}

function show({ shell, said }: Prepared): string[] {
  const parts = shell.commands.flatMap(({ words, redirects }) => [
    words[0]!.literal ?? words[0]!.guess,
    ...redirects.map(({ operator, target }) => `${operator} ${target.guess}`),
  ]);
  return [asCommand(elide(said, parts)), ...notes(shell)];
}

/**
 * The links in the agent's folders that its words go over. Somebody who said yes to `rm -rf build` did not say yes to where a link
 * named `build` leads later.
 */
function followedIn(links: readonly Link[], held: Held): string[] {
  return links
    .filter(({ from }) => isIn(from, held))
    .map(({ from, to }) => `${from} -> ${to}`)
    .sort();
}

function isIn(path: string, { home, roots }: Held): boolean {
  return [home, ...roots].some((folder) => path.startsWith(`${folder}/`));
}

function listTargets({ argv, files }: Prepared, { path, home }: Held): string[] {
  const here = path === home ? [] : [`in ${path}`];
  return [...argv, ...here, ...files.map((file) => `${file.path} sha256 ${file.sha256}`)];
}
