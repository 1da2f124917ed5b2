/**
 * What to do after a command that did not go well: one or two lines of Lares' own below its output. A model that reads "could not
 * resolve host" in a sandbox without network tries other hosts; one that reads why does something else.
 */
import type { EndedRun } from "./run.ts";
import { afterTimeout, NAME_UNKNOWN, NOBODY_LISTENS, OFFLINE, onlyItself, shutOff } from "./words.ts";

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
  if (!about.hasNetwork && (noName || noWay)) return [shutOff(about.mayFetch)];
  if (!about.hasNetwork && refused) return [onlyItself(about.mayFetch)];
  if (noName) return [NAME_UNKNOWN];
  if (noWay) return [OFFLINE];
  return refused ? [NOBODY_LISTENS] : [];
}
