/**
 * What to do after a command that did not go well: one or two lines of Lares' own below its output. A model that reads "could not
 * resolve host" in a sandbox without network tries other hosts; one that reads why does something else.
 */
import type { EndedRun } from "./run.ts";

export interface AdviceFacts {
  hasNetwork: boolean;
  /** Commands can run in the background here, and the reader can check on them. */
  mayStay: boolean;
  /** Pages can be read with web_fetch here. */
  mayFetch: boolean;
  timeoutS: number;
  mostS: number;
}

/** Of the output, its end: there the reason stands. */
const LOOKED_AT = 8000;

const NO_NAME = [
  "Could not resolve host",
  "Temporary failure in name resolution",
  "Temporary failure resolving",
  "Name or service not known",
  "No address associated with hostname",
  "Name does not resolve",
  "ENOTFOUND",
  "EAI_AGAIN",
];
const NO_WAY = ["Network is unreachable", "ENETUNREACH", "No route to host", "EHOSTUNREACH"];
const REFUSED = ["Connection refused", "ECONNREFUSED"];

export function adviceFor(ended: Pick<EndedRun, "how" | "output" | "errors">, about: AdviceFacts): string[] {
  if (ended.how === "timeout") return [afterTimeout(about)];
  const said = `${ended.output.text.slice(-LOOKED_AT)}\n${(ended.errors ?? "").slice(-LOOKED_AT)}`;
  const has = (signs: readonly string[]) => signs.some((sign) => said.includes(sign));
  const [noName, noWay, refused] = [has(NO_NAME), has(NO_WAY), has(REFUSED)];
  const shutOff = about.mayFetch ? `${SHUT_OFF} ${FETCH}` : `${SHUT_OFF} ${TELL}`;
  if (!about.hasNetwork && (noName || noWay)) return [shutOff];
  if (!about.hasNetwork && refused)
    return [`${NOBODY_LISTENS} Only what this command starts can be reached. ${shutOff}`];
  if (noName) return [NAME_UNKNOWN];
  if (noWay) return [OFFLINE];
  return refused ? [NOBODY_LISTENS] : [];
}

function afterTimeout({ timeoutS, mostS, mayStay }: AdviceFacts): string {
  const ways = [
    ...(timeoutS < mostS ? [`give it longer with timeout_s (up to ${mostS})`] : []),
    ...(mayStay ? ["start it with background: true and get a message when it ends"] : []),
    "do it in smaller steps",
  ];
  return `It was stopped after ${timeoutS} s. Anything it had already done remains: check before you run it again. Then ${ways.join(", or ")}.`;
}

const SHUT_OFF = "Commands have no network here: the sandbox blocks it, so trying again or another host won't help.";
const FETCH = "Read pages with web_fetch, or tell the person what you need; the owner can set sandbox.network.";
const TELL = "Tell the person what you need; the owner can set sandbox.network.";
const NAME_UNKNOWN =
  "The host name wasn't found, although commands have network here. Check the spelling; if other names fail too, this machine is offline.";
const OFFLINE = "This machine can't reach the network right now. Go on without it, and say so.";
const NOBODY_LISTENS =
  "The host is there, but nothing is listening on that port. Check the port, or whether the server is running.";
