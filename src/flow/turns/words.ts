/**
 * What a turn says in its own name: to the model in a tool's result or in a bracketed line, to a person in a reason or a notice.
 *
 * Two other places know how these texts begin: `edges/models/wire/convert.ts` quotes lines of other people that imitate the
 * bracketed ones, and the built-in rules explain "Waiting for … approval", "Denied" and "Outcome unknown" to the model.
 */
import type { WorktreeReport } from "../../core/contracts/index.ts";
import type { ApprovalView } from "../../core/domain/index.ts";
import type { TurnRow } from "./store.ts";

// Results of calls that didn't run, or not to the end. The model reads them.

export const FILES_CHANGED =
  "Not run: the command's files changed after it was allowed and before it started. Call it again.";
export const CHANGED_AFTER_APPROVAL =
  "Not run: something it uses changed after it was approved. Call it again if it's still needed.";
export const wrongFormat = (why: string) => `The model's answer isn't in the format that was asked for. ${why}`;
export const LOCK_LOST =
  "Outcome unclear: the lock on these files was lost while this ran, so somebody else may have changed them. Look at them before you go on.";
export const STOPPED_BEFORE = "Stopped before it ran.";
export const STOPPED_MIDWAY = "Stopped before it finished.";
export const LARES_STOPPED = "Lares was stopped while it ran.";
export const NO_MORE_TOOLS = "no more tools can be used in this turn.";

export function outcomeUnknown(why: string): string {
  return `Outcome unknown: ${why} It may or may not have happened. Look before you repeat it.`;
}

export function tooManyCalls(most: number): string {
  return `Not run: Lares runs only the first ${most} tool calls of a reply. Call this again in a later reply if you still need it.`;
}

export function tooManyQuestions(most: number): string {
  return `Not run, and nobody was asked: one reply can put at most ${most} questions to a person. Wait for the answers to the others, then call this again if you still need it, or use fewer calls.`;
}

export function notRunBecause(why: string): string {
  return `Not run: ${why}`;
}

/** Appended to a result, so it starts on a new line. */
export function sameAgain(times: number): string {
  return `\n[This is the same call with the same result ${times} times in a row. Do something else or answer.]`;
}

// Words of hooks, which are text from outside.

export function noteLine(by: string): string {
  return `[Note from the hook "${by}". It isn't from the person you talk to:]`;
}

export function noteInResult({ by, text }: { by: string; text: string }): string {
  return `[Note from the hook "${by}": ${text}]`;
}

export function toolLeftOut(tool: string): string {
  return `A hook left out the tool ${tool} for this turn.`;
}

// Refusals. Each says what can be done instead, so that no call is wasted on another way to the same thing.

export const FILES_CLOSED = "People the owner hasn't accepted can't use the workspace.";

/** For guests there is one sentence: a second one would show them what exists. */
export const INSTEAD_FOR_GUESTS = "Tell the person that this isn't possible here.";
export const INSTEAD = {
  read: "Go on without it, or ask the person for what you need from it.",
  readOutside: "Ask the person to attach the file or put a copy in the workspace.",
  write: "Leave it as it is, and tell the person what you would have changed.",
  writeOutside: "Write to the workspace instead, and say where the file is.",
  exec: "Do the rest without it, and tell the person the command in case they want to run it themselves.",
  network: "Go on with what you have, or ask the person to send you what the page says.",
  service: "Go on without that tool, and tell the person what you would have called.",
  state: "Go on without it, and tell the person what is left undone.",
} as const;

export function denied(because: string, instead: string = INSTEAD.state): string {
  return `Not allowed: ${because} This is final, and the same call will be refused again: don't look for a way around it. ${instead}`;
}

export function toolClosed(name: string): string {
  return `The tool "${name}" may not be used in this chat.`;
}

// Approvals: what the model reads while a call waits, and how it ended.

/** `code`: for chats whose people may answer. */
export function waitingForApproval(code: string | undefined): string {
  return `Waiting for a person's approval${code ? ` (${code})` : ""}. It has not run yet. You'll get the outcome in a later message.`;
}

export function waitingForAnswer(code: string | undefined): string {
  return `It asks a person something before it goes on${code ? ` (${code})` : ""}. You'll get the outcome in a later message.`;
}

/** Why a person is asked: somebody else's program waits for the answer. */
export const NEEDS_ANSWER = "The call can't go on without your answer.";
export const CHANGED_SINCE_QUESTION =
  "It changed since it asked, so the call doesn't go on. Call it again if it's still needed.";

export function tooManyRounds(most: number): string {
  return `It asked more than ${most} questions in one call, so the call was given up.`;
}

export const WRITE_A_RULE = "A rule in policy.allow.exec (lares.yaml) would let it run without asking.";
/** For the chat it was asked for, when the question itself is in another one. */
export const ASKED_ELSEWHERE = "I have to ask before I can do that. I'll tell you here when there's an answer.";
export const NOT_ANSWERED = "Nobody answered in time, so it was not run.";
export const WITHDRAWN = "Withdrawn: the turn was stopped before anybody answered. It was not run.";
export const WAIT_OVER = "Time is up.";
export const WAIT_RESULT = "Result of the wait";

/** `because`: why Lares itself denied it. Only a person's own words are quoted. */
export function deniedBy(who: string, { reason, because }: { reason: string | null; because?: string }): string {
  return `Denied by ${who}. It was not run.${because ? ` ${because}` : theySaid(reason)}`;
}

export function allowedBy(who: string, { reason, decision }: { reason: string | null; decision: string }): string {
  const lasting = decision === "allow-always" ? ", from now on without asking" : "";
  return `Allowed by ${who}${lasting}.${theySaid(reason)}`;
}

function theySaid(reason: string | null): string {
  return reason ? ` They said: ${reason}` : "";
}

export function canNoLongerRun(why: string | undefined): string {
  return `It can no longer be run as it was approved${because(why)}`;
}

export function approvedButNotRun(tool: string, why: string | undefined): string {
  return `You approved a call to ${tool}, but it could no longer be run${because(why)}`;
}

function because(why: string | undefined): string {
  return why ? `: ${why}` : ".";
}

export function approvedCall(tool: string, notice: string): string {
  return `You approved a call to ${tool}. ${notice}`;
}

/** The line above an outcome that arrives later. */
export function outcomeLabel(what: string, waitedFor: "approval" | "an answer", how: string): string {
  return `Outcome of ${what} that waited for ${waitedFor}: ${how}`;
}

export function nameCall(tool: string): string {
  return `the ${tool} call`;
}

/** How a call that waited ended, in a word or two. */
export const HOW = {
  late: "not answered in time",
  denied: "denied",
  withdrawn: "withdrawn",
  allowed: "allowed",
  allowedNotRun: "allowed, not run",
  answered: "answered",
  declined: "declined",
} as const;

export function andThen(how: string, went: string): string {
  return `${how}, ${went}`;
}

export function exitCode(code: number): string {
  return `exit ${code}`;
}

/** What an approval was given for, part by part; several parts may have one name for a person. */
const BOUND_NAMES: Readonly<Record<string, string>> = {
  argv: "the command",
  argv0: "the command",
  command: "the command",
  cwd: "the folder it runs in",
  cwd_id: "the folder it runs in",
  env: "its environment variables",
  secrets: "the secrets it gets",
  sandbox: "where it runs (the sandbox, the folders it may use or the network)",
  files: "a file it uses",
  named: "a file it uses",
  tree: "code in the workspace",
  changes: "a file in the folders it may use",
  links: "a link it follows",
  settings: "the settings of a program it runs",
  path: "where the file is",
  old: "the content of the file",
  before: "the content of the file",
};

export function boundName(part: string): string {
  return BOUND_NAMES[part] ?? `its ${part}`;
}

export function changedSinceAsked(names: readonly string[]): string {
  const what = names.length ? `: ${names.join(", ")}` : "";
  return `Something has changed since you were asked${what}. Please look at it again.`;
}

// Lines in brackets behind what was said. They stand in one request and not in the history.

export function closingLine(cap: string): string {
  return `[${cap} Answer now, without tools: say what you did, what is still open, and how to go on.]`;
}

export const FORCED_LINE = "[Answer now with what you know. No more tools can be used in this turn.]";
export const EMPTY_LINE = "[Your last reply was empty. Answer now, in words; if something stops you, say what.]";

export function callsLeftLine(calls: number): string {
  return `[${calls} model calls are left in this turn. Finish what you started, then answer.]`;
}

// Tools that end the turn.

export const CALL_ALONE = "Not done: this ends the turn, so call it alone, after your other calls.";
export const TOO_EARLY =
  "Not accepted yet: you haven't looked at anything in this turn. Use your tools to do what the job asks; then call this if there is nothing worth sending, or write the message.";
export const NOTHING_SENT = "Done. Nothing was sent.";
export const WILL_BE_SENT = "Done. The message will be sent.";
export const NO_TEXT = 'field "text" is missing or empty';

export function unreadableArguments(problem: string): string {
  return `the arguments are ${problem}`;
}

export function nothingToSend(tool: string, why: string): string {
  return `${tool}: Nothing was sent, because ${why}. Call it again with the message in "text".`;
}

export function endedBy(tool: string): string {
  return `Not done: ${tool} ended the turn.`;
}

// How a turn ended: reasons and notices that people read.

export const STOPPED = "Stopped.";
export const DELETED = "The message was deleted before it was read.";
export const MODEL_DECLINED = "The model declined to answer.";
export const EMPTY_ANSWER = "The model gave an empty answer.";
export const CUT_OFF = "The answer was cut off at the model's output limit.";
export const COMPACTED = "The conversation was too long for the model, so its older part was compacted.";
export const TOO_LONG =
  "This is more than the model can read at once. Send it in parts or as a file, or choose a model with a larger window (/model).";
export const LOOPED =
  "The agent kept repeating the same call with the same result instead of answering, so it was stopped.";
export const OTHER_VERSION = "This turn was started by a different version of Lares. Send the message again.";

export function internalError(what: string): string {
  return `Lares had an internal error: ${what}`;
}

export function emptyTwice(model: string): string {
  return `${model} gave an empty answer twice. Send the message again, or choose another model with /model.`;
}

export function cutOffAt(tokens: number): string {
  return `The answer was cut off at the ${tokens} tokens you asked for.`;
}

export function outcomeNotKnown(tool: string, why: string): string {
  return `The outcome of a call to ${tool} isn't known: ${why}`;
}

export function seeTurn(turn: string): string {
  return ` To see what it was doing: lares turns get ${turn}`;
}

/** Which model failed, what was spent and which command helps is for the owner only. */
export const FAILED_FOR_GUESTS = "Something went wrong, so I can't answer right now. Please try again later.";
export const DECLINED_FOR_GUESTS = "I can't answer that right now.";

// The caps of one turn.

/** `assumedPer`: a model's price isn't known, so what it used counts at this many dollars per million tokens. */
export function dollarsReached(dollars: number, assumedPer?: number): string {
  const assumed = `, counted at an assumed $${assumedPer} per million tokens, because a model's price isn't known (limits.unknownPricePerMillion)`;
  return `The turn reached its limit of $${dollars}${assumedPer === undefined ? "" : assumed}.`;
}

export function callsReached(calls: number): string {
  return `The turn reached its limit of ${calls} model calls.`;
}

export function minutesReached(minutes: number): string {
  return `The turn reached its limit of ${minutes} minutes.`;
}

export function unreadableCalls(calls: number): string {
  return `The model made ${calls} tool calls in a row that could not be read.`;
}

// Jobs with a condition or a script.

export const OUT_OF_TIME = "it ran out of time";

/** `said`: the last line it printed, or nothing. */
export function conditionNotMet(said: string): string {
  return `Its condition wasn't met${lastWords(said)}.`;
}

export function ranTooLong(ms: number): string {
  return `It was stopped because it took longer than ${duration(ms)}.`;
}

export function commandNotRun(what: string, why: string): string {
  return `The ${what} was not run. ${why}`;
}

export function scriptDenied(who: string, reason: string | null): string {
  return `Denied by ${who}.${reason ? ` ${reason}` : ""}`;
}

/** `exit` is missing when a signal ended it. */
export function commandEnded(what: string, exit: number | undefined, said: string): string {
  const how = exit === undefined ? "was killed" : `ended with exit code ${exit}`;
  return `The ${what} ${how}${lastWords(said)}.`;
}

export function commandTimedOut(what: string, limit: string, said: string): string {
  return `The ${what} took longer than ${limit}${lastWords(said)}.`;
}

export function ownTimeout(ms: number): string {
  return `its timeout of ${duration(ms)}`;
}

export function longestCommand(ms: number): string {
  return `the ${duration(ms)} a command may take`;
}

function lastWords(said: string): string {
  return said ? `: ${said}` : "";
}

function duration(ms: number): string {
  if (ms >= 120_000) return `${Math.round(ms / 60_000)} minutes`;
  const seconds = Math.round(ms / 1000);
  return seconds === 1 ? "1 second" : `${seconds} seconds`;
}

// Reports of usage.

export const NO_SUCH_DAYS = "`from` is after `to`, or one of them isn't a day.";

// What a caller of the gateway reads of a turn that has no result yet.

const PAUSED =
  "This is waiting for work in progress, such as a sub-agent or a background command. The answer comes when that has ended.";

export function textSoFar(state: TurnRow["state"], asked: ApprovalView | undefined): string {
  if (asked) return `This is waiting for your approval (${asked.id}): ${asked.shown}`;
  return state === "parked" ? PAUSED : "";
}

export const NO_RESULT = "The result isn't known.";
export const OTHER_BODY = "The agent's runtime was changed while this turn waited. Ask again.";
export const NOT_IN_RUNS = "This can't be done from here, because it waits for something. Ask for something else.";
export const NO_QUESTIONS = "Nobody can be asked here. Decide yourself, and say what you assumed.";

/** In place of the line that says where our own shell would run a command. */
export function askedBy(title: string): string {
  return `[asked by ${title}, which runs it]`;
}

export function runsOutside(tool: string): string {
  return `${tool} was planned for another runtime and can't be run here.`;
}

export function leavesFolders(path: string): string {
  return `${path} is outside the folders of this agent.`;
}

export function runSaidNothing(title: string): string {
  return `${title} ended without an answer.`;
}

export function runRefused(title: string): string {
  return `${title} declined.`;
}

/** Of a commit: what was asked, in a line as git shows it. */
export function commitMessage(agent: string, text: string): string {
  const [line = ""] = text.split("\n").filter((one) => one.trim() !== "");
  const subject = line.trim().slice(0, 72);
  return subject === "" ? `Work of the agent ${agent}` : subject;
}

export function tellTree({ repository, branch, commits, files, added, removed, notes }: WorktreeReport): string[] {
  const count = (n: number, one: string) => (n === 1 ? `1 ${one}` : `${n} ${one}s`);
  const done =
    branch === null
      ? []
      : [
          `Branch ${branch} of ${repository}: ${count(commits.length, "new commit")}, ${count(files, "file")} changed (+${added} −${removed}).`,
        ];
  return [...done, ...notes];
}

export function runDenied(title: string): string {
  return `${title} stopped because an action was denied.`;
}

export function runUnknown(title: string): string {
  return `It isn't known how the work of ${title} ended: an action may or may not have happened.`;
}
