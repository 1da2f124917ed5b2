/** find and sed: their arguments are a language, not a list of options. */
import type { Judgement } from "./programs.ts";

/** Tests of find whose value is a file that is looked at. */
const FIND_FILES = /^-(newer|anewer|cnewer|newer[aBcm][aBcm]|samefile)$/;
const FIND_TESTS =
  /^-(name|iname|path|ipath|wholename|iwholename|regex|iregex|lname|ilname|regextype|type|xtype|size|mtime|atime|ctime|mmin|amin|cmin|newer|anewer|cnewer|newer[aBcm][aBcmt]|maxdepth|mindepth|perm|user|group|uid|gid|links|inum|samefile|used|fstype|printf)$/;
const FIND_FLAGS =
  /^(-(print|print0|ls|prune|quit|empty|readable|writable|executable|depth|d|mount|xdev|nouser|nogroup|true|false|not|and|a|o|or|follow|noleaf|daystart|warn|nowarn|ignore_readdir_race|help|version|H|L|P|O\d?)|!|\(|\)|,)$/;

/** find's language: a word that is neither a known test nor its value is a concern. */
export function judgeFind(args: readonly string[]): Judgement {
  const out: Judgement = { concerns: [], files: [] };
  let inPaths = true;
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!;
    if (/^-(L|follow)$/.test(arg)) out.follows ??= i;
    if (FIND_TESTS.test(arg)) {
      inPaths = false;
      i++;
      if (FIND_FILES.test(arg) && args[i] !== undefined) out.files.push({ index: i, path: args[i]!, use: "names" });
    } else if (FIND_FLAGS.test(arg)) inPaths &&= /^-[HLPO]/.test(arg);
    else if (inPaths && !arg.startsWith("-")) out.files.push({ index: i, path: arg, use: "names" });
    else out.concerns.push({ index: i, text: `${arg} is not known to be harmless for find` });
  }
  return out;
}

/** Printing lines by number is what sed is used for most; the rest of its language can write and run. */
export function judgeSed(args: readonly string[]): Judgement {
  const out: Judgement = { concerns: [], files: [] };
  let script = -1;
  for (const [index, arg] of args.entries()) {
    if (/^-[nEr]+$|^--(quiet|silent|regexp-extended)$/.test(arg)) continue;
    if (script < 0 && /^(\d+|\$)(,(\d+|\$|\+\d+))?[pdq](;(\d+|\$)(,(\d+|\$|\+\d+))?[pdq])*$/.test(arg)) script = index;
    else if (script >= 0 && !arg.startsWith("-")) out.files.push({ index, path: arg, use: "content" });
    else out.concerns.push({ index, text: "sed can write files and run programs by its script" });
  }
  return out;
}
