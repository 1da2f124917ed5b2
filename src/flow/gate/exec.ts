/**
 * Judging a command: its parts one by one, then the whole. Pure.
 *
 * G1: only plain text can be allowed by a rule, and only when a rule covers each of its commands.
 * G2: arguments that a rule leaves open are held against what is known of the program (programs.ts).
 * G3: what a person could not see before saying yes is refused rather than asked.
 */
import type { ShellCommand, ShellPlan, ShellReasonKind } from "../../core/contracts/index.ts";
import { isReaching, pathsInWord } from "../../core/kit/index.ts";
import { isGitText } from "./git.ts";
import { hasWildcard, matchesGlob } from "./glob.ts";
import { absolute, isOwn, normalise } from "./paths.ts";
import { hasFiles, type Judgement, judgeArguments } from "./programs.ts";
import { allowingRule, coveringRule, LOADED, type Place, pathRule, STANDING } from "./rules.ts";

export interface Part {
  /** What was judged, as it would run. */
  what: string;
  verdict: "allow" | "ask" | "deny";
  because: string;
  /** The allow rule that covers it. */
  rule?: string;
  /** Where it stands, from the outside in. */
  within?: string[];
}

/** Reasons that refuse in mode `ask`: a person could not judge them either. */
const REFUSED: ReadonlySet<ShellReasonKind> = new Set([
  "unparsed",
  "fork-bomb",
  "computed-program",
  "hidden-code",
  "heredoc-expansion",
  "load-assignment",
]);
/** Files that hold secrets wherever they lie. */
export const SECRET_FILE =
  /(^|\/)(\.env(\.(?!example|sample|template)[^/]*)?|[^/]*\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk)|id_(rsa|dsa|ecdsa|ed25519)|\.netrc|\.npmrc|\.pypirc|\.pgpass|\.git-credentials|\.htpasswd|credentials(\.(json|ya?ml|toml|ini))?|secrets?\.(json|ya?ml|toml|env)|service-account[^/]*\.json|token(s)?\.json)$/i;

/** The rules a command is held against, by what they speak about. */
export interface ShellRules {
  exec: readonly string[];
  read: readonly string[];
  write: readonly string[];
}

/** The parts of a command, reasons that concern the whole text last. */
export function judgeShell(shell: ShellPlan, rules: ShellRules, place: Place): Part[] {
  const isPlain = shell.form !== "shell";
  const around = { shell, rules, place, isPlain };
  const commands = shell.commands.filter(({ words, assignments }) => words[0]!.guess !== "" || assignments.length > 0);
  const parts: Part[] = commands.map((command) => judgeCommand(command, around));
  const tops = parts.filter((part) => !part.within);
  const isSpelt =
    isPlain &&
    tops.length > 0 &&
    tops.every((part) => part.rule && part.verdict === "allow" && !hasWildcard(part.rule));
  // A rule without a wildcard spells out what is wrapped, too.
  if (isSpelt)
    for (const part of parts) if (part.within) Object.assign(part, { verdict: "allow", rule: tops[0]!.rule });
  for (const { kind, text } of shell.reasons) {
    if (REFUSED.has(kind)) parts.push({ what: kind, verdict: "deny", because: text });
    // A rule that covers the interpreter spells the script: judgeArguments leaves nothing before it open.
    else if (!isSpelt && !(isPlain && kind === "script")) parts.push({ what: kind, verdict: "ask", because: text });
  }
  if (isPlain) for (const command of commands) parts.push(...judgeRedirects(command, around));
  for (const setting of shell.settings ?? []) {
    parts.push({
      what: "git setting",
      verdict: "ask",
      because: `The repository makes git run or change something: ${setting}.`,
    });
  }
  return parts;
}

interface Around {
  shell: ShellPlan;
  rules: ShellRules;
  place: Place;
  isPlain: boolean;
}

function judgeCommand(command: ShellCommand, { shell, rules, place, isPlain }: Around): Part {
  const what = command.words.map((word) => word.literal ?? word.guess).join(" ");
  const within = command.within.length > 0 ? { within: command.within } : {};
  const ask = (because: string): Part => ({ what, verdict: "ask", because, ...within });
  if (command.within.length > 0) return ask(`It runs inside ${command.within.join(" > ")}.`);
  const hidden = secretFile(command, shell, place);
  const match = isPlain ? allowingRule(rules.exec, command, place, shell.cwd) : undefined;
  const name = command.words[0]!.guess;
  if (!match) {
    if (hidden) return { what, verdict: "deny", because: `${hidden} holds secrets.` };
    return ask(
      isPlain
        ? `No rule allows ${name}${rules.exec.some((rule) => rule.startsWith(`${name} `)) ? " with these arguments" : ""}.`
        : "Only plain commands can be allowed by a rule.",
    );
  }
  const args = command.words.slice(1).map((word) => word.literal!);
  const judged = judgeArguments(baseName(name), args);
  const isOpen = (index: number) => !match.spelt[index];
  const concern = judged.concerns.find(({ index }) => isOpen(index));
  const covered = `${name} is covered by "${match.rule}"`;
  if (hidden && !match.spelt.every(Boolean))
    return { what, verdict: "deny", because: `${covered}, but ${hidden} holds secrets.` };
  if (concern) return ask(`${covered}, but ${concern.text}.`);
  if (judged.follows !== undefined && isOpen(judged.follows))
    return ask(`${covered}, but with ${args[judged.follows]} it follows links that may lead out of the workspace.`);
  const outside = judged.files.find(
    (file) =>
      isOpen(file.index) &&
      !isCovered(file.path, match.words[file.index], { shell, place }) &&
      !mayLook(file, { name: baseName(name), shell, rules, place }),
  )?.path;
  if (outside) return ask(`${covered}, but ${outside} is outside the workspace.`);
  const reached = hasFiles(baseName(name))
    ? undefined
    : reachingWord(args, isOpen, { git: baseName(name) === "git", shell, place });
  if (reached) return ask(`${covered}, but ${reached} is outside the workspace.`);
  const loaded = hasFiles(baseName(name)) || baseName(name) === "git" ? undefined : loadedWord(args, isOpen);
  if (loaded) return ask(`${covered}, but other programs load and run ${loaded}.`);
  const isFile = (index: number) => !hasFiles(baseName(name)) || judged.files.some((file) => file.index === index);
  const link = command.links?.find(({ word }) => word < command.words.length && isOpen(word - 1) && isFile(word - 1));
  if (link) return ask(`${covered}, but ${link.path} is a link that leads out of the workspace.`);
  return { what, verdict: "allow", because: `${covered}.`, rule: match.rule };
}

type Where = Pick<Around, "shell" | "place">;

/** Programs and libraries of the system: which of them there are is no secret, and `which` tells it too. */
const PUBLIC_NAMES = /^\/(usr|bin|sbin|lib\d*)(\/|$)/;

/** Whether a program may show this file, or only its name, size and times, without asking. */
function mayLook(
  { path, use }: Judgement["files"][number],
  { name, shell, rules, place }: Omit<Around, "isPlain"> & { name: string },
): boolean {
  const at = absolute(path, shell.cwd, place.userHome);
  if (mayRead(at, rules, place)) return true;
  if (use === "content" || path.includes("..")) return false;
  // The sizes of file systems: without a file it shows them all.
  if (name === "df" && at === "/") return true;
  return PUBLIC_NAMES.test(at) || coveringRule(rules.read, { risk: "read", targets: [at] }, place) !== undefined;
}

/** The rule names the place itself, with a pattern: `ls /srv/*`. */
function isCovered(path: string, wanted: string | undefined, { shell, place }: Where): boolean {
  if (wanted === undefined || !isReaching(wanted)) return false;
  const at = (word: string) => absolute(word, shell.cwd, place.userHome);
  return matchesGlob(at(wanted), at(path));
}

function mayRead(path: string, rules: ShellRules, place: Place): boolean {
  return isOwn(path, place) || path === "/dev/null" || pathRule(rules.read, path, place) !== undefined;
}

/**
 * A word that may name something outside, for programs whose arguments nobody has written down: which of them are files is not
 * known, so each that could be one counts (`--output=/x`, `-F../x`, `@/x`, `file:/x`).
 */
function reachingWord(
  args: readonly string[],
  isOpen: (index: number) => boolean,
  { git, shell, place }: Where & { git: boolean },
): string | undefined {
  for (const [index, arg] of args.entries()) {
    if (!isOpen(index) || (git && isGitText(args, index))) continue;
    const out = pathsInWord(arg).find(
      (path) => isReaching(path) && path !== "/dev/null" && !isOwn(absolute(path, shell.cwd, place.userHome), place),
    );
    if (out) return out;
  }
  return undefined;
}

/** A word that names a file other programs run: `cp x .git/hooks/pre-commit`, `curl -o.envrc …`. */
function loadedWord(args: readonly string[], isOpen: (index: number) => boolean): string | undefined {
  const isLoaded = (path: string) => LOADED.test(normalise(`/${path}`));
  return args.find(
    (arg, index) =>
      isOpen(index) && [...pathsInWord(arg), arg.replace(/^-[A-Za-z]+/, "")].some((path) => isLoaded(path)),
  );
}

/** Files a plain command is connected to: reading like `read`, writing like `write`. */
function judgeRedirects(command: ShellCommand, { shell, rules, place }: Around): Part[] {
  const parts: Part[] = [];
  for (const [i, { operator, target, isDescriptor }] of command.redirects.entries()) {
    const path = absolute(target.guess, shell.cwd, place.userHome);
    if (isDescriptor || path === "/dev/null") continue;
    const what = `${operator} ${target.guess}`;
    const leaves = command.links?.find(({ word }) => word === command.words.length + i);
    const ask = (because: string) => parts.push({ what, verdict: "ask", because });
    if (leaves) ask(`${target.guess} is a link that leads out of the workspace.`);
    else if (operator === "<") {
      if (SECRET_FILE.test(path)) parts.push({ what, verdict: "deny", because: `${target.guess} holds secrets.` });
      else if (!mayRead(path, rules, place)) ask(`It reads ${target.guess}, which is outside the workspace.`);
    } else if (STANDING.test(path) || LOADED.test(path))
      ask(`It writes ${target.guess}, which other programs or later turns load.`);
    else if (!pathRule(rules.write, path, place)) ask(`It writes ${target.guess}, and no rule allows writing there.`);
  }
  return parts;
}

/** A word that names a file of secrets, for programs that show what is in files. By name only, there or not (EX-33). */
function secretFile(command: ShellCommand, shell: ShellPlan, place: Place): string | undefined {
  const name = baseName(command.words[0]!.guess);
  const args = command.words.slice(1).map((word) => word.literal ?? word.guess);
  if (!SHOWS.test(name)) return undefined;
  const shown = judgeArguments(name, args).files;
  const byOption = args.flatMap((arg, i) =>
    /^(-[A-Za-z]*f|--file)$/.test(arg)
      ? [args[i + 1] ?? ""]
      : /^(-f|--file=)./.test(arg)
        ? [arg.replace(/^(-f|--file=)/, "")]
        : [],
  );
  return [...shown.filter((file) => file.use === "content").map((file) => file.path), ...byOption].find((path) =>
    SECRET_FILE.test(absolute(path, shell.cwd, place.userHome)),
  );
}

const SHOWS =
  /^(cat|tac|nl|head|tail|grep|egrep|fgrep|rg|sort|uniq|cut|wc|paste|join|comm|cmp|diff|od|hexdump|strings|fold|fmt|sed|file)$/;

function baseName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}
