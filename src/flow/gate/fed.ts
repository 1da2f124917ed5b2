/**
 * What a program does with its standard input. A rule speaks about the words of a command and says nothing of what it is fed, so
 * what is fed must be data to the program: `sqlite3 app.db` is another command with `.shell x` on its input. The list says which
 * programs take data; any other asks. Pure.
 */
import { hasFiles, isLooker, type Judgement, needsSpelling } from "./programs.ts";

/** They show, count, change or send what they read, or don't read it. */
const TAKES_DATA =
  /^(base(32|64|nc)|column|rev|bc|unexpand|expand|pr|fmt|tsort|numfmt|iconv|shuf|split|csplit|sponge|pv|cksum|sum|xmllint|tidy|pandoc|curl|wget2?|cp|mv|rm|mkdir|touch|chmod|npm|pnpm|yarn|pytest|cargo|go|ps|g(un)?zip|zcat|b(un)?zip2|bzcat|(un)?xz|xzcat|(un)?zstd|zstdcat|(un)?lz4|xclip|wl-copy|pbcopy|ts|nproc|time)$/;
/** Of git: what it is fed is a message, a list of names or nothing. */
const GIT_DATA =
  /^(commit|tag|notes|status|log|show|diff|shortlog|grep|add|hash-object|check-ignore|cat-file|stripspace|ls-files|rev-parse|branch|fetch|push|pull|stash|switch|restore|checkout)$/;

export function takesData(program: string, args: readonly string[], { concerns }: Judgement): boolean {
  // A file of the owner's own that a rule names: it is theirs to say what it reads.
  if (program.includes("/")) return true;
  if (program === "git") return GIT_DATA.test(args.find((arg) => !arg.startsWith("-")) ?? "");
  if (hasFiles(program) || isLooker(program) || TAKES_DATA.test(program)) return concerns.length === 0;
  return needsSpelling(program) && runsScript(program, args);
}

const SCRIPTED = /^(python[\d.]*|perl|ruby|node|nodejs|bun|deno|tsx|php|lua|(ba|da|z|k)?sh)$/;

/** The code is a file or a text that the rule spells, so what comes in is data for it. */
function runsScript(program: string, [first = "", ...rest]: readonly string[]): boolean {
  if (!SCRIPTED.test(program) || [first, ...rest].some((arg) => arg === "-" || /^\/(dev|proc)\//.test(arg)))
    return false;
  return /^-[mcep]$/.test(first) ? rest.length > 0 : first !== "" && !first.startsWith("-");
}
