/**
 * The hard floor: what is denied in every mode, whatever a rule or a person said before. It works on guesses, because a
 * command that only may wipe the disk is bad enough; it is not the boundary (the sandbox is), it is the last sign before it.
 */
import type { ActionPlan, ShellCommand, ShellPlan } from "../../core/contracts/index.ts";
import { ownCommand, ownRequest } from "./own-commands.ts";
import { absolute, isInside, normalise, relation } from "./paths.ts";
import { isLooker } from "./programs.ts";
import type { Place } from "./rules.ts";

/** Places of credentials in anybody's home. */
const SECRET_HOME = [
  ".ssh",
  ".aws",
  ".gnupg",
  ".azure",
  ".kube",
  ".docker/config.json",
  ".config/gcloud",
  ".config/gh",
  ".config/git/credentials",
  ".config/op",
  ".config/hub",
  ".config/rclone",
  ".config/doctl",
  ".config/google-chrome*",
  ".config/chromium",
  ".config/BraveSoftware",
  ".config/microsoft-edge*",
  ".config/vivaldi",
  ".config/opera",
  ".config/Bitwarden*",
  ".config/1Password",
  ".config/KeePass*",
  ".config/sops",
  ".netrc",
  ".git-credentials",
  ".npmrc",
  ".pypirc",
  ".pgpass",
  ".my.cnf",
  ".cargo/credentials*",
  ".gem/credentials",
  ".m2/settings*.xml",
  ".gradle/gradle.properties",
  ".password-store",
  ".local/share/keyrings",
  ".local/share/kwalletd",
  ".mozilla",
  ".thunderbird",
  ".vault-token",
  ".terraform.d",
  ".bitcoin",
  ".ethereum",
  ".electrum",
  ".claude/.credentials.json",
  ".claude.json",
  ".codex/auth.json",
  ".openclaw",
  ".hermes/.env",
  ".lares",
  "Library/Keychains",
  "Library/Cookies",
  "Library/Application Support/Google/Chrome",
  "Library/Application Support/Firefox",
  "snap/firefox",
  "snap/chromium",
];
const SECRET_SYSTEM = [
  "/etc/shadow*",
  "/etc/gshadow*",
  "/etc/master.passwd",
  "/etc/sudoers",
  "/etc/sudoers.d",
  "/etc/ssl/private",
  "/etc/ssh/ssh_host_*_key",
  "/etc/krb5.keytab",
  "/etc/security/opasswd",
  "/var/lib/docker",
  "/var/run/docker.sock",
  "/run/docker.sock",
  "/run/podman",
  "/run/secrets",
  "/var/run/secrets",
  "/run/credentials",
  "/proc/*/environ",
  "/proc/*/mem",
  "/proc/*/root",
  "/proc/*/fd",
  "/proc/*/cwd",
  "/proc/*/task",
  "/proc/kcore",
  "/dev/mem",
  "/dev/kmem",
  "/dev/port",
];
/** Directories whose loss is the machine's loss. */
const SYSTEM =
  "/ /bin /boot /dev /etc /home /lib /lib32 /lib64 /opt /proc /root /run /sbin /srv /sys /usr /var /usr/bin /usr/lib /usr/lib64 /usr/local /usr/sbin /usr/share /var/lib /var/log /System /Library /Applications /Users /private /Volumes /mnt /media".split(
    " ",
  );
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
  /^(init|systemctl|loginctl|sysctl|kill|lares(\.m?js)?|main\.(m?js|ts)|node|nodejs|npx|npm|pnpm|yarn|bun|bunx|deno|tsx|sh|bash|dash|zsh|dd|tee|cat|install|truncate|fallocate|pv|ddrescue|dcfldd|dc3dd|sponge|losetup|mount|zcat|gunzip|xz|zstd|rm|srm|unlink|trash|rgrep|zgrep|egrep|fgrep|grep|rg|ag|ack|cp|scp|rsync|tar|bsdtar|zip|7za?|cpio|rclone|restic|borg|duplicity|pax|dump|find|fd|chmod|chown|chgrp|mv|ln|setfacl|chattr)$/;

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
  const dirs = new Set([shell.cwd]);
  for (const command of shell.commands) {
    for (const dir of dirs) {
      const why = commandFloor(command, dir, place);
      if (why) return why;
    }
    for (const dir of enters(command, dirs, place)) if (dirs.size < MOST_DIRS) dirs.add(dir);
  }
  if (!bad) return undefined;
  if (bad.kind === "fork-bomb") return bad.text;
  return `${bad.text} What cannot be read cannot be judged; write it as plainer commands.`;
}

/** A text that changes its directory more often than this is nobody's honest command; what is first counts. */
const MOST_DIRS = 24;
const TAKES_DIR = /^(env|sudo|doas|git|make|gmake|tar|bsdtar|ninja|unshare|chroot|npm|pnpm|yarn)$/;

/**
 * Where the commands after this one may run: `cd / && rm -rf *`. Each place that was entered stays possible, because a later
 * `cd` may fail, and a subshell ends.
 */
function enters({ words }: ShellCommand, dirs: ReadonlySet<string>, place: Place): string[] {
  const [name = "", ...args] = words.map((word) => word.literal ?? word.guess);
  const to: string[] = [];
  if (/^(cd|pushd|chdir)$/.test(name)) to.push(args.find((arg) => !arg.startsWith("-")) ?? "~");
  else if (TAKES_DIR.test(baseName(name))) {
    for (const [i, arg] of args.entries()) {
      if (/^(-C|-D|--chdir|--directory|--cwd|--wd|--root)$/.test(arg)) to.push(args[i + 1] ?? ".");
      else if (/^(-C.|--(chdir|directory|cwd|wd|root)=)/.test(arg)) to.push(arg.replace(/^(-C|--[a-z]+=)/, ""));
    }
    if (baseName(name) === "chroot") to.push(args.find((arg) => !arg.startsWith("-")) ?? ".");
  }
  return to.flatMap((path) => [...dirs].map((dir) => absolute(path, dir, place.userHome)));
}

function commandFloor(command: ShellCommand, cwd: string, place: Place): string | undefined {
  const words = command.words.map((word) => word.literal ?? word.guess);
  for (const { operator, target } of command.redirects) {
    const path = absolute(target.guess, cwd, place.userHome);
    if (target.guess === "") continue;
    if (BLOCK_DEVICE.test(path)) return `It writes to a disk: ${operator} ${target.guess}.`;
    if (/^\/proc\/(sys|sysrq-trigger)|^\/sys\//.test(path) && operator.includes(">"))
      return `It changes the kernel: ${target.guess}.`;
    const why = secret(path, place);
    if (why) return why;
  }
  for (const { value } of command.assignments) {
    const why = pathsIn(value.guess, cwd, place)
      .map((path) => secret(path, place))
      .find(Boolean);
    if (why) return why;
  }
  const name = baseName(words[0] ?? "");
  if (command.within.some((one) => /^(xargs|parallel)$/.test(one)) && isDeepRemoval(words))
    return `${command.within.join(" > ")} would hand ${name} names that nobody has seen; use find with -delete, or name them.`;
  if (!isLooker(name) || name === "echo" || name === "printf") {
    const own = ownRequest(words);
    if (own) return own;
  }
  // A wrapper's inner program may begin at any of its words.
  const starts = isLooker(name) ? [0] : words.map((_, i) => i);
  for (const from of starts) {
    const why = programFloor(words.slice(from), { cwd, place, isProgram: from === 0 });
    if (why) return why;
  }
  for (const word of words.slice(1)) {
    const why = pathsIn(word, cwd, place)
      .map((path) => secret(path, place))
      .find(Boolean);
    if (why) return why;
    if (/\bfork\b[\s\S]{0,40}\bwhile\b|\bwhile\b[\s\S]{0,40}\bfork\b|:\s*\(\s*\)\s*\{/.test(word) && !isLooker(name))
      return "It starts itself without end.";
    if (!isLooker(name) && wipesIn(word)) return "It wipes a home or the machine.";
  }
  return undefined;
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
  { cwd, place, isProgram }: { cwd: string; place: Place; isProgram: boolean },
): string | undefined {
  const name = baseName(words[0] ?? "");
  if (!WATCHED.test(name) && !WIPES.test(name) && !POWER.test(name)) return undefined;
  const args = words.slice(1);
  const options = args.filter((arg) => arg.startsWith("-"));
  const operands = args.filter((arg) => !arg.startsWith("-"));
  const has = (letters: RegExp, long: RegExp) =>
    options.some((one) => (one.startsWith("--") ? long.test(one) : letters.test(one)));
  const recursive = has(/[rR]/, /^--(r|rec.*|archive|dereference-rec.*)$/);
  const at = (word: string) => absolute(word, cwd, place.userHome);

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
  if (name === "dd" && args.some((arg) => arg.startsWith("of=") && isDisk(at(arg.slice(3)))))
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
    const disk = operands.find((word) => BLOCK_DEVICE.test(at(word)) && word.startsWith("/dev/") && word !== "/dev/*");
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
    const lost = operands.find((word) => isPrecious(at(word), place));
    if (lost) return `${name} would take away ${lost}.`;
  }
  if (/^(chmod|chown|chgrp|setfacl|chattr)$/.test(name) && recursive) {
    const lost = operands.find((word) => isPrecious(at(word), place));
    if (lost) return `${name} would change who may use everything in ${lost}.`;
  }
  if (name === "find" || name === "fd") {
    const roots = operands.filter((word) => isPrecious(at(word), place));
    const action = args.find((arg) => /^-(delete|fprintf?0?|fls|x|X|exec|execdir|ok|okdir)$/.test(arg));
    const kills =
      action === "-delete" ||
      (action && args.some((arg) => /^(rm|shred|unlink|srm|chmod|chown|mv)$/.test(baseName(arg))));
    if (roots.length > 0 && kills) return `find would take away what is in ${roots[0]}.`;
  }
  if (READS_DEEP.test(name) && name !== "find" && name !== "fd" && name !== "xargs") {
    const deep =
      recursive ||
      /^(rg|ag|ack|rsync|tar|bsdtar|zip|7za?|cpio|rclone|restic|borg)$/.test(name) ||
      has(/a/, /^--archive/);
    const all = deep ? operands.find((word) => holdsSecrets(at(word.replace(/\/\*+$/, "")), place)) : undefined;
    if (all) return `${name} would read everything in ${all}, keys and credentials included.`;
  }
  return undefined;
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

function isDisk(path: string): boolean {
  return path.startsWith("/dev/") && !HARMLESS_DEVICE.test(path);
}

/** System directories, homes, and whatever holds Lares; also everything directly in them (`/*`). */
function isPrecious(path: string, place: Place): boolean {
  const names = path.split("/");
  while (names.length > 1 && /^(?:\.?\*+|\.\[\*|\.\?\*)$/.test(names.at(-1)!)) names.pop();
  const bare = names.join("/") || "/";
  if (SYSTEM.some((one) => relation(bare, one) === "inside" && bare.split("/").length === one.split("/").length))
    return true;
  if (SYSTEM.includes(bare)) return true;
  if (/^\/(home|Users)\/[^/]+$/.test(bare)) return true;
  const homes = [place.userHome, place.home];
  return homes.some((home) => bare === home || isInside(home, bare)) || isInside(place.agentDir, bare);
}

function holdsSecrets(path: string, place: Place): boolean {
  const bare = path === "" ? "/" : path;
  return (
    bare === "/" ||
    /^\/(home|Users|root)(\/[^/]+)?$/.test(bare) ||
    isInside(place.userHome, bare) ||
    isInside(place.home, bare)
  );
}

/** Why this path must stay closed. Patterns count as all they may name. */
export function secret(path: string, place: Place): string | undefined {
  const clean = normalise(path);
  const closed = (what: string) => `${what} stays closed: ${path}.`;
  const isPattern = /[*?]/.test(clean);
  const system = isPattern ? SECRET_SYSTEM.some((one) => relation(clean, one) === "inside") : IN_SYSTEM.test(clean);
  if (system) return closed("A place of credentials or of the kernel");
  if (inSecretHome(clean, isPattern, place)) return closed("A place of credentials");
  if (isInside(clean, place.home) && !isInside(clean, place.agentDir)) return closed("What Lares itself keeps");
  return undefined;
}

function inSecretHome(clean: string, isPattern: boolean, place: Place): boolean {
  // An agent's folder lies in ~/.lares, and is its own.
  if (isInside(clean, place.workspace)) return WORKSPACE_SECRET.test(clean.slice(place.workspace.length));
  if (isInside(clean, place.agentDir)) return false;
  if (!isPattern) {
    const rest = isInside(clean, place.userHome) ? clean.slice(place.userHome.length) : SOME_HOME.exec(clean)?.[1];
    return rest !== undefined && IN_HOME.test(rest);
  }
  return [place.userHome, "/root", "/home/*", "/Users/*"].some((home) =>
    SECRET_HOME.some((one) => relation(clean, `${home}/${one}`) === "inside"),
  );
}

/** The workspace is the commands' own home: its .npmrc and the like are work, keys are not. */
const WORKSPACE_SECRET = /^\/\.(ssh|aws|gnupg)(\/|$)/;
const SOME_HOME = /^(?:\/root|\/(?:home|Users)\/[^/]+)(\/.*)?$/;
const IN_HOME = anyOf(SECRET_HOME.map((one) => `/${one}`));
const IN_SYSTEM = anyOf(SECRET_SYSTEM);

/** One expression for many places: much quicker than asking one by one. */
function anyOf(places: readonly string[]): RegExp {
  const sources = places.map((one) => one.replace(/[.+^${}()|[\]\\]/g, "\\$&").replaceAll("*", "[^/]*"));
  return new RegExp(`^(?:${sources.join("|")})(?:/|$)`);
}

/** Everything in a word that may be a path: `of=/dev/sda`, `@~/.netrc`, `-I/etc`, `file:///etc/shadow`. */
export function pathsIn(word: string, cwd: string, place: Place): string[] {
  // A bare name lies in the working directory, and that is the agent's.
  if (!/[/~.*?]/.test(word) || word.length > 4096) return [];
  const out = new Set<string>([absolute(word, cwd, place.userHome)]);
  for (const piece of word.split(/[=@:,;\s'"()[\]{}<>|&]+/)) if (piece) out.add(absolute(piece, cwd, place.userHome));
  for (const found of word.matchAll(/(?:~|\/)[^=@:,;\s'"()[\]{}<>|&]*/g)) {
    const before = found.index === 0 ? "" : word[found.index - 1]!;
    if (/[A-Za-z0-9_.~-]/.test(before) && !/^-[A-Za-z]$/.test(word.slice(0, found.index))) continue;
    out.add(absolute(found[0].replace(/^\/\/+/, "/"), cwd, place.userHome));
  }
  // A path whose beginning is computed: what follows may lie in any home.
  const tail = /^\*\/(.+)$/.exec(word)?.[1];
  if (tail) out.add(absolute(`~/${tail.replace(/^\/+/, "")}`, cwd, place.userHome));
  return [...out];
}

function baseName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}
