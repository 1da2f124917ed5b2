/** What is said about commands: to the model in results and advice, to a person in the question about a command. */

export const AFTER_RESTART = "Lares was restarted while it ran";
export const TERMINAL_ENDED = "Lares was restarted while it ran, and its terminal ended with Lares";
export const FILES_CHANGED = "The command's files changed before it ran. Call it again.";

export function startedInBackground(id: string): string {
  return `Started in the background as ${id}. You'll get a message when it ends, so don't wait for it. To look at it, use process.`;
}

export function notFound(program: string): string {
  return `No trusted directory has a program called ${program}.`;
}

// Advice below a result: what went wrong, and what helps.

const NO_NETWORK = "Commands have no network here: the sandbox blocks it, so trying again or another host won't help.";
const FETCH = "Read pages with web_fetch, or tell the person what you need; the owner can set sandbox.network.";
const TELL = "Tell the person what you need; the owner can set sandbox.network.";
export const NAME_UNKNOWN =
  "The host name wasn't found, although commands have network here. Check the spelling; if other names fail too, this machine is offline.";
export const OFFLINE = "This machine can't reach the network right now. Go on without it, and say so.";
export const NOBODY_LISTENS =
  "The host is there, but nothing is listening on that port. Check the port, or whether the server is running.";

export function shutOff(mayFetch: boolean): string {
  return `${NO_NETWORK} ${mayFetch ? FETCH : TELL}`;
}

/** Without a network, a refused connection means this machine inside the sandbox. */
export function onlyItself(mayFetch: boolean): string {
  return `${NOBODY_LISTENS} Only what this command starts can be reached. ${shutOff(mayFetch)}`;
}

export function afterTimeout({
  timeoutS,
  mostS,
  mayStay,
}: {
  timeoutS: number;
  mostS: number;
  mayStay: boolean;
}): string {
  const ways = [
    ...(timeoutS < mostS ? [`give it longer with timeout_s (up to ${mostS})`] : []),
    ...(mayStay ? ["start it with background: true and get a message when it ends"] : []),
    "do it in smaller steps",
  ];
  return `It was stopped after ${timeoutS} s. Anything it had already done remains: check before you run it again. Then ${ways.join(", or ")}.`;
}

// How a command ended, in the brackets at the end of its result. `took`: how long it ran.

export function timedOut(took: string): string {
  return `timed out and was ended with all its processes, ${took}`;
}

export function stoppedByRequest(took: string): string {
  return `stopped by request with all its processes, ${took}`;
}

export function endedForLimit(why: string | undefined, took: string): string {
  return `ended with all its processes: ${why}; ${took}`;
}

export function killedBy(signal: string, took: string): string {
  return `killed by ${signal}, ${took}`;
}

export function exited(code: string, took: string): string {
  return `exit ${code}, ${took}`;
}

export function leftoversEnded(count: number): string {
  return `; ${count} background ${count === 1 ? "process was" : "processes were"} ended`;
}

// The question about a command: where it runs, and what makes Lares ask again.

export const IN_BACKGROUND = "in the background";
export const ON_TERMINAL = "on a terminal";
export const ONCE_FOUND =
  "It can only be allowed once: it changes the files that it finds, which are others each time.";
export const ONCE = "It can only be allowed once: it runs code in the workspace, which can change.";
export const ONCE_EVALUATED =
  "It can only be allowed once: the shell evaluates text that can change, and may run what it finds there.";
export const ONCE_TOO_MANY =
  "It can only be allowed once: it has too many words to look up all the files that decide what it does.";
export const COVERED = "[asks again if anything in the workspace changes before it runs; not checked: .git]";
export const PARTLY_COVERED =
  "[asks again if anything in the workspace changes before it runs; not checked: .git, and part of what is installed (node_modules, virtual environments; too many files), except that it asks again if a tool changes anything here]";
export const NOT_COVERED =
  "[asks again if a file it names changes or a tool changes anything here before it runs; not checked: changes that others make to the files it loads; the workspace has too many]";

export function inFolder(folder: string): string {
  return `in ${folder}`;
}

export function upTo(seconds: number): string {
  return `up to ${seconds} s`;
}
