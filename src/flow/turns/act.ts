/**
 * Acting: what the model called is planned, judged by the gate, and run, asked or refused.
 *
 * TURNS-4: the judgement is recorded before anything runs, so a replay acts on the same judgement.
 * TURNS-5: calls of one reply run side by side, a few at a time; their results keep the order of the calls. A command that may move or
 *     link files doesn't run beside another one. A reply with more calls than the limit has the rest answered with a
 *     refusal, which the model reads.
 */
import { createHash } from "node:crypto";
import { resultOrigin, type ToolResult } from "../../core/contracts/index.ts";
import { type NotRun, stepNames, type ToolCallPart, type ToolResultPart } from "../../core/domain/index.ts";
import { atOnce, truthy } from "../../core/kit/index.ts";
import { heardResults } from "./hooked.ts";
import { type JudgedCall, judge } from "./judge.ts";
import { repeated } from "./limits.ts";
import { OneMover } from "./one-mover.ts";
import { newQuestion, newWaiting } from "./park.ts";
import { newPause } from "./pause.ts";
import type { At } from "./place.ts";
import type { TurnParts } from "./ports.ts";
import type { AskedCall, Pause, Progress, WaitingCall } from "./progress.ts";
import { allowedAs, runTool } from "./run-tool.ts";
import { denied, sameAgain, tooManyCalls, tooManyQuestions, waitingForAnswer, waitingForApproval } from "./words.ts";

/** Runs one reply's calls. Returns the results in order and what waits for a person. */
export async function act(
  parts: TurnParts,
  at: At,
  calls: ToolCallPart[],
  p: Progress,
): Promise<{
  results: ToolResultPart[];
  waiting: AskedCall[];
  pauses: Pause[];
  /** Text from outside is in the results. */
  outside: boolean;
}> {
  const n = p.call - 1;
  const { toolCalls: most, toolCallsAtOnce } = parts.limits();
  const judged = await at.ctx.step(stepNames.judge(n), () =>
    atOnce(toolCallsAtOnce, calls, async (call, i) => (i < most ? judge(parts, at, call, p) : tooMany(most))),
  );
  for (const { hookFailures = [] } of judged) addNotices(p, hookFailures);
  // Counted before anything runs: which calls ask is known from the judgements alone.
  const unasked = beyond(judged);
  const waiting: AskedCall[] = [];
  const pauses: Pause[] = [];
  const commands = new OneMover();
  // Calls start in order, so a call that waits here waits only for earlier ones.
  const started: Promise<unknown>[] = [];
  let outside = false;
  const raw = await atOnce(toolCallsAtOnce, calls, async (call, i): Promise<ToolResultPart> => {
    const j = judged[i]!;
    const result = (said: ToolResult, notRun?: NotRun): ToolResultPart => {
      outside ||= isFromOutside(parts, call.name, said);
      const { text, isError, images } = said;
      const part = { type: "tool-result" as const, id: call.id, name: call.name, text };
      return { ...part, ...truthy({ isError, notRun }), ...(images?.length ? { images } : {}), ...pickExit(said) };
    };
    // The gate may quote the call, which a stranger's text may have shaped.
    const said = j.origin ? { isError: true, origin: j.origin } : { isError: true };
    if (j.verdict === "error") return result({ text: j.because, ...said });
    if (j.verdict === "deny") return result({ text: denied(j.because, j.instead), ...said }, "refused");
    if (unasked.has(i)) return result({ text: tooManyQuestions(MOST_QUESTIONS), isError: true, origin: "own" });
    if (j.verdict === "ask") {
      const asked = newWaiting(parts, at, call, j, n);
      waiting.push({ ...asked, because: j.because, rule: j.rule });
      return result({ text: interimText(parts, p, asked), origin: "own" }, "waiting");
    }
    const run = () => runTool(parts, at, { ...call, input: j.input ?? call.input }, p, allowedAs(j));
    // Only commands can move files under each other; other tools run freely side by side.
    const inOrder = () => (j.moves === undefined ? run() : commands.run(j.moves, run));
    const running = looksAtStarted(parts, call) ? Promise.all(started).then(run) : inOrder();
    if (j.starts) started.push(running.catch(() => {}));
    const done = await running;
    if (done.notice) addNotices(p, [done.notice]);
    if (done.ask) {
      const asked = { ask: done.ask, hash: j.hash, round: 1, n };
      const question = newQuestion(parts, at, { ...call, input: j.input ?? call.input }, asked);
      waiting.push(question);
      return result({ text: interimText(parts, p, question), origin: "own" }, "waiting");
    }
    // It goes on after the call, so the turn is parked until it ends.
    if (done.wait) {
      const input = j.input ?? call.input;
      pauses.push(
        newPause({ callId: call.id, tool: call.name, input, hash: j.hash, ...truthy({ heard: j.heard }) }, done.wait),
      );
    }
    return result(done);
  });
  const ran = judged.map((j, i) => j.heard === true && j.verdict === "allow" && raw[i]!.notRun === undefined);
  const of = { calls, results: raw, heard: ran, key: String(n) };
  const heard = ran.includes(true) ? await heardResults(parts, at, of) : undefined;
  const results = heard?.results ?? raw;
  outside ||= heard?.outside ?? false;
  countRepeats(parts, p, calls, results);
  // One readable call shows that the model still understands its tools.
  p.badInputs = judged.every((j) => j.verdict === "error") ? p.badInputs + 1 : 0;
  p.toolCalls += calls.length;
  return { results, waiting, pauses, outside };
}

/** The same trouble with several calls is said once. */
function addNotices(p: Progress, sentences: readonly string[]): void {
  for (const one of sentences) if (!p.notices.includes(one)) p.notices.push(one);
}

/** The code is for people who may answer; in a stranger's chat the agent would only pass it on. */
function interimText(parts: TurnParts, { authority }: Progress, { approval, asks }: WaitingCall): string {
  const code = authority === "stranger" ? undefined : parts.questions.code(approval);
  return asks ? waitingForAnswer(code) : waitingForApproval(code);
}

/** The code a command exited with, for anyone who shows how it ended. */
export function pickExit({ meta }: ToolResult): { exit?: number } {
  return typeof meta?.exit === "number" ? { exit: meta.exit } : {};
}

/** Also where it is called through a tool that runs others. */
function looksAtStarted(parts: TurnParts, { name, input }: ToolCallPart): boolean {
  const tool = parts.tools.get(name);
  return (tool?.runs?.(input).tool ?? tool)?.looksAtStarted === true;
}

/** Questions that one reply may put to a person. With more of them, people stop reading and press yes. */
const MOST_QUESTIONS = 8;

/** The calls whose question is one too many, by their place. */
function beyond(judged: readonly JudgedCall[]): ReadonlySet<number> {
  const asking = judged.flatMap((j, i) => (j.verdict === "ask" ? [i] : []));
  return new Set(asking.slice(MOST_QUESTIONS));
}

function tooMany(most: number): JudgedCall {
  return { verdict: "error", because: tooManyCalls(most), origin: "own", shown: "", rule: "", hash: "" };
}

/** Whether what was said about a call is text from outside (I12). */
export function isFromOutside(parts: TurnParts, tool: string, said: Pick<ToolResult, "origin" | "isError">): boolean {
  return resultOrigin(parts.tools.get(tool), said) === "outside";
}

function countRepeats(parts: TurnParts, p: Progress, calls: ToolCallPart[], results: ToolResultPart[]): void {
  const limit = parts.limits().sameCalls;
  const print = createHash("sha256")
    .update(JSON.stringify([calls.map((c) => [c.name, c.input]), results.map((r) => r.text)]))
    .digest("hex");
  p.last = repeated(p.last, print);
  if (p.last.count < limit) return;
  const last = results[results.length - 1]!;
  last.text += sameAgain(p.last.count);
  // First a note, then no more tools: many models change course when they read the note.
  if (p.last.count > limit) p.forced = true;
}
