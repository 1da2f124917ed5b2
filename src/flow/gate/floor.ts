/**
 * The hard floor: what is denied in every mode, whatever a rule or a person said before. It works on guesses, because a
 * command that only may wipe the disk is bad enough; it is not the boundary (the sandbox is), it is the last sign before it.
 */
import type { ActionPlan, ShellCommand, ShellPlan } from "../../core/contracts/index.ts";
import { entered } from "../../core/kit/index.ts";
import { removedByCode, removesComputed, removesHome } from "./floor-code.ts";
import { deviceRedirect, deviceWord, isDisk } from "./floor-devices.ts";
import { type FloorWays, follow, leadsTo, waysFrom } from "./floor-dirs.ts";
import { destroysFound, startedByFind } from "./floor-found.ts";
import { holdsSecrets, isPrecious, piecesIn, secret } from "./floor-places.ts";
import { ownCommand, ownRequest } from "./own-commands.ts";
import { namesDoor, ownDoor } from "./own-doors.ts";
import { absolute } from "./paths.ts";
import { isLooker } from "./programs.ts";
import type { GatePlace } from "./rules.ts";
import {
  affectsMachine,
  COMPUTED_FOLDER,
  COMPUTED_REMOVAL,
  changesPermissions,
  DD_DISK,
  DELETES_HOME,
  deletesUnchecked,
  destroysDisk,
  FORK_BOMB,
  INIT_STATE,
  KILLS_ALL,
  NO_PRESERVE_ROOT,
  notParsed,
  OWN_GATEWAY,
  POLICY_IS_PEOPLES,
  readsEverything,
  SYSCTL,
  stopsMachine,
  TOO_LONG_TO_JUDGE,
  WIPES_MACHINE,
  wouldDelete,
  wouldDeleteIn,
} from "./words.ts";

const WIPES =
  /^(mkfs(\..*)?|mke2fs|mkswap|mkntfs|mkdosfs|wipefs|blkdiscard|shred|srm|wipe|scrub|nwipe|dban|sgdisk|sfdisk|fdisk|gdisk|cfdisk|parted|cryptsetup|hdparm|badblocks|pvremove|vgremove|lvremove|zpool|mdadm|diskutil|format|debugfs|tune2fs|fsck(\..*)?|e2fsck)$/;
const POWER =
  /^(shutdown|reboot|halt|poweroff|telinit|kexec|insmod|modprobe|rmmod|kmod|depmod|efibootmgr|grub-install|update-grub|flashrom|nvram|swapoff|killall5|pm-suspend|pm-hibernate|rtcwake|sysrq|bootctl|dracut|update-initramfs|vmlinuz)$/;
const READS_DEEP =
  /^(grep|egrep|fgrep|rgrep|zgrep|rg|ag|ack|cp|scp|rsync|tar|bsdtar|zip|7z|7za|cpio|rclone|restic|borg|duplicity|pax|dump|find|fd|xargs|chmod|chown|chgrp|mv|ln|setfacl|chattr)$/;

/** Programs the floor looks at more closely, beside those it knows by name alone. */
const WATCHED =
  /^(git|init|systemctl|loginctl|sysctl|kill|lares(\.m?js)?(@.*)?|main(\.(m?js|ts))?|node|nodejs|npx|npm|pnpm|yarn|bun|bunx|deno|tsx|sh|bash|dash|zsh|dd|tee|cat|install|truncate|fallocate|pv|ddrescue|dcfldd|dc3dd|sponge|losetup|mount|zcat|gunzip|xz|zstd|rm|srm|unlink|trash|rgrep|zgrep|egrep|fgrep|grep|rg|ag|ack|cp|scp|rsync|tar|bsdtar|zip|7za?|cpio|rclone|restic|borg|duplicity|pax|dump|find|fd|chmod|chown|chgrp|mv|ln|setfacl|chattr)$/;

/** The sentence that says why it is denied, or undefined. */
export function floor(plan: ActionPlan, place: GatePlace): string | undefined {
  // An agent that could change its own rules would have none.
  if (plan.changes === "policy" || plan.changes === "rights") {
    return POLICY_IS_PEOPLES;
  }
  if (plan.risk === "write" || plan.risk === "read") {
    for (const target of plan.targets) {
      const why = secret(target.startsWith("~") ? absolute(target, "/", place.userHome) : target, place);
      if (why) return why;
      if (plan.beyond && plan.tool === "search" && holdsSecrets(target, place))
        return readsEverything("search", target);
    }
  }
  return plan.shell ? shellFloor(plan.shell, place) : undefined;
}

function shellFloor(shell: ShellPlan, place: GatePlace): string | undefined {
  const bad = shell.reasons.find(
    (reason) => reason.kind === "unparsed" || reason.kind === "fork-bomb" || reason.kind === "computed-program",
  );
  // A `cd` may fail or lead anywhere, so each command is judged in every folder it may run in.
  const ways = waysFrom(shell, place.userHome);
  // What was cut off may be the path that is deleted.
  if (shell.isCut && shell.commands.some(isSweeping)) return TOO_LONG_TO_JUDGE;
  const started = shell.commands.filter(({ within }) => within.length > 0);
  const wrappers = new Set(started.flatMap(({ within }) => within));
  const inner = new Set(started.flatMap(({ words }) => words.map((word) => word.literal ?? word.guess)));
  const look: Look = { place, ways, paths: new Map(), wrappers, inner, steps: 0 };
  for (const command of shell.commands) {
    const read = readWords(command);
    const why = anywhere(read, look) ?? first(ways.dirs, (dir) => commandFloor(read, dir, look));
    if (why) return why;
    // Counted across the whole text: many small commands are as slow as a long one.
    if (look.steps > MOST_STEPS) return TOO_LONG_TO_JUDGE;
    follow(command, ways, place.userHome);
    if (ways.isLost) return TOO_LONG_TO_JUDGE;
  }
  if (feedsDoor(shell, place)) return OWN_GATEWAY;
  if (!bad) return undefined;
  return bad.kind === "fork-bomb" ? bad.text : notParsed(bad.text);
}

/**
 * A tree is removed, and which one is only known when it runs: it may be the whole disk. Nobody can say that it is, so it is asked
 * about in every mode.
 */
export function unseenRemoval(shell: ShellPlan): string | undefined {
  if (removesComputed(shell)) return COMPUTED_REMOVAL;
  let isSomewhere = false;
  for (const { words } of shell.commands) {
    const texts = words.map((word) => word.literal ?? word.guess);
    isSomewhere ||= /^(cd|pushd|chdir)$/.test(texts[0] ?? "") && words.some((word) => word.isUnseen);
    if (!isDeepRemoval(texts) || isLooker(baseName(texts[0] ?? ""))) continue;
    if (isSomewhere || words.some((word, i) => i > 0 && word.isUnseen)) return COMPUTED_FOLDER;
  }
  return undefined;
}

/** One command, with what holds in every folder. */
interface JudgedWords {
  command: ShellCommand;
  words: readonly string[];
  /** Where a program may begin. */
  starts: readonly number[];
}

function readWords(command: ShellCommand): JudgedWords {
  const words = command.words.map((word) => word.literal ?? word.guess);
  return { command, words, starts: startsIn(words) };
}

/** One look at one text: what was found out about a path holds for all its words. */
interface Look {
  place: GatePlace;
  ways: FloorWays;
  /** A `find` that looks through a place whose loss would be the machine's. */
  listed?: string;
  paths: Map<string, { secret: string | undefined; isPrecious: boolean }>;
  /** Programs that start others, and the words of those others. */
  wrappers: ReadonlySet<string>;
  inner: ReadonlySet<string>;
  steps: number;
}

/** Words times directories. A gate that takes seconds stops everybody's turns. */
const MOST_STEPS = 25_000;

function about(path: string, look: Look): { secret: string | undefined; isPrecious: boolean } {
  const seen = look.paths.get(path);
  if (seen) return seen;
  const found = { secret: secret(path, look.place), isPrecious: isPrecious(path, look.place) };
  look.paths.set(path, found);
  return found;
}

function first<T>(of: Iterable<T>, ask: (one: T) => string | undefined): string | undefined {
  for (const one of of) {
    const why = ask(one);
    if (why) return why;
  }
  return undefined;
}

/** What is wrong with a command wherever it runs. */
function anywhere({ command, words }: JudgedWords, look: Look): string | undefined {
  const name = baseName(words[0] ?? "");
  look.steps += words.length;
  if (command.within.some((one) => /^(xargs|parallel)$/.test(one)) && isDeepRemoval(words))
    return deletesUnchecked(command.within, name);
  if (look.listed !== undefined && takesFound(command, words)) return wouldDeleteIn(name, look.listed);
  // Printing a request may be how it is sent: `echo … | nc`.
  if (!isLooker(name) || name === "echo" || name === "printf") {
    const own = ownRequest(words);
    if (own) return own;
  }
  // Of what only looks, no word is dialled, but a redirection is.
  const door = ownAddress(command, isLooker(name) ? [] : words, look);
  if (door) return door;
  if (isLooker(name)) return undefined;
  for (const word of words.slice(1)) {
    if (/\bfork\b[\s\S]{0,40}\bwhile\b|\bwhile\b[\s\S]{0,40}\bfork\b|:\s*\(\s*\)\s*\{/.test(word)) return FORK_BOMB;
    if (removesHome(word)) return DELETES_HOME;
    for (const path of removedByCode(word)) {
      const { ways, place } = look;
      const ends = [...ways.dirs].flatMap((dir) =>
        leadsTo(path, dir, { ways, userHome: place.userHome, isItself: true }),
      );
      look.steps += ends.length;
      if (ends.some((end) => about(end, look).isPrecious)) return wouldDelete("", path);
    }
    if (wipesIn(word)) return WIPES_MACHINE;
  }
  return undefined;
}

function ownAddress(command: ShellCommand, words: readonly string[], look: Look): string | undefined {
  const name = baseName(words[0] ?? "");
  if (words.length === 0 && command.redirects.length === 0) return undefined;
  if (!look.place.doors || look.wrappers.has(`${name} -c`)) return undefined;
  const own = look.wrappers.has(name) ? words.filter((word) => !look.inner.has(word)) : words;
  return ownDoor(command, own, look.place.doors);
}

/** What is fed to a program by a here-document stands in no word. */
function feedsDoor({ reasons, commands, text }: ShellPlan, { doors }: GatePlace): boolean {
  if (!doors || !reasons.some(({ kind }) => kind.startsWith("heredoc"))) return false;
  const isOnlyKept = commands.every(
    ({ words }) => /^(|tee|cd|mkdir)$/.test(words[0]!.guess) || isLooker(baseName(words[0]!.guess)),
  );
  return !isOnlyKept && namesDoor([text], doors);
}

function commandFloor({ command, words, starts }: JudgedWords, cwd: string, look: Look): string | undefined {
  const { place } = look;
  for (const { operator, target, isDescriptor } of command.redirects) {
    if (isDescriptor) continue;
    if (target.guess === "") continue;
    for (const path of leadsTo(target.guess, cwd, { ways: look.ways, userHome: place.userHome })) {
      const why = deviceRedirect(path, operator) ?? about(path, look).secret;
      if (why) return why;
    }
  }
  // What a wrapper starts stands among the commands, and is judged there.
  const isWrapper = look.wrappers.has(baseName(words[0] ?? ""));
  const device = devices(isWrapper ? words.filter((word) => !look.inner.has(word)) : words, cwd, look);
  if (device) return device;
  // Wrappers such as `sudo` and `env` have their own options, so every word that names a dangerous program counts as one.
  if (starts.length > MOST_STARTS) return TOO_LONG_TO_JUDGE;
  look.steps += starts.length * words.length;
  return (
    first(starts, (from) => programFloor(words.slice(from), { cwd, look, isProgram: from === 0 })) ??
    first([...command.assignments.map(({ value }) => value.guess), ...words.slice(1)], (word) =>
      secretIn(word, cwd, look),
    )
  );
}

/** Only a word with a slash can be one, unless the text is in such a place or makes links. */
function devices(words: readonly string[], cwd: string, look: Look): string | undefined {
  const { ways, place } = look;
  const isNear = ways.links.size > 0 || /^\/(dev|proc|sys)(\/|$)/.test(cwd);
  return deviceWord(baseName(words[0] ?? ""), words, (word) => {
    if (!isNear && !word.includes("/")) return [];
    look.steps++;
    return leadsTo(word, cwd, { ways, userHome: place.userHome });
  });
}

/** Whether it is handed what a `find` before it found, and destroys it. */
function takesFound({ within, words, redirects }: ShellCommand, texts: readonly string[]): boolean {
  if (within.some((one) => /^(xargs|parallel)$/.test(one)) && destroysFound(texts, { appended: true })) return true;
  if (words.some((word) => word.isUnseen) && destroysFound(texts, { appended: false })) return true;
  const isBare = within.length > 0 || /^(:|true|)$/.test(texts[0] ?? "");
  return isBare && redirects.some(({ operator, target }) => operator.startsWith(">") && target.isUnseen);
}

function secretIn(word: string, cwd: string, look: Look): string | undefined {
  if (look.steps > MOST_STEPS) return TOO_LONG_TO_JUDGE;
  const pieces = piecesIn(word);
  look.steps += pieces.length;
  const { ways, place } = look;
  return first(pieces, (piece) =>
    first(leadsTo(piece, cwd, { ways, userHome: place.userHome }), (end) => about(end, look).secret),
  );
}

/** More words that are names of dangerous programs than this are nobody's honest command. */
const MOST_STARTS = 32;
/** Of the watched programs those that start others. */
const STARTS_OTHERS =
  /^(git|node|nodejs|npx|npm|pnpm|yarn|bun|bunx|deno|tsx|sh|bash|dash|zsh|find|fd|tar|bsdtar|rsync)$/;

/** Where a program may begin: with the first word; or, for what may start another one, with any. */
function startsIn(words: readonly string[]): number[] {
  const name = baseName(words[0] ?? "");
  if (isLooker(name) || (isWatched(name) && !STARTS_OTHERS.test(name))) return [0];
  return words.flatMap((word, i) => (i === 0 || isWatched(baseName(word)) ? [i] : []));
}

function isWatched(name: string): boolean {
  return WATCHED.test(name) || WIPES.test(name) || POWER.test(name);
}

/** `rm -r /` and its kin in a text: by its words, so that no text makes the look at it slow. */
function wipesIn(text: string): boolean {
  const words = text.split(/\s+/);
  for (let at = 0; at < words.length; at++) {
    if (!/\brm$/.test(words[at]!)) continue;
    let isRecursive = false;
    for (; /^-./.test(words[at + 1] ?? ""); at++) isRecursive ||= /[rR]/.test(words[at + 1]!);
    if (isRecursive && /^['"]?(?:\/|~|\$HOME)['"]?(?:\*|$|\/\*)/.test(words[at + 1] ?? "")) return true;
  }
  return false;
}

function programFloor(
  words: readonly string[],
  { cwd, look, isProgram }: { cwd: string; look: Look; isProgram: boolean },
): string | undefined {
  const { place } = look;
  const name = baseName(words[0] ?? "");
  if (!isWatched(name)) return undefined;
  const args = words.slice(1);
  const options = args.filter((arg) => arg.startsWith("-"));
  const operands = args.filter((arg) => !arg.startsWith("-"));
  const has = (letters: RegExp, long: RegExp) =>
    options.some((one) => (one.startsWith("--") ? long.test(one) : letters.test(one)));
  // Long options may be abbreviated, so a prefix is enough.
  const recursive = has(/[rR]/, /^--(r|rec.*|archive|dereference-rec.*)$/);
  const at = (word: string, isItself = false) =>
    leadsTo(word, cwd, { ways: look.ways, userHome: place.userHome, isItself });
  const losing = (of: readonly string[], isItself = false) =>
    of.find((word) => at(word, isItself).some((path) => about(path, look).isPrecious));

  // A mere word is no program: `npm run shutdown`.
  if (isProgram && WIPES.test(name)) return destroysDisk(name);
  if (isProgram && POWER.test(name)) return affectsMachine(name);
  if (isProgram && name === "init" && /^[0-6sS]$/.test(args[0] ?? "")) return INIT_STATE;
  if (
    /^(systemctl|loginctl)$/.test(name) &&
    args.some((arg) =>
      /^(reboot|poweroff|halt|kexec|suspend|hibernate|hybrid-sleep|rescue|emergency|isolate|soft-reboot|exit)$/.test(
        arg,
      ),
    )
  ) {
    return stopsMachine(name);
  }
  if (name === "sysctl" && args.some((arg) => arg.includes("=") || /^(-w|-p|--write|--load|--system)/.test(arg)))
    return SYSCTL;
  // Process 1 is the machine's, and -1 means all of them.
  if (name === "kill" && args.some((arg) => arg === "-1" || arg === "1") && operands.length + options.length > 1)
    return KILLS_ALL;
  const own = ownCommand(words, { ends: at, isProgram });
  if (own) return own;
  if (name === "dd" && args.some((arg) => arg.startsWith("of=") && at(arg.slice(3)).some(isDisk))) return DD_DISK;
  if (name === "rm" && has(/^$/, /^--no-preserve-root/)) return NO_PRESERVE_ROOT;
  const sweeps =
    (name === "rm" && recursive) ||
    name === "srm" ||
    (name === "rsync" && has(/^$/, /^--(del|remove)/)) ||
    (/^(bsd)?tar$/.test(name) && has(/^$/, /^--remove/)) ||
    (name === "zip" && has(/m/, /^--move/)) ||
    (/^7za?$/.test(name) && has(/^-sdel/, /^$/)) ||
    (/^(mv|unlink|trash)$/.test(name) && operands.length > 0);
  if (sweeps) {
    const lost = losing(operands, !/^(rsync|zip|7za?)$|tar$/.test(name));
    if (lost) return wouldDelete(name, placeName(lost, at));
  }
  if (/^(chmod|chown|chgrp|setfacl|chattr)$/.test(name) && recursive) {
    const lost = losing(operands);
    if (lost) return changesPermissions(name, placeName(lost, at));
  }
  if (name === "find" || name === "fd") {
    const why = findFloor(name, args, at, look);
    if (why) return why;
  }
  if (name === "git" && args.includes("clean") && has(/f/, /^--force/)) {
    const dirs = [".", ...entered(name, args)];
    const lost = losing(dirs);
    if (lost) return wouldDeleteIn("git clean", at(lost).at(-1) ?? lost);
  }
  // Reading all of a home means reading its keys, no matter what is searched for.
  if (READS_DEEP.test(name) && name !== "find" && name !== "fd" && name !== "xargs") {
    const deep =
      recursive ||
      /^(rg|ag|ack|rsync|tar|bsdtar|zip|7za?|cpio|rclone|restic|borg)$/.test(name) ||
      has(/a/, /^--archive/);
    const all = deep
      ? operands.find((word) => at(word.replace(/\/\*+$/, "")).some((path) => holdsSecrets(path, place)))
      : undefined;
    if (all) return readsEverything(name, all);
  }
  return undefined;
}

/** A word as it was written; dots and stars alone name no place, so what they stand for is named. */
function placeName(word: string, at: (word: string) => readonly string[]): string {
  return /^[.*/]*$/.test(word) && word !== "/" ? (at(word).at(-1) ?? word) : word;
}

function findFloor(
  name: string,
  args: readonly string[],
  at: (word: string) => string[],
  look: Look,
): string | undefined {
  const operands = args.filter((arg) => !arg.startsWith("-"));
  // Without a place to begin at, find begins where it stands.
  const isHere =
    name === "find" && (args.length === 0 || /^[-(!]/.test(args.find((arg) => !/^-[HLP]$/.test(arg)) ?? "-"));
  const root = (isHere ? [".", ...operands] : operands).find((word) =>
    at(word).some((path) => about(path, look).isPrecious),
  );
  if (root === undefined) return undefined;
  look.listed ??= root;
  const kills =
    args.includes("-delete") || startedByFind(args).some((words) => destroysFound(words, { appended: name === "fd" }));
  return kills ? wouldDeleteIn("find", at(root).at(-1) ?? root) : undefined;
}

/** `rm -r`, also behind `sudo` and its like. */
function isDeepRemoval(words: readonly string[]): boolean {
  const at = words.findIndex((word) => /^(rm|srm)$/.test(baseName(word)));
  if (at < 0) return false;
  return (
    baseName(words[at]!) === "srm" ||
    words.slice(at + 1).some((word) => /^-[A-Za-z]*[rR]/.test(word) || /^--rec/.test(word))
  );
}

/** What takes away or opens what is in a place: where its words lead has to be known. */
function isSweeping({ words }: ShellCommand): boolean {
  return words.some((word) => SWEEPS.test(baseName(word.literal ?? word.guess)));
}
const SWEEPS = /^(rm|srm|find|fd|chmod|chown|chgrp|setfacl|chattr|mv|unlink|trash|rsync|clean)$/;

function baseName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}
