/**
 * Judging a command: its parts one by one, then the whole. Pure.
 *
 * G1: only plain text can be allowed by a rule, and only when a rule covers each of its commands.
 * G2: arguments that a rule leaves open are held against what is known of the program (programs.ts).
 * G3: what a person could not see before saying yes is refused rather than asked.
 */
import type { ShellCommand, ShellPlan, ShellReasonKind } from "../../core/contracts/index.ts";
import { hasWildcard } from "./glob.ts";
import { absolute, isInside } from "./paths.ts";
import { judgeArguments } from "./programs.ts";
import { allowingRule, type Place } from "./rules.ts";

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
const SECRET_FILE =
  /(^|\/)(\.env(\.(?!example|sample|template)[^/]*)?|[^/]*\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk)|id_(rsa|dsa|ecdsa|ed25519)|\.netrc|\.npmrc|\.pypirc|\.pgpass|\.git-credentials|\.htpasswd|credentials(\.(json|ya?ml|toml|ini))?|secrets?\.(json|ya?ml|toml|env)|service-account[^/]*\.json|token(s)?\.json)$/i;

/** The parts of a command, reasons that concern the whole text last. */
export function judgeShell(shell: ShellPlan, rules: readonly string[], place: Place): Part[] {
  const isPlain = shell.form !== "shell";
  const parts: Part[] = shell.commands
    .filter(({ words, assignments }) => words[0]!.guess !== "" || assignments.length > 0)
    .map((command) => judgeCommand(command, { shell, rules, place, isPlain }));
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
    else if (!isSpelt) parts.push({ what: kind, verdict: "ask", because: text });
  }
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
  rules: readonly string[];
  place: Place;
  isPlain: boolean;
}

function judgeCommand(command: ShellCommand, { shell, rules, place, isPlain }: Around): Part {
  const what = command.words.map((word) => word.literal ?? word.guess).join(" ");
  const within = command.within.length > 0 ? { within: command.within } : {};
  const ask = (because: string): Part => ({ what, verdict: "ask", because, ...within });
  if (command.within.length > 0) return ask(`It runs inside ${command.within.join(" > ")}.`);
  const hidden = secretFile(command, shell, place);
  const match = isPlain ? allowingRule(rules, command, place, shell.cwd) : undefined;
  const name = command.words[0]!.guess;
  if (!match) {
    if (hidden) return { what, verdict: "deny", because: `${hidden} holds secrets.` };
    return ask(
      isPlain
        ? `No rule allows ${name}${rules.some((rule) => rule.startsWith(`${name} `)) ? " with these arguments" : ""}.`
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
  const outside = judged.files.find(
    ({ index, path, use }) =>
      use === "content" && isOpen(index) && !isInside(absolute(path, shell.cwd, place.userHome), place.workspace),
  );
  if (outside) return ask(`${covered}, but ${outside.path} is outside the workspace.`);
  return { what, verdict: "allow", because: `${covered}.`, rule: match.rule };
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
