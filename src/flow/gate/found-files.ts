/**
 * Programs that are run on files nobody has named: `find -exec`, `xargs`. What they run is held against the rules like any other
 * command; which files it gets is judged by find's own arguments.
 *
 * GATE-4: a program that shows what is in files gets plain files only (`-type f`), and only such as no file of secrets is named like.
 *     Only counting (`wc -l`) is let near any file.
 */
import type { ShellCommand } from "../../core/contracts/index.ts";

/** Programs that show their arguments and open none of them. */
const SHOWS_NAMES = /^(echo|basename|dirname)$/;
/** Programs that show names, sizes and times, as find itself does. Only find hands them nothing but plain files, and no options. */
const SHOWS_SIZES = /^(ls|stat|du)$/;
/** Programs that read what they are given and do nothing else, with the options that a table lets through. */
const READS =
  /^(wc|cat|head|tail|grep|egrep|fgrep|stat|file|ls|du|sha256sum|md5sum|sha1sum|nl|tac|basename|dirname|echo)$/;
/** Options with which `wc` counts the files it is given. A count shows nothing of what is in a file, whatever its name. */
const COUNTS = /^-[clmwL]+$/;
/** Ends of names that no file of secrets has, but for `.env.ts` and its like; which find has to skip. */
const ORDINARY_END =
  /^([cm]?[jt]sx?|md|mdx|txt|rst|adoc|tex|log|csv|tsv|py|rb|go|rs|java|kt|swift|c|h|cc|cpp|hpp|cs|php|pl|lua|r|sh|sql|html?|css|scss|less|svg|xml|vue|svelte)$/i;

/** The command that is run on found files, with a name in their place; undefined where a person has to look. */
export function runOnFound(command: ShellCommand): ShellCommand | undefined {
  const words = command.words.map((word) => word.literal);
  if (words.some((word) => word === undefined)) return undefined;
  const inner = words[0] === "find" ? byFind(words.slice(1) as string[]) : byXargs(words.slice(1) as string[]);
  if (!inner) return undefined;
  const { within, assignments } = command;
  return { words: inner.map((word) => ({ literal: word, guess: word })), assignments, redirects: [], within };
}

/** Whether it looks into the files it is given. */
export function opensFound({ words }: ShellCommand): boolean {
  return !showsFound(words[0]!.guess);
}

function showsFound(name: string): boolean {
  return SHOWS_NAMES.test(name) || SHOWS_SIZES.test(name);
}

function byFind(args: readonly string[]): string[] | undefined {
  const at = args.indexOf("-exec");
  const tests = args.slice(0, at);
  const inner = args.slice(at + 1, -1);
  const name = inner[0] ?? "";
  const isPlain = tests.some((word, i) => word === "-type" && tests[i + 1] === "f");
  const joins = tests.some((word) =>
    /^(-o|-or|,|\(|\)|-L|-H|-follow|-exec.*|-ok.*|-delete|-f(print|ls).*)$/.test(word),
  );
  if (at < 0 || !isPlain || joins || !READS.test(name) || args.at(-2) !== "{}") return undefined;
  // find puts the found name in place of every `{}`, inside other words too: `../{}` is another file.
  if (args.filter((word) => word.includes("{}")).length > 1) return undefined;
  const isNamed = tests.some(
    (word, i) =>
      /^-i?name$/.test(word) && tests[i - 1] !== "!" && tests[i - 1] !== "-not" && isHarmlessName(tests[i + 1]!),
  );
  const passesOver = tests.some((word, i) => word === "!" && tests[i + 1] === "-name" && tests[i + 2] === ".env*");
  if (!showsFound(name) && !((isNamed || counts(inner.slice(0, -1))) && passesOver)) return undefined;
  return inner.map((word) => (word === "{}" ? "found" : word));
}

/** A pattern with the end of an ordinary file: `*.ts`. */
function isHarmlessName(pattern: string): boolean {
  const end = /\.([A-Za-z0-9]+)$/.exec(pattern)?.[1];
  return end !== undefined && ORDINARY_END.test(end);
}

/** What stands for a word that is fed, in the words of `echo`. Any other sign may be part of a program's name. */
const PLACE = /^(\{\}|%|@)$/;

function byXargs(args: readonly string[]): string[] | undefined {
  let i = 0;
  let place: string | undefined;
  for (; /^-/.test(args[i] ?? ""); i++) {
    const [option, next = ""] = args.slice(i, i + 2) as [string, string?];
    if (/^-[nL]$/.test(option) && /^\d{1,4}$/.test(next)) i++;
    else if (option === "-I" && PLACE.test(next)) place = args[++i];
    else if (/^-I./.test(option) && PLACE.test(option.slice(2))) place = option.slice(2);
    else if (!/^(-0|-r|-[nL]\d{1,4}|--null|--no-run-if-empty)$/.test(option)) return undefined;
  }
  const inner = args.slice(i);
  // What is fed is put into words that are printed.
  if (place !== undefined) return inner[0] === "echo" ? inner : undefined;
  if (inner.some((word) => word.includes("{}"))) return undefined;
  // Behind `--` no name that it is fed is an option.
  const isCounting = inner.at(-1) === "--" && counts(inner.slice(0, -1));
  return SHOWS_NAMES.test(inner[0] ?? "") || isCounting ? [...inner, "found"] : undefined;
}

function counts([name, ...options]: readonly string[]): boolean {
  return name === "wc" && options.every((word) => COUNTS.test(word));
}
