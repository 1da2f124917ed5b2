/** Programs that are handed what `find`, `xargs` or a loop found, and leave nothing of it. */

const REMOVES = /^(rm|shred|unlink|srm|chmod|chown|mv|truncate|tee|sponge)$/;
const COPIES = /^(cp|install|ln|rsync)$/;
const PACKS = /^(gzip|bzip2|xz|lzma|compress)$/;
const SHELL = /^((ba|da|z|k|a)?sh|eval|env|sudo|doas|busybox)$/;
const CODE = /^(python[\d.]*|pypy\d*|perl|ruby|node|nodejs|php)$/;
/** The same within the text a shell is given. */
const REMOVES_WITHIN = /(^|[\s;&|(/])(rm|shred|unlink|srm|chmod|chown|mv|truncate|tee|sponge|dd)\s/;
const EMPTIES_WITHIN = />\|?\s{0,9}["']?(\$\{?[\w@*]{1,40}\}?|\{\})["']?\s{0,9}($|[;&|\n)])/;
const COPIES_WITHIN =
  /(^|[\s;&|(/])(cp|install|ln)\s[^;&|\n]{0,200}(\$\{?[\w@*]{1,40}\}?|\{\})["']?\s{0,9}($|[;&|\n)])/;
const CODE_REMOVES = /unlink|remove|rename|rmtree|rmSync|truncate|["'][wa]b?\+?["']|writeFile|>/;

/** Whether a command would destroy what it is handed. `appended`: the names come after its words, unless they hold a place for them. */
export function destroysFound(words: readonly string[], { appended }: { appended: boolean }): boolean {
  const name = baseName(words[0] ?? "");
  const args = words.slice(1);
  if (REMOVES.test(name)) return true;
  if (name === "dd") return args.some((arg) => arg.startsWith("of=") && (appended || isPlace(arg)));
  if (COPIES.test(name)) return isTarget(args, appended);
  if (PACKS.test(name)) return !args.some((arg) => /^-[A-Za-z]*[kclt]|^--(keep|stdout|list|test)/.test(arg));
  if (name === "sed" || name === "perl") if (args.some((arg) => /^(-[a-z]*i|--in-place)/.test(arg))) return true;
  if (CODE.test(name)) return args.some((arg) => CODE_REMOVES.test(arg));
  if (!SHELL.test(name)) return false;
  const inner = args.findIndex((arg) => !arg.startsWith("-") && !arg.includes("="));
  if (args.some((arg) => REMOVES_WITHIN.test(arg) || EMPTIES_WITHIN.test(arg) || COPIES_WITHIN.test(arg))) return true;
  return inner >= 0 && !SHELL.test(baseName(args[inner]!)) && destroysFound(args.slice(inner), { appended });
}

/** The commands that `find` or `fd` starts: `-exec a b \;`, `-x a b`. */
export function startedByFind(args: readonly string[]): string[][] {
  const out: string[][] = [];
  for (let i = 0; i < args.length; i++) {
    if (!/^-(x|X|exec|execdir|ok|okdir|-exec|-exec-batch)$/.test(args[i]!)) continue;
    const end = args.findIndex((arg, at) => at > i && /^\\?;$|^\+$/.test(arg));
    out.push(args.slice(i + 1, end < 0 ? args.length : end));
    if (end >= 0) i = end;
  }
  return out;
}

/** Whether what was found is where a copy goes, not what is copied. */
function isTarget(args: readonly string[], appended: boolean): boolean {
  const to = args.findIndex((arg) => /^(-t$|--target)/.test(arg));
  if (to >= 0) return isPlace(args[to]!.includes("=") ? args[to]! : (args[to + 1] ?? ""));
  if (appended && !args.some(isPlace)) return true;
  return isPlace(args.filter((arg) => !arg.startsWith("-")).at(-1) ?? "");
}

/** `{}`, another sign that xargs puts names in for, or a variable. */
function isPlace(word: string): boolean {
  return word.includes("{}") || /(^|=)[*%@_]$/.test(word);
}

function baseName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}
