/**
 * Rules as people write them. For `exec` a rule is a program and its arguments, word by word: `git status *`. A `*` written
 * last stands for any further words, none included; elsewhere `*` and `?` stay within one word and never cross a slash.
 */
import type { ActionPlan, ShellCommand } from "../../core/contracts/index.ts";
import { hasWildcard, matchesGlob } from "./glob.ts";
import { absolute, normalise } from "./paths.ts";
import { allowsEverything, hasShellSyntax, NAMES_NO_PROGRAM, unclosedQuote } from "./words.ts";

export interface GatePlace {
  /** Everything Lares owns: settings, database, agents. */
  home: string;
  /** The home of the person Lares runs as. */
  userHome: string;
  agentDir: string;
  workspace: string;
  /** Folders besides the workspace that the agent works in. */
  roots?: readonly string[];
  /** Where Lares' own gateway listens. */
  doors?: GatewayDoors;
}

export interface GatewayDoors {
  ports: readonly number[];
  /** Names and addresses of this machine, in lower case, besides those of the loopback. */
  hosts: readonly string[];
}

/** Files an agent takes instructions from in later turns. */
const STANDING = /(^|\/)(USER|MEMORY)\.md$|(^|\/)(skills|\.claude|\.codex|\.github|\.git)\//;
/** The same in any case: on many disks `agents.md` is AGENTS.md. */
const STANDING_IN_ANY_CASE = /(^|\/)(SOUL|AGENTS|CLAUDE|GEMINI|HEARTBEAT|SKILL)(\.local|\.override)?\.md$/i;

export function isStandingFile(path: string): boolean {
  return STANDING.test(path) || STANDING_IN_ANY_CASE.test(path);
}
/** Such a file, a folder of such files, or something in one. */
export function isStanding(path: string): boolean {
  return isStandingFile(path) || isStandingFile(`${path}/`);
}
/**
 * Writing here makes other programs run or obey what was written: no rule covers it, a person does. The workspace is the home of
 * every command, so what programs look for in a home counts (`.curlrc`, `.config/git/config`).
 */
const LOADED =
  /(^|\/)(\.git|\.husky|\.githooks|\.config|\.ssh|\.gnupg|\.docker|\.cargo|\.jq|\.local|\.vim|\.emacs\.d|\.pip|\.gradle|\.m2|\.vscode|\.cursor|\.bundle|\.terraform\.d|\.kube|\.aws|\.azure|\.subversion|\.ipython|\.jupyter|\.julia|\.mvn|\.sbt|\.ctags\.d|\.idea|\.zed|\.devcontainer|\.circleci|\.oh-my-zsh|\.continue|\.gemini|\.roo|\.kiro|\.opencode|\.windsurf|\.clinerules|\.junie|\.amazonq|\.agents)(\/|$)|(^|\/)(\.curlrc|\.wgetrc|\.wget2rc|\.netrc|\.manpath|\.psqlrc|\.my\.cnf|\.sqliterc|\.gdbinit|\.screenrc|\.tmux\.conf|\.lesskey|\.magic(\.mgc)?|\.envrc|\.bashrc|\.bash_profile|\.profile|\.zshrc|\.zshenv|\.gitconfig|\.gitmodules|\.gitattributes|\.npmrc|\.yarnrc(\.yml)?|\.vimrc|\.exrc|\.emacs|\.inputrc|\.bash_login|\.bash_logout|\.zprofile|\.zlogin|\.zlogout|\.pdbrc|\.mailcap|\.hgrc|\.irbrc|\.gemrc|\.pypirc|\.mcp\.json|\.pre-commit-config\.yaml|\.cursorrules|\.windsurfrules|\.goosehints|\.aider\.conf\.yml|\.bash_aliases|\.zsh_aliases|\.aliases|\.cshrc|\.tcshrc|\.login|\.kshrc|\.mkshrc|\.xinitrc|\.xprofile|\.pam_environment|\.forward|\.rhosts|\.lldbinit|\.pryrc|\.Rprofile|\.latexmkrc|\.ocamlinit|\.ghci|\.iex\.exs|\.octaverc|\.duckdbrc|\.perldb|\.tclshrc|\.wishrc|\.bazelrc|\.condarc|\.pythonrc|\.gnuplot|\.mise\.toml|\.tool-versions|\.lefthook\.yml|\.overcommit\.yml|\.gitlab-ci\.yml|\.pnpmfile\.cjs)$/;

/** Such a file, seen from the agent: that its folder lies somewhere below one called `.config` says nothing about the file. */
export function isLoaded(path: string, place: Pick<GatePlace, "workspace" | "roots">): boolean {
  return LOADED.test(stripRoot(path, place));
}

/** An absolute path as the agent sees it, from the folder of its own that it lies in. */
export function stripRoot(path: string, { workspace, roots = [] }: Pick<GatePlace, "workspace" | "roots">): string {
  const root = [workspace, ...roots].find((one) => path === one || path.startsWith(`${one}/`));
  return root === undefined ? path : path.slice(root.length);
}

/** A rule is matched word by word and never as text, so quotes and blanks can't be used to get around it. */
export interface ExecRule {
  text: string;
  words: string[];
  /** The rule ends in `*`. */
  open: boolean;
  /** Why it cannot be used. */
  problem?: string;
}

export function parseExecRule(text: string): ExecRule {
  const words = split(text);
  const rule: ExecRule = { text, words: words ?? [], open: false };
  if (!words) rule.problem = unclosedQuote(text);
  else if (words.length === 0) rule.problem = NAMES_NO_PROGRAM;
  else if (/^[*?]+$/.test(words[0]!) || words[0] === "**") {
    rule.problem = allowsEverything(text);
  } else if (/[|&;<>()$`]/.test(text.replace(/'[^']*'|"[^"]*"/g, ""))) {
    rule.problem = hasShellSyntax(text);
  } else if (words.length > 1 && words[words.length - 1] === "*") {
    rule.open = true;
    rule.words = words.slice(0, -1);
  }
  return rule;
}

/** Blanks separate, quotes keep together. No expansion: `*` and `?` are the rule's own. */
function split(text: string): string[] | undefined {
  const out: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (const sign of text) {
    if (quote) {
      if (sign === quote) quote = "";
      else word = (word ?? "") + sign;
    } else if (sign === "'" || sign === '"') {
      quote = sign;
      word ??= "";
    } else if (/\s/.test(sign)) {
      if (word !== undefined) out.push(word);
      word = undefined;
    } else word = (word ?? "") + sign;
  }
  if (word !== undefined) out.push(word);
  return quote ? undefined : out;
}

/** How a rule covers a command: `spelt[i]` says that the rule spells argument i out, without wildcards. */
export interface RuleMatch {
  rule: string;
  spelt: boolean[];
  /** What the rule says of each argument; nothing for those that its last `*` covers. */
  words: readonly string[];
}

/** The allow rule that covers a plain command, the one that spells out most. */
export function allowingRule(
  rules: readonly string[],
  command: ShellCommand,
  place: GatePlace,
  cwd: string,
): RuleMatch | undefined {
  let best: RuleMatch | undefined;
  const name = command.words[0]!.literal ?? "";
  for (const text of rules) {
    // Most rules are about other programs; those are passed by without reading them.
    if (!text.startsWith(name) && !/^[\s'"]|\//.test(text)) continue;
    const rule = parseExecRule(text);
    if (rule.problem || !programAllowed(rule, command, place, cwd)) continue;
    const spelt = argumentsMatch(rule, command);
    if (!spelt) continue;
    const score = (m: RuleMatch) => m.spelt.filter(Boolean).length;
    const match = { rule: text, spelt, words: rule.words.slice(1) };
    if (!best || score(match) > score(best)) best = match;
  }
  return best;
}

/** A bare name stands for a trusted program of that name; a path stands for that file, followed through links. */
function programAllowed(rule: ExecRule, command: ShellCommand, place: GatePlace, cwd: string): boolean {
  const name = command.words[0]!.literal;
  const { program } = command;
  const wanted = rule.words[0]!;
  if (name === undefined || !program) return false;
  if (!wanted.includes("/") && !wanted.startsWith("~"))
    return program.trusted && !name.includes("/") && wanted === name;
  if (!name.includes("/")) return false;
  const at = absolute(name, cwd, place.userHome);
  const glob =
    wanted.startsWith("/") || wanted.startsWith("~")
      ? absolute(wanted, "/", place.userHome)
      : normalise(`${place.workspace}/${wanted}`);
  if (program.path !== at || !matchesGlob(glob, at)) return false;
  return program.real === at || program.trusted || matchesGlob(glob, program.real);
}

function argumentsMatch(rule: ExecRule, command: ShellCommand): boolean[] | undefined {
  const args = command.words.slice(1);
  const wanted = rule.words.slice(1);
  if (args.length < wanted.length || (!rule.open && args.length !== wanted.length)) return undefined;
  const spelt: boolean[] = [];
  for (const [i, word] of args.entries()) {
    if (word.literal === undefined) return undefined;
    const want = wanted[i];
    if (want !== undefined && want !== word.literal && !(hasWildcard(want) && matchesGlob(want, word.literal)))
      return undefined;
    spelt.push(want !== undefined && !hasWildcard(want));
  }
  return spelt;
}

/** A deny rule is met by the program's name, however it is reached, and by arguments as far as they can be guessed. */
export function deniedBy(
  rules: readonly string[],
  words: readonly string[],
  real: string | undefined,
): string | undefined {
  const name = words[0] ?? "";
  const names = new Set([name, name.slice(name.lastIndexOf("/") + 1), real ?? name]);
  if (real) names.add(real.slice(real.lastIndexOf("/") + 1));
  for (const text of rules) {
    const rule = parseExecRule(text);
    const [wanted, ...args] = rule.words;
    if (wanted === undefined) continue;
    if (![...names].some((one) => matchesGlob(wanted, one))) continue;
    const given = words.slice(1);
    if (given.length < args.length || (!rule.open && rule.words.length > 1 && given.length !== args.length)) continue;
    // `rm` alone denies every rm; `rm -rf *` only what begins so.
    if (args.every((want, i) => matchesGlob(want, given[i]!) || given[i]!.includes("*"))) return text;
  }
  return undefined;
}

/** Tools that one word in the policy stands for. */
const FAMILIES: Readonly<Record<string, readonly string[]>> = {
  write: ["write", "edit", "apply_patch"],
  read: ["read", "list", "search"],
};

/** The rules that speak about this tool, its own first. */
export function rulesFor(table: Readonly<Record<string, readonly string[]>>, tool: string): readonly string[] {
  const family = Object.keys(FAMILIES).find((name) => FAMILIES[name]!.includes(tool));
  const own = Object.hasOwn(table, tool) ? table[tool]! : [];
  const shared = family && family !== tool && Object.hasOwn(table, family) ? table[family]! : [];
  return shared.length > 0 ? [...own, ...shared] : own;
}

/** The rule that covers every target of a file, network or other action. */
export function coveringRule(
  rules: readonly string[],
  plan: Pick<ActionPlan, "risk" | "targets">,
  place: GatePlace,
): string | undefined {
  if (plan.targets.length === 0) return undefined;
  const covers = (rule: string, target: string) => {
    if (plan.risk === "network") return hostMatches(rule, target);
    if (plan.risk === "read" && rule.endsWith("/**") && pathMatches(rule.slice(0, -3), target, place)) return true;
    if (plan.risk === "write" || plan.risk === "read") return pathMatches(rule, target, place);
    return matchesGlob(rule, target);
  };
  const used = plan.targets.map((target) => rules.find((rule) => covers(rule, target)));
  return used.every((rule) => rule !== undefined) ? used[0] : undefined;
}

/** A rule that meets any target. */
export function touchingRule(rules: readonly string[], plan: ActionPlan, place: GatePlace): string | undefined {
  return rules.find((rule) =>
    plan.targets.some((target) => coveringRule([rule], { ...plan, targets: [target] }, place)),
  );
}

/** The rule about files that covers this path. */
export function pathRule(rules: readonly string[], path: string, place: GatePlace): string | undefined {
  return rules.find((rule) => pathMatches(rule, path, place));
}

/** A path without a root is seen from the agent's folder: `workspace/**`. */
function pathMatches(rule: string, target: string, place: GatePlace): boolean {
  return matchesGlob(absolute(rule, place.agentDir, place.userHome), normalise(target)) && target.startsWith("/");
}

/** `docs.example.com` is that host; `*.example.com` is every host below it. */
export function hostMatches(rule: string, target: string): boolean {
  const host = readHost(target);
  const want = rule.toLowerCase().replace(/\.$/, "");
  if (want.startsWith("*.")) return host.endsWith(want.slice(1)) && host.length > want.length - 1;
  return want !== "" && host === want;
}

function readHost(target: string): string {
  const bare = target
    .toLowerCase()
    .replace(/^[a-z][a-z0-9+.-]*:\/\//, "")
    .split(/[/?#]/, 1)[0]!;
  return bare
    .slice(bare.lastIndexOf("@") + 1)
    .replace(/:\d+$/, "")
    .replace(/\.$/, "");
}
