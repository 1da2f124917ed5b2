/**
 * What a turn does without a model: a job's condition and its script. They are calls of `exec` like a model's: planned, judged by
 * the gate, asked, parked and recorded the same way (I9); only who wrote them differs.
 *
 * TURNS-9: a condition that says no ends the turn silent with the reason; one that could not be run fails it.
 * TURNS-10: what a script prints is the answer; nothing printed is silence; an exit code other than 0 is a failure.
 * TURNS-11: a script cut off by a crash is not run again: the turn fails and says that its outcome is not known (I4).
 */
import { CANCEL, Stopped, type ToolResult, type Wake } from "../../core/contracts/index.ts";
import { stepNames, type Terms, type ToolCallPart } from "../../core/domain/index.ts";
import type { Ending } from "./finish.ts";
import { judge } from "./judge.ts";
import { newWaiting } from "./park.ts";
import type { At } from "./place.ts";
import type { TurnParts } from "./ports.ts";
import type { Progress, WaitingCall } from "./progress.ts";
import { type Allowed, allowedAs, isChanged, judgeFresh, runTool, stillAsShown } from "./run-tool.ts";
import {
  commandEnded,
  commandNotRun,
  commandTimedOut,
  conditionNotMet,
  longestCommand,
  NOT_ANSWERED,
  OUT_OF_TIME,
  ownTimeout,
  ranTooLong,
  scriptDenied,
} from "./words.ts";

type Run = At & { p: Progress; terms: Terms; own: { authority: Progress["authority"] } | undefined };
type Fresh = WaitingCall & { because: string; rule: string };
type Ran = { result: ToolResult } | { refused: string } | { ask: Fresh };

/** The most `exec` takes. */
const MOST_S = 600;
/** Answers of a condition: 0 is yes, these are no; what is above says that it could not be run. */
const HIGHEST_NO = 125;
/** As much of what a command said as belongs into a sentence. */
const LONGEST_WORD = 300;

/** What the turn's terms ask for before, or instead of, a model. `model`: go on with one. */
export async function withoutModel(
  parts: TurnParts,
  run: Run,
  wake: Wake,
): Promise<"model" | { end: Ending } | { park: Fresh[] }> {
  const { terms, p } = run;
  if (terms.condition === undefined && terms.script === undefined) return "model";
  // Without a model call nothing else takes the message's authority into the turn.
  p.authority = run.own?.authority ?? p.authority;
  if (terms.condition !== undefined && !p.passed) {
    const ran = await command(parts, run, wake, "condition", terms.condition);
    if ("ask" in ran) return { park: [ran.ask] };
    const no = toRefusal("condition", ran) ?? unclear("condition", ran, HIGHEST_NO, describeLimit(run));
    if (no) return { end: no };
    const { result } = ran as { result: ToolResult };
    const said = lastLine(result);
    if (readExit(result) !== 0) return { end: { state: "silent", text: "", reason: conditionNotMet(said) } };
    // Stored with the progress: after a park for the script, the condition isn't asked again.
    p.passed = true;
  }
  if (terms.script === undefined) return "model";
  const ran = await command(parts, run, wake, "script", terms.script);
  if ("ask" in ran) return { park: [ran.ask] };
  const no = toRefusal("script", ran) ?? unclear("script", ran, 0, describeLimit(run));
  if (no) return { end: no };
  const text = (ran as { result: ToolResult }).result.text.trim();
  return { end: text ? { state: "answered", text, said: true } : { state: "silent", text: "" } };
}

/** Stops the turn when its working time is over. */
export function keepTime(parts: TurnParts, run: Run): { isUp(): boolean; sentence: string; stop(): void } {
  const { timeoutMs } = run.terms;
  let up = false;
  if (timeoutMs === undefined) return { isUp: () => false, sentence: "", stop() {} };
  const stop = parts.clock.after(Math.max(timeoutMs - run.p.activeMs, 0), () => {
    up = true;
    // The engine says no when the turn has just ended: then there is nothing to stop.
    parts.stop(run.turn, OUT_OF_TIME).catch(() => {});
  });
  return { isUp: () => up, sentence: ranTooLong(timeoutMs), stop };
}

async function command(parts: TurnParts, run: Run, wake: Wake, id: string, text: string): Promise<Ran> {
  const { p } = run;
  // `apart`: the output is the answer, so errors must not be mixed into it.
  const input = { command: text, timeout_s: allowedSeconds(run), apart: true };
  const call: ToolCallPart = { type: "tool-call", id, name: "exec", input };
  const asked = p.waiting.find((w) => w.callId === id);
  if (asked) {
    p.waiting = p.waiting.filter((w) => w !== asked);
    const answer = await answered(parts, wake, asked);
    if ("refused" in answer) return answer;
    const fresh = answer.isAlways ? await judgeFresh(parts, run, call, p) : undefined;
    const isSame = !fresh && answer.isAnswered && (await stillAsShown(parts, run, asked));
    const allowed = fresh ?? (isSame ? { by: "person" as const, hash: asked.hash } : undefined);
    const result = allowed && (await runNow(parts, run, call, allowed));
    if (result && !isChanged(result)) return { result };
  }
  const j = await run.ctx.step(stepNames.judgeScript(id, asked !== undefined), () => judge(parts, run, call, p));
  if (j.verdict === "error" || j.verdict === "deny") return { refused: j.because };
  if (j.verdict === "ask") {
    const waiting = newWaiting(parts, run, call, j, asked ? 1 : 0);
    p.waiting.push(waiting);
    return { ask: { ...waiting, because: j.because, rule: j.rule } };
  }
  return { result: await runNow(parts, run, call, allowedAs(j)) };
}

async function runNow(parts: TurnParts, run: Run, call: ToolCallPart, allowed: Allowed): Promise<ToolResult> {
  const result = await runTool(parts, run, call, run.p, allowed);
  // A command that finished despite the stop has a result worth keeping.
  if (run.ctx.stopping.aborted && readExit(result) === undefined) throw new Stopped();
  return result;
}

/** What a person said to it. */
async function answered(
  parts: TurnParts,
  wake: Wake,
  asked: WaitingCall,
): Promise<{ refused: string } | { isAnswered: boolean; isAlways: boolean }> {
  if (wake.why === "deadline") {
    await parts.records.write((tx) => parts.questions.close(tx, asked.approval, "expired"));
    return { refused: NOT_ANSWERED };
  }
  const events = wake.why === "event" ? wake.events : [];
  if (events.some((e) => e.name === CANCEL)) throw new Stopped();
  const event = events.find((e) => e.name === parts.questions.event(asked.approval));
  const said = event?.value as { decision: string; by: string; reason: string | null } | undefined;
  if (said?.decision === "deny") return { refused: scriptDenied(said.by, said.reason) };
  return { isAnswered: said !== undefined, isAlways: said?.decision === "allow-always" };
}

function toRefusal(what: string, ran: Ran): Ending | undefined {
  if (!("refused" in ran)) return undefined;
  return { state: "failed", text: "", reason: commandNotRun(what, ran.refused), failure: "not-allowed" };
}

/** A failure, when it did not end by itself with a code up to `most`. */
function unclear(what: string, ran: Ran, most: number, limit: string): Ending | undefined {
  const { result } = ran as { result: ToolResult };
  const exit = readExit(result);
  if (exit !== undefined && exit <= most) return undefined;
  const { how } = (result.meta ?? {}) as { how?: string };
  // No way of ending is known, so its outcome is unknown (TURNS-11).
  if (how === undefined) return { state: "failed", text: "", reason: result.text, failure: "unknown-outcome" };
  const said = lastLine(result);
  return how === "timeout"
    ? { state: "failed", text: "", reason: commandTimedOut(what, limit, said), failure: "timeout" }
    : { state: "failed", text: "", reason: commandEnded(what, exit, said), failure: "script" };
}

/** How long its command may take: the job's own limit, else the most `exec` takes. */
function allowedSeconds({ terms }: Run): number {
  const seconds = Math.ceil((terms.timeoutMs ?? MOST_S * 1000) / 1000);
  return Math.min(Math.max(seconds, 1), MOST_S);
}

function describeLimit(run: Run): string {
  const isOwn = run.terms.timeoutMs !== undefined && run.terms.timeoutMs <= MOST_S * 1000;
  return isOwn ? ownTimeout(allowedSeconds(run) * 1000) : longestCommand(MOST_S * 1000);
}

function readExit(result: ToolResult): number | undefined {
  const { exit, how } = (result.meta ?? {}) as { exit?: unknown; how?: unknown };
  return how === "exited" && typeof exit === "number" ? exit : undefined;
}

/** The last line it printed itself: the result's own line about how it ended says nothing new in a sentence that says so too. */
function lastLine({ text, meta }: ToolResult): string {
  const { end, how } = meta ?? {};
  const lines = text.split("\n").map((line) => line.trim());
  // Which limit ended it is news.
  const said = lines.filter((line) => line && (line !== end || how === "limit")).at(-1);
  return said ? said.slice(0, LONGEST_WORD).replace(/\.$/, "") : "";
}
