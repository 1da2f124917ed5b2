/**
 * What the gate says: one sentence for each verdict. People read it in an approval, the model in a refusal, and both in
 * `lares policy explain`. A clause without a full stop goes into a sentence such as `git is covered by "git *", but …`.
 */
import type { ActionPlan } from "../../core/contracts/index.ts";

// Why something is allowed.

export const ONLY_ADDS = "The owner asked for it, and it only adds something that can be undone.";
export const ONLY_READS = "It only reads inside the workspace.";
export const STARTS_NOTHING = "It starts no program.";

export function alwaysAllowed(rule: string): string {
  return `You always allow this: ${rule}`;
}

export function allowedByRules(rules: readonly string[]): string {
  return `Allowed by ${rules.length === 1 ? "the rule" : "the rules"} ${rules.map((rule) => `"${rule}"`).join(", ")}.`;
}

export function allowedByMode(mode: string, because: string): string {
  return `The agent's mode is "${mode}": ${because}`;
}

// Why a person is asked.

export const LOADED_FILE = "It changes a file that other programs load and run.";
export const NEEDS_NAMING_RULE = "Its server says that it can't be undone, so only a rule that names it can allow it.";
export const UNNAMED_FILES = "It runs a program on files that aren't named.";
export const NOT_PLAIN = "Only plain commands can be allowed by a rule.";
export const BEFORE_GIT = "A command before git may change what git runs; use two calls.";

/** By the plan's risk, when there is nothing more exact to say. */
export const BY_RISK: Record<Exclude<ActionPlan["risk"], "state">, string> = {
  read: "It reads something.",
  write: "It changes files.",
  exec: "It runs a program on this machine.",
  network: "It connects to the network.",
  service: "It uses a tool or an agent of somebody else's.",
};

/** After "would". */
const STATE_BY_TOOL: Readonly<Record<string, string>> = {
  memory_save: "save a memory",
  memory_forget: "delete memories",
  schedule_add: "add a schedule",
  schedule_update: "change a schedule",
  schedule_snooze: "run a schedule again later",
  schedule_remove: "remove a schedule",
  message: "send to another chat",
};

const STATE_BY_KIND: Readonly<Record<NonNullable<ActionPlan["changes"]>, string>> = {
  memory: "change what the agent remembers",
  skills: "change a skill",
  schedule: "change a schedule",
  policy: "change what may run without asking",
  rights: "change who is allowed to do what",
  destination: "send to another chat",
};

/** What an action would do to what Lares stores. */
export function stateWords({ tool, changes }: Pick<ActionPlan, "tool" | "changes">): string {
  if (Object.hasOwn(STATE_BY_TOOL, tool)) return STATE_BY_TOOL[tool]!;
  return changes ? STATE_BY_KIND[changes] : "change something Lares stores";
}

export function wouldChange(plan: Pick<ActionPlan, "tool" | "changes">): string {
  return `It would ${stateWords(plan)}.`;
}

export function readsOutside(what: string): string {
  return `It reads ${what}, which is outside the workspace.`;
}

export function readsSecretOutside(path: string): string {
  return `It reads ${path}, which is outside the workspace and probably holds passwords or keys. Rules for reading don't cover such files.`;
}

export function readsFoundOutside(program: string, folder: string): string {
  return `${program} would read files in ${folder}, which is outside the workspace.`;
}

export function runsInside(wrappers: readonly string[]): string {
  return `It runs inside ${wrappers.join(" > ")}.`;
}

export function noRuleAllows(program: string, isNear: boolean): string {
  return `No rule allows ${program}${isNear ? " with these arguments" : ""}.`;
}

export function gitSetting(setting: string): string {
  return `The repository's settings make git run or change something: ${setting}.`;
}

/** A program may have moved or linked files before the next command opens them by name. */
export function afterMoving(mover: string, program: string, isBeside: boolean): string {
  if (isBeside)
    return `${mover} runs at the same time and may change which files the names refer to; call ${program || REDIRECTION} separately.`;
  return `${mover} may change which files the names after it refer to; call ${program || REDIRECTION} separately afterwards.`;
}

export function movesMeanwhile(program: string): string {
  return `${program} may move or link files while other commands run.`;
}

export function opensLate(program: string): string {
  return `${program || REDIRECTION} opens its files later, and by then their names may refer to other files.`;
}

const REDIRECTION = "the redirection";

// What a rule covers, and what is still wrong with it.

export function covered(program: string, rule: string): string {
  return `${program} is covered by "${rule}"`;
}

export function coveredBut(coveredBy: string, concern: string): string {
  return `${coveredBy}, but ${concern}`;
}

export function holdsSecretsText(path: string): string {
  return `${path} holds secrets.`;
}

export function searchesSecrets(path: string): string {
  return `it would also search ${path}, which holds secrets.`;
}

export function followsLinks(option: string): string {
  return `with ${option} it follows links that may lead out of the workspace.`;
}

export function isOutside(path: string): string {
  return `${path} is outside the workspace.`;
}

export function isLoadedLater(path: string): string {
  return `other programs or later turns load ${path}.`;
}

export function writesLoaded(path: string): string {
  return `it writes ${path}, which other programs or later turns load.`;
}

export function mayWriteSteering(path: string): string {
  return `it may write ${path}, which tells other programs what to run, and no rule allows writing there.`;
}

export function writesUnruled(path: string): string {
  return `it writes ${path}, and no rule allows writing there.`;
}

export const KEEPS_OUTPUT =
  "A data file of the agent may take the output of an allowed command. It asks where others spoke or text was sent in (a webhook, a forwarded message, a file).";

export function writesSentIn(path: string): string {
  return `It writes ${path}. This conversation contains text that was sent in from outside, and then writing needs a rule for the file.`;
}

export function writesUnrestored(path: string): string {
  return `It writes ${path}. This conversation contains text from outside, and undo couldn't restore the file.`;
}

export function gitFolder(path: string): string {
  return `${path} is inside a git repository's own folder, and git runs what is there`;
}

export function hardLinked(path: string): string {
  return `${path} has other names (hard links), one of which may be outside the workspace`;
}

export function linkOut(path: string): string {
  return `${path} is a link that leads out of the workspace`;
}

// Arguments that a rule left open.

export function notHarmless(argument: string, program: string): string {
  return `${argument} is not known to be harmless for ${program}`;
}

export function namesItself(word: string): string {
  return `with ${word} the server or a pattern decides what the file is called`;
}

export function writesHidden(path: string): string {
  return `${path} is a hidden file, which other programs may load`;
}

export function mayObeyInput(program: string): string {
  return `${program} may do what its input says, and no rule can spell that.`;
}

export function argumentsCanRun(program: string): string {
  return `${program}'s arguments can make it run programs or change files`;
}

export function runsWhileRead(file: string): string {
  return `a view in ${file} could run a program. With -safe it can't: then the rule "sqlite3 -safe ${file} *" covers queries`;
}

export function textCanRun(program: string): string {
  return `${program}'s program text can run programs or change files`;
}

export function mayLoad(option: string): string {
  return `${option} may run or load something`;
}

export function takesNoValue(option: string): string {
  return `${option} takes no value`;
}

export function takesNextWord(option: string): string {
  return `${option} takes the next word as its value`;
}

export function inGroup(letter: string): string {
  return `-${letter} is combined with other letters`;
}

export function tooManyOperands(program: string): string {
  return `with this many operands ${program} does more than read`;
}

export function showsVariables(argument: string): string {
  return `ps ${argument} may show the environment variables of other programs`;
}

export function moreArguments(argument: string): string {
  return `strings would take more arguments from ${argument}`;
}

export const SED_SCRIPT = "sed's script can write files and run programs";
export const JQ_ELSEWHERE = "a jq filter with import, include or env reads more than its input";
export const UNIQ_THIRD = "uniq takes no third file";
export const UNZIP_WRITES = "unzip's arguments can make it change files";
export const SETS_CLOCK = "date would set the clock";

// git's own.

export const SIGNATURES = "checking signatures starts gpg";
export const BRANCH_NAME = "git branch with a name creates or changes a branch";
export const TAG_NAME = "git tag with a name creates a tag";
export const REMOTES = "git remote changes or contacts remotes";
export const STASH_CHANGES = "git stash changes files";
export const REFLOG_CHANGES = "git reflog changes the log";
export const CONFIG_CHANGES = "git config changes settings";

export function changesGit(option: string): string {
  return `git ${option} changes how git works`;
}

export function doesMoreThanRead(command: string): string {
  return `git ${command} does more than read`;
}

export function doesMoreThanLook(program: string, command: string): string {
  return `${program} ${command} may fetch, change or start something`;
}

export function ruleWouldAllow(rule: string): string {
  return `the rule "${rule}" would allow it`;
}

export function gitRunsThrough(command: string, argument: string): string {
  return `git ${command} can run programs through ${argument}`;
}

// The hard floor.

export const POLICY_IS_PEOPLES = "Only people can change Lares' own policy and rights.";
export const SETTINGS_ARE_PEOPLES = "Only people can change Lares' own settings, tokens and approvals.";
export const OWN_GATEWAY = "Commands may not talk to Lares' own gateway.";
export const OWN_GATEWAY_BUT =
  "Commands may not talk to Lares' own gateway, except to read /healthz, /readyz and /metrics.";
export const TOO_LONG_TO_JUDGE = "It's too long to be judged; split it into several calls.";
export const TOO_LONG_TO_REVIEW = "It's too long for a person to review; make it a script or several calls.";
export const COMPUTED_REMOVAL = "Its code deletes something that is only known when it runs.";
export const COMPUTED_FOLDER = "It deletes a folder that is only known when it runs.";
export const FORK_BOMB = "It starts copies of itself without end.";
export const DELETES_HOME = "It would delete a whole home directory.";
export const WIPES_MACHINE = "It would wipe a home directory or the machine.";
export const INIT_STATE = "init changes the state of the machine.";
export const SYSCTL = "sysctl changes kernel settings.";
export const KILLS_ALL = "It would end every process.";
export const DD_DISK = "dd writes to a disk.";
export const NO_PRESERVE_ROOT = "rm --no-preserve-root is meant for wiping a machine.";

export function deniedByRule(tool: string, rule: string): string {
  return `A deny rule forbids it: ${tool} ${rule}`;
}

export function notParsed(why: string): string {
  return `${why} What can't be parsed can't be judged; use simpler commands.`;
}

export function usesDisk(what: string): string {
  return `It accesses a disk device directly: ${what}.`;
}

export function changesKernel(path: string): string {
  return `It changes kernel settings: ${path}.`;
}

export function destroysDisk(program: string): string {
  return `${program} destroys the data on a disk.`;
}

export function affectsMachine(program: string): string {
  return `${program} affects the whole machine.`;
}

export function stopsMachine(program: string): string {
  return `${program} would stop the machine.`;
}

export function wouldDelete(program: string, what: string): string {
  return `${program || "It"} would delete ${what}.`;
}

export function wouldDeleteIn(program: string, folder: string): string {
  return `${program || "It"} would delete files in ${folder}.`;
}

export function deletesUnchecked(wrappers: readonly string[], program: string): string {
  return `${wrappers.join(" > ")} would pass ${program} names that can't be checked; use find with -delete, or name the files.`;
}

export function changesPermissions(program: string, folder: string): string {
  return `${program} would change the permissions of everything in ${folder}.`;
}

export function readsEverything(program: string, folder: string): string {
  return `${program} would read everything in ${folder}, keys and credentials included.`;
}

export function offLimits(kind: "system" | "credentials" | "lares", path: string): string {
  return `${OFF_LIMITS[kind]} is off limits: ${path}.`;
}

const OFF_LIMITS = {
  system: "A folder with credentials or kernel settings",
  credentials: "A folder with credentials",
  lares: "Lares' own data",
} as const;

// Guests, and text from outside.

export const ASKED_FOR_GUESTS = "Your rules don't apply to guests, so you are asked each time.";
export const NO_SCHEDULES = "Schedules are only for people the owner has accepted.";
export const NO_SERVICES = "Tools of MCP servers and agents elsewhere are only for people the owner has accepted.";
export const NO_WORKSPACE = "People the owner hasn't accepted can't use the workspace.";

const CAUSES = { outside: "Text from outside", others: "Somebody other than the owner" } as const;

export function causedBy(cause: keyof typeof CAUSES, what: string): string {
  return `${CAUSES[cause]} would ${what}, so a person has to approve it.`;
}

/** After "would". */
export const WOULD = {
  reach: "reach a new destination",
  instruct: "change standing instructions",
  feed: "give input to a running program",
  connect: "run a program that may connect anywhere (the command does not show where)",
} as const;

export function reachHost(host: string): string {
  return `${WOULD.reach}, ${host}`;
}

export function instructBy(file: string): string {
  return `${WOULD.instruct} (${file})`;
}

export function callTools(names: readonly string[]): string {
  return `call ${names.join(", ")}`;
}

/** Standing files that no word of the command names; in brackets after "change standing instructions". */
export const STANDING_FILE = {
  unknownFolder: "in a folder that is only known when it runs",
  scriptText: "in the text of the script",
  computedName: "a file whose name is computed",
  archive: "anything in the archive or patch",
  patch: "anything in the patch",
  gitSettings: "git's settings",
} as const;

export function hardLinkedFile(path: string): string {
  return `${path}, a file with other names (hard links)`;
}

export function inFolder(folder: string): string {
  return `in ${folder}`;
}

// Rules that can't be used.

export const NAMES_NO_PROGRAM = "A rule must name a program.";

export function unclosedQuote(rule: string): string {
  return `"${rule}" has a quote that is never closed.`;
}

export function allowsEverything(rule: string): string {
  return `"${rule}" would allow every program; if you want that, set mode: record instead.`;
}

export function hasShellSyntax(rule: string): string {
  return `"${rule}" contains shell syntax, but a rule is one program with its arguments. Put quotes around what is meant literally.`;
}

// `lares policy explain`.

const FORMS = {
  argv: "started without a shell",
  rendered: "plain commands, rewritten for the shell",
  shell: "passed to the shell as it is",
  other: "not a command",
} as const;

export const VARIABLES_ONLY = "(variables only)";
export const PARTLY_COMPUTED = " (partly computed)";
export const JUDGED = "judged:";

export function modeAndForm(mode: string, form: keyof typeof FORMS): string {
  return `mode ${mode}; ${FORMS[form]}`;
}

export function showInside(wrappers: string): string {
  return ` [in ${wrappers}]`;
}

export function neverAllowed(rule: string, why: string): string {
  return `No rule can allow "${rule}". ${why}`;
}

/** What to do about words of the shell that a rule was written for. */
const INSTEAD: Readonly<Record<string, string>> = {
  cd: 'It needs none: "cd DIR && …" runs where rules allow the commands after it and DIR is in the agent\'s folders.',
  type: 'Write "which *" instead; it covers type as well.',
  command: 'Write "which *" instead; it covers command -v as well.',
};

export function coversShellWord(rule: string, word: string): string {
  const instead = Object.hasOwn(INSTEAD, word) ? ` ${INSTEAD[word]}` : "";
  return `"${rule}" covers nothing: ${word} is part of the shell, not a program, so no rule can allow it.${instead}`;
}

/** What they run is judged by that program's own rule. */
const RUNS_OTHERS = /^(xargs|time)$/;

/** `examples`: rules for this program that cover what they seem to. */
export function coversLittle(rule: string, program: string, examples: readonly string[]): string {
  if (RUNS_OTHERS.test(program))
    return `"${rule}" covers hardly anything, because ${program} can run anything it's given. Write a rule for what it runs instead.`;
  if (examples.length === 0)
    return `"${rule}" covers hardly anything, because what ${program} does depends on what it's given. Write its arguments into the rule in full.`;
  const shown = examples.map((example) => `"${example}"`).join(" or ");
  return `"${rule}" covers hardly anything, because ${program} can run anything it's given. Put what it may be given into the rule, for example: ${shown}.`;
}

/** `meant`: the rule with a blank before its `*`, where that makes sense. */
export function coversNoProgram(rule: string, meant: string | undefined): string {
  const instead = meant === undefined ? "Write the whole name." : `Did you mean "${meant}"?`;
  return `"${rule}" can't match any command: a rule names its program without wildcards. ${instead}`;
}

export function notAHost(rule: string, example: string): string {
  return `"${rule}" can't match any address: a rule here names a host, without protocol, port or path. For example: ${example}`;
}

/** About rules for tools that aren't there. */
export function noSuchTools(
  names: readonly { name: string; near: string | undefined }[],
  tools: readonly string[],
): string {
  const told = names.map(({ name, near }) => (near === undefined ? `"${name}"` : `"${name}" (did you mean ${near}?)`));
  return `There is no tool ${told.join(" or ")}. Tools: ${tools.join(", ")}.`;
}
