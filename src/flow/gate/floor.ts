/**
 * The hard floor: what is denied in every mode, whatever a rule or a person said before. It works on guesses, because a
 * command that only may wipe the disk is bad enough; it is not the boundary (the sandbox is), it is the last sign before it.
 */
import type { ActionPlan, ShellCommand, ShellPlan } from "../../core/contracts/index.ts";
import { entered } from "../../core/kit/index.ts";
import { follow, leadsTo, type Ways, waysFrom } from "./floor-dirs.ts";
import { holdsSecrets, isPrecious, piecesIn, secret } from "./floor-places.ts";
import { ownCommand, ownRequest } from "./own-commands.ts";
import { absolute } from "./paths.ts";
import { isLooker } from "./programs.ts";
import type { Place } from "./rules.ts";

const HARMLESS_DEVICE =
  /^\/dev\/(null|zero|full|random|urandom|stdin|stdout|stderr|tty|ptmx|fd(\/.*)?|pts(\/.*)?|shm(\/.*)?)$/;
const BLOCK_DEVICE =
  /^\/dev\/(sd|hd|vd|xvd|nvme|mmcblk|disk|mapper|md|dm-|loop|ram|zram|sr|nbd|rbd|bcache|block|rdisk|dasd|pmem|mtd|ubi|\*)/;
const WIPES =
  /^(mkfs(\..*)?|mke2fs|mkswap|mkntfs|mkdosfs|wipefs|blkdiscard|shred|srm|wipe|scrub|nwipe|dban|sgdisk|sfdisk|fdisk|gdisk|cfdisk|parted|cryptsetup|hdparm|badblocks|pvremove|vgremove|lvremove|zpool|mdadm|diskutil|format|debugfs|tune2fs|fsck(\..*)?|e2fsck)$/;
const POWER =
  /^(shutdown|reboot|halt|poweroff|telinit|kexec|insmod|modprobe|rmmod|kmod|depmod|efibootmgr|grub-install|update-grub|flashrom|nvram|swapoff|killall5|pm-suspend|pm-hibernate|rtcwake|sysrq|bootctl|dracut|update-initramfs|vmlinuz)$/;
const READS_DEEP =
  /^(grep|egrep|fgrep|rgrep|zgrep|rg|ag|ack|cp|scp|rsync|tar|bsdtar|zip|7z|7za|cpio|rclone|restic|borg|duplicity|pax|dump|find|fd|xargs|chmod|chown|chgrp|mv|ln|setfacl|chattr)$/;

/** Programs the floor looks at more closely, beside those it knows by name alone. */
const WATCHED =
  /^(git|init|systemctl|loginctl|sysctl|kill|lares(\.m?js)?|main\.(m?js|ts)|node|nodejs|npx|npm|pnpm|yarn|bun|bunx|deno|tsx|sh|bash|dash|zsh|dd|tee|cat|install|truncate|fallocate|pv|ddrescue|dcfldd|dc3dd|sponge|losetup|mount|zcat|gunzip|xz|zstd|rm|srm|unlink|trash|rgrep|zgrep|egrep|fgrep|grep|rg|ag|ack|cp|scp|rsync|tar|bsdtar|zip|7za?|cpio|rclone|restic|borg|duplicity|pax|dump|find|fd|chmod|chown|chgrp|mv|ln|setfacl|chattr)$/;

/** The sentence that says why it is denied, or undefined. */
export function floor(plan: ActionPlan, place: Place): string | undefined {
  if (plan.changes === "policy" || plan.changes === "rights") {
    return "Lares' own policy and rights are changed by people only.";
  }
  if (plan.risk === "write" || plan.risk === "read") {
    for (const target of plan.targets) {
      const why = secret(target.startsWith("~") ? absolute(target, "/", place.userHome) : target, place);
      if (why) return why;
      if (plan.beyond && plan.tool === "search" && holdsSecrets(target, place))
        return `search would read everything in ${target}, keys and credentials included.`;
    }
  }
  return plan.shell ? shellFloor(plan.shell, place) : undefined;
}

function shellFloor(shell: ShellPlan, place: Place): string | undefined {
  const bad = shell.reasons.find(
    (reason) => reason.kind === "unparsed" || reason.kind === "fork-bomb" || reason.kind === "computed-program",
  );
  const ways = waysFrom(shell, place.userHome);
  if (shell.isCut && shell.commands.some(isSweeping)) return TOO_LONG;
  const look: Look = { place, ways, paths: new Map(), steps: 0 };
  for (const command of shell.commands) {
    const why = anywhere(command, look) ?? first(ways.dirs, (dir) => commandFloor(command, dir, look));
    if (why) return why;
    if (look.steps > MOST_STEPS) return TOO_LONG;
    follow(command, ways, place.userHome);
    if (ways.isLost) return TOO_LONG;
  }
  if (!bad) return undefined;
  if (bad.kind === "fork-bomb") return bad.text;
  return `${bad.text} What cannot be read cannot be judged; write it as plainer commands.`;
}

/**
 * A tree is removed, and which one is only known when it runs: it may be the whole disk. Nobody can say that it is, so it is asked
 * about in every mode.
 */
export function unseenRemoval({ commands }: ShellPlan): string | undefined {
  let isSomewhere = false;
  for (const { words } of commands) {
    const texts = words.map((word) => word.literal ?? word.guess);
    isSomewhere ||= /^(cd|pushd|chdir)$/.test(texts[0] ?? "") && words.some((word) => word.isUnseen);
    if (!isDeepRemoval(texts) || isLooker(baseName(texts[0] ?? ""))) continue;
    if (isSomewhere || words.some((word, i) => i > 0 && word.isUnseen))
      return "It removes a directory that is only known when it runs.";
  }
  return undefined;
}

/** One look at one text: what was found out about a path holds for all its words. */
interface Look {
  place: Place;
  ways: Ways;
  /** A `find` that looks through a place whose loss would be the machine's. */
  listed?: string;
  paths: Map<string, { secret: string | undefined; isPrecious: boolean }>;
  steps: number;
}

/** Words times directories. A gate that takes seconds stops everybody's turns. */
const MOST_STEPS = 25_000;
const TOO_LONG = "It is too long to be judged; make it several calls.";

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
function anywhere(command: ShellCommand, look: Look): string | undefined {
  const words = command.words.map((word) => word.literal ?? word.guess);
  const name = baseName(words[0] ?? "");
  look.steps += words.length;
  if (command.within.some((one) => /^(xargs|parallel)$/.test(one)) && isDeepRemoval(words))
    return `${command.within.join(" > ")} would hand ${name} names that nobody has seen; use find with -delete, or name them.`;
  if (look.listed !== undefined && REMOVES.test(name)) {
    const isFed = command.within.some((one) => /^(xargs|parallel)$/.test(one));
    if (isFed || command.words.some((word) => word.isUnseen))
      return `${name} would take away what was found in ${look.listed}.`;
  }
  if (!isLooker(name) || name === "echo" || name === "printf") {
    const own = ownRequest(words);
    if (own) return own;
  }
  if (isLooker(name)) return undefined;
  for (const word of words.slice(1)) {
    if (/\bfork\b[\s\S]{0,40}\bwhile\b|\bwhile\b[\s\S]{0,40}\bfork\b|:\s*\(\s*\)\s*\{/.test(word))
      return "It starts itself without end.";
    for (const [, path = ""] of word.matchAll(BY_CODE)) {
      const { ways, place } = look;
      const ends = [...ways.dirs].flatMap((dir) =>
        leadsTo(path, dir, { ways, userHome: place.userHome, isItself: true }),
      );
      look.steps += ends.length;
      if (ends.some((end) => about(end, look).isPrecious)) return `It would take away ${path}.`;
    }
    if (wipesIn(word)) return "It wipes a home or the machine.";
  }
  return undefined;
}

function commandFloor(command: ShellCommand, cwd: string, look: Look): string | undefined {
  const { place } = look;
  const words = command.words.map((word) => word.literal ?? word.guess);
  for (const { operator, target } of command.redirects) {
    if (target.guess === "") continue;
    for (const path of leadsTo(target.guess, cwd, { ways: look.ways, userHome: place.userHome })) {
      if (BLOCK_DEVICE.test(path)) return `It writes to a disk: ${operator} ${target.guess}.`;
      if (/^\/proc\/(sys|sysrq-trigger)|^\/sys\//.test(path) && operator.includes(">"))
        return `It changes the kernel: ${target.guess}.`;
      const why = about(path, look).secret;
      if (why) return why;
    }
  }
  const starts = startsIn(words);
  if (starts.length > MOST_STARTS) return TOO_LONG;
  look.steps += starts.length * words.length;
  return (
    first(starts, (from) => programFloor(words.slice(from), { cwd, look, isProgram: from === 0 })) ??
    first([...command.assignments.map(({ value }) => value.guess), ...words.slice(1)], (word) =>
      secretIn(word, cwd, look),
    )
  );
}

function secretIn(word: string, cwd: string, look: Look): string | undefined {
  if (look.steps > MOST_STEPS) return TOO_LONG;
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
  const recursive = has(/[rR]/, /^--(r|rec.*|archive|dereference-rec.*)$/);
  const at = (word: string, isItself = false) =>
    leadsTo(word, cwd, { ways: look.ways, userHome: place.userHome, isItself });
  const losing = (of: readonly string[], isItself = false) =>
    of.find((word) => at(word, isItself).some((path) => about(path, look).isPrecious));

  // A mere word is no program: `npm run shutdown`.
  if (isProgram && WIPES.test(name)) return `${name} destroys what is on a disk.`;
  if (isProgram && POWER.test(name)) return `${name} is about the machine itself, not about work on it.`;
  if (isProgram && name === "init" && /^[0-6sS]$/.test(args[0] ?? "")) return "init changes the state of the machine.";
  if (
    /^(systemctl|loginctl)$/.test(name) &&
    args.some((arg) =>
      /^(reboot|poweroff|halt|kexec|suspend|hibernate|hybrid-sleep|rescue|emergency|isolate|soft-reboot|exit)$/.test(
        arg,
      ),
    )
  ) {
    return `${name} would stop the machine.`;
  }
  if (name === "sysctl" && args.some((arg) => arg.includes("=") || /^(-w|-p|--write|--load|--system)/.test(arg)))
    return "sysctl changes the kernel.";
  if (name === "kill" && args.some((arg) => arg === "-1" || arg === "1") && operands.length + options.length > 1)
    return "It would end every process.";
  const own = ownCommand(words);
  if (own) return own;
  if (name === "dd" && args.some((arg) => arg.startsWith("of=") && at(arg.slice(3)).some(isDisk)))
    return "dd writes to a disk.";
  if (
    name !== "ls" &&
    name !== "stat" &&
    name !== "df" &&
    name !== "lsblk" &&
    name !== "blkid" &&
    name !== "file" &&
    name !== "test" &&
    name !== "[" &&
    name !== "echo"
  ) {
    const disk = operands.find(
      (word) => at(word).some((path) => BLOCK_DEVICE.test(path)) && word.startsWith("/dev/") && word !== "/dev/*",
    );
    if (
      disk &&
      /^(cp|mv|tee|cat|install|truncate|fallocate|pv|ddrescue|dcfldd|dc3dd|sponge|rsync|ln|rm|chmod|chown|mount|losetup|zcat|gunzip|xz|zstd)$/.test(
        name,
      )
    )
      return `It works on a disk itself: ${disk}.`;
  }
  if (name === "rm" && has(/^$/, /^--no-preserve-root/)) return "rm --no-preserve-root is for wiping a machine.";
  const sweeps =
    (name === "rm" && recursive) ||
    name === "srm" ||
    (name === "rsync" && has(/^$/, /^--del/)) ||
    (/^(mv|unlink|trash)$/.test(name) && operands.length > 0);
  if (sweeps) {
    const lost = losing(operands, name !== "rsync");
    if (lost) return `${name} would take away ${lost}.`;
  }
  if (/^(chmod|chown|chgrp|setfacl|chattr)$/.test(name) && recursive) {
    const lost = losing(operands);
    if (lost) return `${name} would change who may use everything in ${lost}.`;
  }
  if (name === "find" || name === "fd") {
    const why = findFloor(name, args, at, look);
    if (why) return why;
  }
  if (name === "git" && args.includes("clean") && has(/f/, /^--force/)) {
    const dirs = [".", ...entered(name, args)];
    const lost = losing(dirs);
    if (lost) return `git clean would take away what is in ${at(lost).at(-1)}.`;
  }
  if (READS_DEEP.test(name) && name !== "find" && name !== "fd" && name !== "xargs") {
    const deep =
      recursive ||
      /^(rg|ag|ack|rsync|tar|bsdtar|zip|7za?|cpio|rclone|restic|borg)$/.test(name) ||
      has(/a/, /^--archive/);
    const all = deep
      ? operands.find((word) => at(word.replace(/\/\*+$/, "")).some((path) => holdsSecrets(path, place)))
      : undefined;
    if (all) return `${name} would read everything in ${all}, keys and credentials included.`;
  }
  return undefined;
}

const REMOVES = /^(rm|shred|unlink|srm|chmod|chown|mv|truncate)$/;
const REMOVES_WITHIN = /(^|[\s;&|(/])(rm|shred|unlink|srm|chmod|chown|mv|truncate)\s/;

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
  const action = args.findIndex((arg) => /^-(delete|fprintf?0?|fls|x|X|exec|execdir|ok|okdir)$/.test(arg));
  if (action < 0) return undefined;
  const kills =
    args[action] === "-delete" ||
    args.includes("-delete") ||
    args.slice(action).some((arg) => REMOVES.test(baseName(arg)) || REMOVES_WITHIN.test(arg));
  return kills ? `find would take away what is in ${at(root).at(-1)}.` : undefined;
}

/** A tree removed by code: `shutil.rmtree("/")`, `fs.rmSync("/etc")`, `FileUtils.rm_rf "/"`. */
const BY_CODE =
  /(?:rmtree|remove_tree|removedirs|rm_rf|rm_r|remove_entry(?:_secure)?|rimraf|rmdirSync|rmSync|rmdir|\brm|remove_dir_all|RemoveAll)\s{0,9}[([]?\s{0,9}[([]?\s{0,9}["']([^"'\n]{1,200})["']/g;

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

function isDisk(path: string): boolean {
  return path.startsWith("/dev/") && !HARMLESS_DEVICE.test(path);
}

function baseName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}
