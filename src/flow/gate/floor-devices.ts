/** Disks and switches of the kernel: no program works on them but those that only look. */
import { INTERPRETS } from "./destinations-local.ts";
import { isLooker } from "./programs.ts";
import { changesKernel, usesDisk } from "./words.ts";

/** Devices that scripts use every day. */
const HARMLESS_DEVICE =
  /^\/dev\/(null|zero|full|random|urandom|stdin|stdout|stderr|tty|ptmx|fd(\/.*)?|pts(\/.*)?|shm(\/.*)?)$/;
const BLOCK_DEVICE =
  /^\/dev\/(sd|hd|vd|xvd|nvme|mmcblk|disk|mapper|md|dm-|loop|ram|zram|sr|sg\d|zvol|nbd|rbd|bcache|block|rdisk|dasd|pmem|mtd|ubi|\*)/;
const KERNEL = /^\/proc\/(sys|sysrq-trigger)(\/|$)|^\/sys\//;
const SWITCH = /^\/proc\/sysrq-trigger$/;
/** They take such a name and show something about it. */
const ONLY_SHOWS =
  /^(ls|stat|df|du|lsblk|blkid|file|test|\[|echo|printf|findmnt|mountpoint|readlink|realpath|basename|dirname|smartctl|udevadm|lsof|fuser|[ef]?grep|rg|jq|which|whereis|cd|pushd|:|true|false|export)$/;
/** They read the kernel's files, which anybody may. */
const ALSO_READS = /^([gmn]?awk|sysctl|less|more|bat|zcat|xxd|hexdump|watch)$/;
/** Lookers that write a file when an option or a second operand says so. */
const WRITES_TOO = /^(sort|uniq|tree|git|find)$/;
/** Of find's words those after which a file to write stands. */
const FIND_WRITES = /^-(fprint0?|fprintf|fls)$/;
/** What code that only names a device lacks. */
const CODE_WRITES = /\bopen|writ|trunc|syswrite|createWriteStream|system|exec|spawn|popen|subprocess/i;

export function isDisk(path: string): boolean {
  return path.startsWith("/dev/") && !HARMLESS_DEVICE.test(path);
}

/** Why nothing is connected to this file by `<` or `>`. */
export function deviceRedirect(path: string, operator: string): string | undefined {
  if (BLOCK_DEVICE.test(path)) return usesDisk(`${operator} ${path}`);
  return KERNEL.test(path) && operator.includes(">") ? changesKernel(path) : undefined;
}

/** The first word of a command that is a disk or a switch of the kernel, and what that means. `ends`: where a word leads. */
export function deviceWord(
  name: string,
  words: readonly string[],
  ends: (word: string) => readonly string[],
): string | undefined {
  if (ONLY_SHOWS.test(name)) return undefined;
  const readsKernel =
    ALSO_READS.test(name) ||
    (isLooker(name) && !WRITES_TOO.test(name)) ||
    (name === "sed" && !words.some((word) => /^(-[a-z]*i|--in-place)/.test(word)));
  for (const [i, word] of words.entries()) {
    if (i === 0 || (name === "find" && !FIND_WRITES.test(words[i - 1]!))) continue;
    // A word with blanks or brackets is code, where a path may stand anywhere.
    if (INTERPRETS.test(name) && /[\s()]/.test(word)) {
      const found = inCode(word);
      if (found) return found;
      continue;
    }
    for (const end of listEnds(word)) {
      if (end === "/dev/*" || end === "") continue;
      const paths = ends(end);
      if (paths.some((path) => path !== "/dev/*" && BLOCK_DEVICE.test(path))) return usesDisk(end);
      if (!readsKernel && paths.some((path) => KERNEL.test(path))) return changesKernel(end);
    }
  }
  return undefined;
}

/** A word, and what an option or a setting in it ends with: `-o/dev/sda`, `--out=/dev/sda`, `of=/dev/sda`, `file:/dev/sda`. */
function listEnds(word: string): string[] {
  if (!word.includes("/")) return [word];
  const end = /^(?:-[A-Za-z]+|[^/\s]*[=:,@])(\/.*)$/.exec(word)?.[1];
  return end === undefined ? [word] : [word, end];
}

function inCode(code: string): string | undefined {
  if (!CODE_WRITES.test(code)) return undefined;
  for (const [path] of code.matchAll(/\/(?:dev|proc)\/[\w/*-]{2,80}/g)) {
    if (SWITCH.test(path)) return changesKernel(path);
    if (BLOCK_DEVICE.test(path) && path !== "/dev/*") return usesDisk(path);
    if (KERNEL.test(path) && /["'](w|a|wb|ab|r\+)["']|writ/i.test(code)) return changesKernel(path);
  }
  return undefined;
}
