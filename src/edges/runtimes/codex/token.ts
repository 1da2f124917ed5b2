/** What finds a thread again: its id, the turn that was under way, and how many tokens were counted by then. */
import type { RunToken } from "../../../core/contracts/index.ts";
import { runWords } from "../words.ts";
import { type CodexTotal, keepTotal, keptTotal } from "./tokens.ts";

export const RUNTIME = "codex";
const FORM = 1;

interface KeptThread {
  thread: string;
  /** "": none was. */
  turn: string;
  total: CodexTotal;
}

export function writeToken({ thread, turn, total }: KeptThread): RunToken {
  return { runtime: RUNTIME, form: FORM, state: { thread, turn, total: keepTotal(total) } };
}

/** Throws for one that was written by another version. */
export function readToken({ form, state }: RunToken): KeptThread {
  const { thread, turn, total } = state;
  if (form !== FORM || typeof thread !== "string" || thread === "") throw new Error(runWords.oldToken);
  return { thread, turn: typeof turn === "string" ? turn : "", total: keptTotal(total) };
}
