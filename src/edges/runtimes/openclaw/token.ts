/** What finds a conversation in the gateway again: its key, and the message of ours that was at work. */
import type { RunEventBody, RunToken } from "../../../core/contracts/index.ts";
import { runWords } from "../words.ts";

export const RUNTIME = "openclaw";
const FORM = 1;

export interface KeptChat {
  key: string;
  /** Our number of the message. */
  run: string;
}

export function writeToken({ key, run }: KeptChat): RunToken {
  return { runtime: RUNTIME, form: FORM, state: { key, run } };
}

/** Throws for one that was written by another version. */
export function readToken({ form, state }: RunToken): KeptChat {
  const { key, run } = state;
  if (form !== FORM || typeof key !== "string" || typeof run !== "string") throw new Error(runWords.oldToken);
  return { key, run };
}

/** The gateway's own name of a conversation: small letters only, whichever ones it is given. */
export function nameChat(agent: string, name: string): string {
  return `agent:${agent}:lares-${name.toLowerCase()}`;
}

/** How the gateway marks a message of ours in what it stores. */
export function nameStored(run: string): string {
  return `${run}:user`;
}

/** What is known of one message's work: events of earlier ones are about something else. */
export function sinceToken(known: readonly RunEventBody[], run: string): readonly RunEventBody[] {
  const first = known.findIndex((one) => one.type === "checkpoint" && one.token.state.run === run);
  return first < 0 ? [] : known.slice(first);
}
