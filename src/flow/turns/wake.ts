/** What a parked turn does when it is woken: answers, deadlines, and waits that are over. */

import {
  CANCEL,
  type Outcome,
  type SegmentInput,
  Stopped,
  type ToolResult,
  type Tx,
  type Wake,
} from "../../core/contracts/index.ts";
import {
  AppError,
  type Json,
  messageIds,
  type NotRun,
  type RunsWhere,
  stepNames,
  type ToolCallPart,
} from "../../core/domain/index.ts";
import { defined, findSubject, quotedBeginning, truthy } from "../../core/kit/index.ts";
import { isFromOutside, pickExit } from "./act.ts";
import { approvalHash, type BoundParts, bindPlan, whatChanged } from "./bound.ts";
import { listMarks, nameTool, pickShown } from "./judge.ts";
import { newWaiting } from "./park.ts";
import { endPauses } from "./pause.ts";
import { makePlace } from "./place.ts";
import type { TurnParts } from "./ports.ts";
import type { WaitingCall } from "./progress.ts";
import { parkNow, shortened, type TurnRun } from "./run.ts";
import { runTool, stillAsShown } from "./run-tool.ts";
import {
  allowedAnd,
  allowedBy,
  approvedButNotRun,
  approvedCall,
  canNoLongerRun,
  deniedBy,
  exitCode,
  HOW,
  NOT_ANSWERED,
  nameCall,
  outcomeLabel,
} from "./words.ts";

/** Deals with what woke a parked turn. Returns the next park when more answers are missing. */
export async function wakeUp(parts: TurnParts, run: TurnRun, input: SegmentInput): Promise<Outcome | undefined> {
  const { p } = run;
  if (input.wake.why === "start") return undefined;
  if (input.wake.why === "deadline") {
    const now = await run.ctx.step("now", async () => parts.clock.now());
    const late = p.waiting.filter((w) => w.deadline <= now);
    for (const w of late) {
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
    await endPauses(parts, run, p, (pause) => pause.deadline <= now);
    return p.waiting.length || p.pauses?.length ? parkNow(parts, run, []) : undefined;
  }
  if (input.wake.why !== "event") return undefined;
  if (input.wake.events.some((e) => e.name === CANCEL)) throw new Stopped();
  const fresh: (WaitingCall & { because: string; rule: string })[] = [];
  for (const event of input.wake.events) {
    const w = p.waiting.find((one) => parts.questions.event(one.approval) === event.name);
    if (!w) continue;
    p.waiting = p.waiting.filter((one) => one !== w);
    const again = await answered(parts, run, w, event.value as { decision: string; by: string; reason: string | null });
    if (again) fresh.push(again);
  }
  p.waiting.push(...fresh.map(({ because: _b, rule: _r, ...w }) => w));
  const { events } = input.wake;
  await endPauses(parts, run, p, (pause) => events.some((event) => event.name === pause.on));
  return p.waiting.length || p.pauses?.length ? parkNow(parts, run, fresh) : undefined;
}

/** Runs or refuses a call a person answered. Returns it as a new question when it is no longer what was shown. */
async function answered(
  parts: TurnParts,
  run: TurnRun,
  w: WaitingCall,
  answer: { decision: string; by: string; reason: string | null },
): Promise<(WaitingCall & { because: string; rule: string }) | undefined> {
  if (answer.decision === "deny") {
    const text = deniedBy(answer.by, answer.reason);
    await outcome(parts, run, w, { text, isError: true, origin: "own" }, { how: HOW.denied, notRun: "denied" });
    return undefined;
  }
  if (!(await stillAsShown(parts, run, w))) {
    const call: ToolCallPart = { type: "tool-call", id: w.callId, name: w.tool, input: w.input };
    const again = await run.ctx.step(stepNames.replan(w.approval), async () => {
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
      return { shown: plan.shown, rule, hash, bound, ...more } as unknown as Json;
    });
    if (!again || typeof again === "string") {
      const why = typeof again === "string" ? again : undefined;
      run.p.notices.push(approvedButNotRun(nameTool(parts, w), why));
      // The reason may quote the call.
      const text = canNoLongerRun(why);
      await outcome(parts, run, w, { text, isError: true, origin: "outside" }, { how: HOW.allowedNotRun });
      return undefined;
    }
    const { shown, rule, hash, bound, marks, whole, where } = again as unknown as {
      shown: string;
      rule: string;
      hash: string;
      bound?: BoundParts;
      marks?: string[];
      whole?: string;
      where?: RunsWhere;
    };
    const because = whatChanged(w.bound, bound);
    const judged = {
      shown,
      rule,
      hash,
      ...defined({ bound }),
      marks: marks ?? [],
      ...truthy({ whole, where }),
    };
    return {
      ...newWaiting(parts, run, call, { verdict: "ask", because, ...judged }, run.p.call),
      ...defined({ results: w.results }),
      because,
      rule,
    };
  }
  const done = await runTool(parts, run, { id: w.callId, name: w.tool, input: w.input }, run.p, {
    by: "person",
    hash: w.hash,
  });
  if (done.notice) run.p.notices.push(approvedCall(nameTool(parts, w), done.notice));
  const [kept] = await shortened(parts, run, [{ id: w.callId, text: done.text }]);
  // In its own place the result reads as if the call had simply taken long.
  const allowed = allowedBy(answer.by, answer.reason);
  const inPlace = answer.reason ? `[${allowed}]\n${kept!.text}` : kept!.text;
  const text = `${allowed}\n${kept!.text}`;
  const own = text.length - kept!.text.length;
  await outcome(parts, run, w, { ...done, text }, { inPlace, own, how: allowedAnd(howItWent(done)) });
  return undefined;
}

/**
 * The outcome of a call that waited takes the interim result's place, or arrives as a later message when a model has read that.
 * `inPlace`: its text there. `own`: how much of the text's beginning is ours, not the tool's. `how`: the outcome, in a word or
 * two for the line before the message.
 */
export async function outcome(
  parts: TurnParts,
  run: TurnRun,
  w: WaitingCall,
  said: ToolResult,
  { also, inPlace = said.text, own, how, notRun }: OutcomeMore,
): Promise<void> {
  const { turn, session } = run;
  const at = parts.clock.now();
  const settling =
    w.results === undefined
      ? undefined
      : await parts.interims.settling({ session, message: w.results, call: w.callId });
  parts.crash.at("outcome.before");
  const subject = findSubject(w.input);
  const tool = nameTool(parts, w);
  const what = subject === undefined ? nameCall(tool) : `${tool} ${quotedBeginning(subject)}`;
  const text = outcomeLabel(what, how);
  const line = await parts.ownLine({ session, at, label: { kind: "approval", text, of: tool } });
  await parts.records.write((tx) => {
    also?.(tx);
    const outside = isFromOutside(parts, w.tool, said);
    const facts = { ...truthy({ isError: said.isError, notRun }), ...pickExit(said) };
    if (settling?.place(tx, { text: inPlace, ...facts }, outside)) return;
    parts.history.append(tx, {
      session,
      turn,
      id: messageIds.outcome(turn, run.segment, w.approval),
      message: {
        role: "user",
        content: [line, { type: "text", text: said.text }],
      },
      at,
      outside,
      meta: { kind: "outcome", approval: w.approval, ...facts, ...truthy({ own }) },
    });
  });
  parts.crash.at("outcome.recorded");
}

interface OutcomeMore {
  also?: (tx: Tx) => void;
  inPlace?: string;
  own?: number;
  how: string;
  notRun?: NotRun;
}

/** The exit code where it was a command. */
function howItWent(said: ToolResult): string {
  const { exit } = pickExit(said);
  if (exit !== undefined) return exitCode(exit);
  return said.isError ? "failed" : "done";
}

/** Why a segment must not be tried again: it stopped Lares before. */
export function whyNotAgain(wake: Wake): string | undefined {
  return wake.why === "broken" && wake.code === "STOPPED_LARES" ? wake.message : undefined;
}
