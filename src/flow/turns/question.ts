/**
 * A call that a far side answered with a question to a person. The turn parks like for an approval; the answer goes on with the
 * same call, as a separate effect.
 *
 * TURNS-13: a question is bound to the plan that was judged: if the call would be another one by now, it doesn't go on.
 */
import type { QuestionAnswer, ToolCallPart } from "../../core/domain/index.ts";
import { defined } from "../../core/kit/index.ts";
import { finishCall, outcome } from "./outcome.ts";
import { newQuestion } from "./park.ts";
import { waitOn } from "./pause.ts";
import type { TurnParts } from "./ports.ts";
import type { AskedCall, WaitingCall } from "./progress.ts";
import type { TurnRun } from "./run.ts";
import { runTool, stillAsShown } from "./run-tool.ts";
import { CHANGED_SINCE_QUESTION, tooManyRounds } from "./words.ts";

/** A far side that keeps asking is stopped. */
const MOST_ROUNDS = 10;

/** Goes on with a call whose question was answered, or was not in time. Returns the next question, if there is one. */
export async function goOn(
  parts: TurnParts,
  run: TurnRun,
  w: WaitingCall & Required<Pick<WaitingCall, "asks">>,
  answer: QuestionAnswer,
  how: string,
): Promise<AskedCall | undefined> {
  const { state, round } = w.asks;
  const { callId: id, tool: name, input } = w;
  if (!(await stillAsShown(parts, run, w))) {
    await outcome(parts, run, w, { text: CHANGED_SINCE_QUESTION, isError: true, origin: "own" }, { how });
    return undefined;
  }
  const goesOn = { state, answer, round };
  const done = await runTool(parts, run, { id, name, input, goesOn }, run.p, { by: "person", hash: w.hash });
  if (done.notice) run.p.notices.push(done.notice);
  if (done.wait) {
    waitOn(run, w, done.wait);
    return undefined;
  }
  if (!done.ask) {
    await finishCall(parts, run, w, done, { how });
    return undefined;
  }
  if (round >= MOST_ROUNDS) {
    await outcome(parts, run, w, { text: tooManyRounds(MOST_ROUNDS), isError: true, origin: "own" }, { how });
    return undefined;
  }
  const call: ToolCallPart = { type: "tool-call", id, name, input };
  const next = { ask: done.ask, hash: w.hash, round: round + 1, n: run.p.call };
  return { ...newQuestion(parts, run, call, next), ...defined({ results: w.results }) };
}
