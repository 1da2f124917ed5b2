/** What a parked turn does when it is woken: answers, deadlines, and waits that are over. */

import { CANCEL, type Outcome, type SegmentInput, Stopped, type Tx, type Wake } from "../../core/contracts/index.ts";
import {
  AppError,
  fromJson,
  type JsonObject,
  type RunsWhere,
  stepNames,
  type ToolCallPart,
} from "../../core/domain/index.ts";
import { defined, truthy } from "../../core/kit/index.ts";
import { approvalHash, type BoundParts, bindPlan, whatChanged } from "./approval-hash.ts";
import { listMarks, nameTool, pickShown } from "./judge.ts";
import { finishCall, outcome } from "./outcome.ts";
import { newQuestion, newWaiting } from "./park.ts";
import { endPauses, waitOn } from "./pause.ts";
import { makePlace } from "./place.ts";
import type { TurnParts } from "./ports.ts";
import type { AskedCall, WaitingCall } from "./progress.ts";
import { goOn } from "./question.ts";
import { parkNow, type TurnRun } from "./run.ts";
import { isChanged, judgeFresh, runTool, stillAsShown } from "./run-tool.ts";
import { allowedBy, approvedButNotRun, approvedCall, canNoLongerRun, deniedBy, HOW, NOT_ANSWERED } from "./words.ts";

/** Deals with what woke a parked turn. Returns the next park when more answers are missing. */
export async function wakeUp(parts: TurnParts, run: TurnRun, input: SegmentInput): Promise<Outcome | undefined> {
  const { p } = run;
  if (input.wake.why === "start") return undefined;
  if (input.wake.why === "deadline") {
    // As a step: a replay at a later time must find the same ones overdue.
    const now = await run.ctx.step("now", async () => parts.clock.now());
    const late = p.waiting.filter((w) => w.deadline <= now);
    const fresh: AskedCall[] = [];
    for (const w of late) {
      if (hasAsked(w)) {
        await parts.records.write((tx) => parts.questions.close(tx, w.approval, "expired"));
        const next = await goOn(parts, run, w, { action: "cancel" }, HOW.late);
        if (next) fresh.push(next);
        continue;
      }
      const also = (tx: Tx) => parts.questions.close(tx, w.approval, "expired");
      await outcome(
        parts,
        run,
        w,
        { text: NOT_ANSWERED, isError: true, origin: "own" },
        { also, how: HOW.late, notRun: "denied" },
      );
    }
    p.waiting = p.waiting.filter((w) => !late.includes(w));
    fresh.push(...(await endPauses(parts, run, (pause) => pause.deadline <= now)));
    p.waiting.push(...fresh.map(withoutReasons));
    return p.waiting.length || p.pauses?.length ? parkNow(parts, run, fresh) : undefined;
  }
  if (input.wake.why !== "event") return undefined;
  // Before the answers: a turn that was stopped runs nothing, even if it was allowed a moment earlier.
  if (input.wake.events.some((e) => e.name === CANCEL)) throw new Stopped();
  const fresh: AskedCall[] = [];
  for (const event of input.wake.events) {
    const w = p.waiting.find((one) => parts.questions.event(one.approval) === event.name);
    // An answer to a question this turn has closed in the meantime.
    if (!w) continue;
    p.waiting = p.waiting.filter((one) => one !== w);
    const again = await answered(parts, run, w, fromJson<Answer>(event.value));
    if (again) fresh.push(again);
  }
  const { events } = input.wake;
  fresh.push(...(await endPauses(parts, run, (pause) => events.some((event) => event.name === pause.on))));
  p.waiting.push(...fresh.map(withoutReasons));
  return p.waiting.length || p.pauses?.length ? parkNow(parts, run, fresh) : undefined;
}

/** What a person said, as the event brings it. `content`: what they filled in. `because`: Lares answered, for this reason. */
type Answer = { decision: string; by: string; reason: string | null; because?: string; content?: JsonObject };

function hasAsked(w: WaitingCall): w is WaitingCall & Required<Pick<WaitingCall, "asks">> {
  return w.asks !== undefined;
}

function withoutReasons({ because: _b, rule: _r, ...w }: AskedCall): WaitingCall {
  return w;
}

/** Runs or refuses a call a person answered. Returns it as a new question when it is no longer what was shown. */
async function answered(
  parts: TurnParts,
  run: TurnRun,
  w: WaitingCall,
  answer: Answer,
): Promise<AskedCall | undefined> {
  if (hasAsked(w)) {
    return answer.decision === "deny"
      ? goOn(parts, run, w, { action: "decline" }, HOW.declined)
      : goOn(parts, run, w, { action: "accept", content: answer.content ?? {} }, HOW.answered);
  }
  if (answer.decision === "deny") {
    const text = deniedBy(answer.by, answer);
    await outcome(parts, run, w, { text, isError: true, origin: "own" }, { how: HOW.denied, notRun: "denied" });
    return undefined;
  }
  const call: ToolCallPart = { type: "tool-call", id: w.callId, name: w.tool, input: w.input };
  const byRule = answer.decision === "allow-always" ? await judgeFresh(parts, run, call, run.p) : undefined;
  if (!byRule && !(await stillAsShown(parts, run, w))) return askAgain(parts, run, w, call);
  const done = await runTool(parts, run, call, run.p, byRule ?? { by: "person", hash: w.hash });
  if (isChanged(done)) return askAgain(parts, run, w, call);
  if (done.notice) run.p.notices.push(approvedCall(nameTool(parts, w), done.notice));
  if (done.wait) {
    waitOn(run, w, done.wait);
    return undefined;
  }
  if (done.ask) {
    const question = newQuestion(parts, run, call, { ask: done.ask, hash: w.hash, round: 1, n: run.p.call });
    return { ...question, ...defined({ results: w.results }) };
  }
  await finishCall(parts, run, w, done, {
    how: HOW.allowed,
    allowed: allowedBy(answer.by, answer),
    isSaid: Boolean(answer.reason),
  });
  return undefined;
}

/** The call is no longer what was shown: a new question, or its end where it can't be asked. */
async function askAgain(
  parts: TurnParts,
  run: TurnRun,
  w: WaitingCall,
  call: ToolCallPart,
): Promise<AskedCall | undefined> {
  const again = await replan(parts, run, w);
  if (!again || typeof again === "string") {
    const why = typeof again === "string" ? again : undefined;
    run.p.notices.push(approvedButNotRun(nameTool(parts, w), why));
    // The reason may quote the call.
    const text = canNoLongerRun(why);
    await outcome(parts, run, w, { text, isError: true, origin: "outside" }, { how: HOW.allowedNotRun });
    return undefined;
  }
  const { shown, rule, hash, bound, marks, whole, where } = again;
  const because = whatChanged(w.bound, bound);
  const judged = { shown, rule, hash, ...defined({ bound }), marks: marks ?? [], ...truthy({ whole, where }) };
  return {
    ...newWaiting(parts, run, call, { verdict: "ask", because, ...judged }, run.p.call),
    ...defined({ results: w.results }),
    because,
    rule,
  };
}

/** Why a segment must not be tried again: it stopped Lares before. */
export function whyNotAgain(wake: Wake): string | undefined {
  return wake.why === "broken" && wake.code === "STOPPED_LARES" ? wake.message : undefined;
}

interface Replanned {
  shown: string;
  rule: string;
  hash: string;
  bound?: BoundParts;
  marks?: string[];
  whole?: string;
  where?: RunsWhere;
}

/** The question as it would be asked now, or why it can't be; recorded, so that a replay asks the same. */
function replan(parts: TurnParts, run: TurnRun, w: WaitingCall): Promise<Replanned | string | null> {
  return run.ctx.step(stepNames.replan(w.approval), async () => {
    const tool = parts.tools.get(w.tool);
    const place = makePlace(parts, run);
    const plan = await tool?.plan(w.input, place).catch((error: unknown) => {
      if (error instanceof AppError) return error.message;
      throw error;
    });
    if (plan === undefined || typeof plan === "string") return plan ?? null;
    const { rule } = await parts.judge.judge(run, plan, run.p);
    const more = { marks: listMarks(plan), ...pickShown(plan) };
    const bound = bindPlan(parts, plan, place);
    const hash = approvalHash(parts, w.tool, plan, place);
    return { shown: plan.shown, rule, hash, bound, ...more };
  });
}
