/**
 * Commands that come after one which may have moved things. Where names lead is looked up before the first command runs: `mv a/up up2`
 * takes a link with it that leads elsewhere from its new place, and `git restore`, `tar x` or a script may bring any link
 * there is. What a later command of the same text names is then not what was looked at.
 *
 * GATE-8: behind a command that is not known to leave the tree as it is, a command with files in its words asks, unless they are those
 *     that the output of the workspace's own code goes to (`npm test > out.txt; tail out.txt`, `make | tee build.log`).
 */
import type { ActionPlan, ShellCommand, ShellPlan } from "../../core/contracts/index.ts";
import { isGitText } from "./git.ts";
import { hasFiles, judgeArguments, runsNothing } from "./programs.ts";
import { movesMeanwhile, opensLate } from "./words.ts";

/** They read, or write plain files; none makes, moves or uncovers a link. What find and xargs run is a separate command here. */
const KEEPS =
  /^(ls|cat|tac|nl|head|tail|wc|grep|egrep|fgrep|rg|echo|printf|date|cut|tr|test|\[|pwd|basename|dirname|realpath|readlink|stat|file|du|df|diff|cmp|comm|paste|column|seq|true|false|which|type|whoami|hostname|id|uname|nproc|jq|sha1sum|sha256sum|md5sum|sleep|fold|rev|bc|read|base64|expr|env|printenv|tree|sort|uniq|tee|touch|mkdir|rm|rmdir|sed|find|xargs|xxd|od|hexdump|strings|cksum|sha512sum|b2sum|join|fmt|ps|uptime|free|groups|arch|whereis|cal|zcat)$/;
/** git's commands that leave the files of the work tree alone. */
const GIT_KEEPS =
  /^(status|log|diff|show|branch|tag|remote|rev-parse|ls-files|ls-tree|blame|shortlog|describe|reflog|cat-file|rev-list|grep|add|commit)$/;
/** A copy of what a file holds. Other options copy links or make them. */
const CP_KEEPS = /^(-[finvu]+|--)$/;
/** `npm test`, `make build`: the names of tasks. */
const RUNS_TASKS = /^(npm|pnpm|yarn|make)$/;
const TASK = /^[A-Za-z][\w:-]*$/;

/** Programs that run the workspace's own code: a rule for them lets that code do what it likes. */
const RUNS_CODE = /^(npm|pnpm|yarn|make|node|python[\d.]*|pytest|ruby|php|deno|bun|go|cargo|mvn|gradle|docker)$/;

export interface Mover {
  name: string;
  /** It stands behind the command, in the same pipe. */
  isBeside: boolean;
}

/** For each command that asks, the one before or beside it that is to blame. */
export function afterRearranging({ commands: all, text }: ShellPlan): ReadonlyMap<ShellCommand, Mover> {
  const found = new Map<ShellCommand, Mover>();
  // What npx starts, it is.
  const commands = all.filter(({ within }) => within.at(-1) !== "npx");
  const movers = commands.filter((command) => !keeps(command));
  const [first] = movers;
  if (!first) return found;
  // The commands of a pipe run side by side, and those in `$( )` before the one they stand in: which comes first is not known.
  const isMixed =
    /(^|[^|])\|([^|]|$)/.test(text) ||
    commands.some(({ within }) => within.some((one) => one === "$( )" || one === "<( )"));
  const from = isMixed ? 0 : commands.indexOf(first) + 1;
  const written = writtenByTasks(commands);
  for (const command of commands.slice(from)) {
    const isHarmless = (one: ShellCommand) => isTask(one) && opensOnly(command, written);
    const mover = movers.find((one) => one !== command && !isHarmless(one));
    if (!mover || !hasOperands(command)) continue;
    found.set(command, { name: mover.words[0]!.guess, isBeside: commands.indexOf(mover) > commands.indexOf(command) });
  }
  return found;
}

/** Words that name no file, or code to be run: `-j4`, `--run`, `src/app.test.ts`. */
const OF_TASK = /^(-{1,2}[A-Za-z][\w-]*|--|\d+|[A-Za-z][\w:-]*|[\w./-]+\.([cm]?[jt]sx?|py|go|rs)(::[\w:]+)?)$/;
const INTERPRETER = /^(node|python[\d.]*)$/;

/** The workspace's own code with nothing to work on but itself: `npm test`, `make -j4`, `node scripts/report.js`. */
function isTask({ words, isFed, within }: ShellCommand): boolean {
  const [name, ...args] = words.map((word) => word.literal ?? "");
  if (isFed || within.length > 0 || !(RUNS_CODE.test(name!) || name === "npx") || name === "docker") return false;
  const rest = INTERPRETER.test(name!) ? args.slice(args[0] === "-m" ? 2 : 1) : args;
  const isOption = (word: string) => OF_TASK.test(word) && (!INTERPRETER.test(name!) || /^-|^\d/.test(word));
  return rest.every(isOption);
}

/**
 * The files that the output of such code goes to, by `>` or by tee in its pipe. The shell opens them as it starts the code, and what the
 * code could put in their place it could as well write or print itself, so these may be named behind it.
 */
function writtenByTasks(commands: readonly ShellCommand[]): ReadonlySet<string> {
  const out = new Set<string>();
  let root: ShellCommand | undefined;
  for (const command of commands) {
    if (command.within.length > 0) continue;
    if (!command.isFed) root = command;
    if (root === undefined || !isTask(root)) continue;
    const { words, redirects } = command;
    if (words[0]!.literal === "tee") {
      const { writes = [] } = judgeArguments("tee", listArguments(command));
      for (const { path } of writes) out.add(path);
    }
    if (command !== root) continue;
    for (const { operator, target, isDescriptor } of redirects)
      if (operator.includes(">") && !isDescriptor && target.literal !== undefined) out.add(target.literal);
  }
  return out;
}

/** Whether a command opens these files and no others. */
function opensOnly(command: ShellCommand, allowed: ReadonlySet<string>): boolean {
  const { words, redirects } = command;
  const name = words[0]!.literal;
  if (name === undefined || !hasFiles(name) || words.some((word) => word.literal === undefined)) return false;
  const { files, writes = [], concerns } = judgeArguments(name, listArguments(command));
  const targets = redirects.flatMap(({ target, operator, isDescriptor }) =>
    isFile(target.guess, operator, isDescriptor) ? [target.guess] : [],
  );
  return (
    concerns.length === 0 &&
    [...files, ...writes]
      .map(({ path }) => path)
      .concat(targets)
      .every((path) => allowed.has(path))
  );
}

function listArguments({ words }: ShellCommand): string[] {
  return words.slice(1).map((word) => word.literal ?? word.guess);
}

/** Whether a command may change where names lead while others run. */
export function mayMove({ commands, reasons, form, settled }: ShellPlan): boolean {
  if (settled) return !settled.commands.every(keeps) || !commands.every((one) => keeps(one) || isCd(one));
  return (form === "shell" && reasons.some(({ kind }) => kind !== "builtin")) || !commands.every(keeps);
}

function isCd({ words }: ShellCommand): boolean {
  return words[0]!.literal === "cd";
}

/**
 * What goes on while later commands are judged and run: without a person's yes it neither moves things under them nor opens files late,
 * when one of them may have moved things (`sleep 60 && cat x`). The first command opens its files at once.
 */
export function movesBehind({ binding, shell }: ActionPlan): string | undefined {
  if (binding.background !== true || !shell) return undefined;
  const mover = shell.commands.find((command) => !keeps(command) && !runsCode(command) && !isCd(command));
  if (mover) return movesMeanwhile(mover.words[0]!.guess);
  const [, ...later] = shell.settled?.commands ?? shell.commands;
  const late = later.find((command) => !runsCode(command) && hasOperands(command));
  return late && opensLate(late.words[0]!.guess);
}

function runsCode({ words }: ShellCommand): boolean {
  return RUNS_CODE.test(words[0]!.guess);
}

function keeps({ words, assignments }: ShellCommand): boolean {
  const [name, ...args] = words.map((word) => word.literal ?? word.guess);
  // Files that the shell itself is connected to.
  if (name === "") return assignments.length === 0;
  if (name === "git") return GIT_KEEPS.test(args.find((word) => !word.startsWith("-")) ?? "");
  // Plain copies only: with `-a` or `-l` it makes links.
  if (name === "cp") return args.every((word) => !word.startsWith("-") || CP_KEEPS.test(word));
  // What an archive holds is only listed.
  if (name === "tar") return judgeArguments("tar", args).concerns.length === 0;
  return KEEPS.test(name!) || runsNothing(name!, args);
}

function hasOperands({ words, redirects }: ShellCommand): boolean {
  if (redirects.some(({ target, isDescriptor, operator }) => isFile(target.guess, operator, isDescriptor))) return true;
  const [name, ...args] = words.map((word) => word.literal ?? word.guess);
  if (hasFiles(name!)) {
    const { files, writes = [], concerns } = judgeArguments(name!, args);
    return files.length + writes.length + concerns.length > 0;
  }
  if (RUNS_TASKS.test(name!)) return !args.every((word) => TASK.test(word));
  if (name === "git") {
    const at = args.findIndex((word) => !word.startsWith("-"));
    return args.some((word, i) => i > at && !/^-[^=]*$/.test(word) && !isGitText(args, i));
  }
  // Of other programs it is not known which words are files.
  return args.some((word) => !/^-[A-Za-z]?$|^--[a-z-]+$/.test(word));
}

function isFile(target: string, operator: string, isDescriptor: true | undefined): boolean {
  return !isDescriptor && !operator.startsWith("<<") && target !== "/dev/null";
}
