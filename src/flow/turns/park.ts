/** Parking: the turn becomes data until a person answers, the deadline passes, or it is stopped (I8). */
import { createHash } from "node:crypto";
import type { Outcome, ToolQuestion } from "../../core/contracts/index.ts";
import {
  answerIds,
  needsNoWords,
  type ReplyRoute,
  type ToolCallPart,
  toApprovalId,
  toJson,
} from "../../core/domain/index.ts";
import { defined, sha256, truthy } from "../../core/kit/index.ts";
import { type JudgedCall, nameTool } from "./judge.ts";
import type { At } from "./place.ts";
import type { TurnParts } from "./ports.ts";
import { type AskedCall, PROGRESS_VERSION, type Progress, type WaitingCall } from "./progress.ts";
import { recordParked } from "./store.ts";
import { ASKED_ELSEWHERE, NEEDS_ANSWER } from "./words.ts";

/** The id comes from the place in the turn, so a replay asks the same question under the same id. */
export function newWaiting(parts: TurnParts, at: At, call: ToolCallPart, j: JudgedCall, n: number): WaitingCall {
  const id = createHash("sha256")
    .update(JSON.stringify([at.turn, at.segment, n, call.id]))
    .digest("hex")
    .slice(0, 24);
  return {
    approval: toApprovalId(id),
    callId: call.id,
    tool: call.name,
    input: j.input ?? call.input,
    hash: j.hash,
    ...defined({ bound: j.bound }),
    shown: j.shown,
    ...(j.marks?.length ? { marks: j.marks } : {}),
    ...truthy({ dangers: j.dangers, whole: j.whole, where: j.where, heard: j.heard }),
    // A schedule's own moment may come before the patience of a question is over.
    deadline: Math.min(parts.clock.now() + parts.questions.patienceMs(at.agent), j.until ?? Number.POSITIVE_INFINITY),
  };
}

/** The question as a call that waits. `hash` is of the plan that ran. */
export function newQuestion(
  parts: TurnParts,
  at: At,
  call: ToolCallPart,
  asked: { ask: ToolQuestion; hash: string; round: number; n: number },
): AskedCall {
  const { shown, form, state, until } = asked.ask;
  const judged = { verdict: "ask" as const, because: NEEDS_ANSWER, rule: "", shown, hash: asked.hash };
  const waiting = newWaiting(parts, at, call, { ...judged, ...defined({ until }) }, asked.n);
  return { ...waiting, asks: { form, state, round: asked.round }, because: NEEDS_ANSWER, rule: "" };
}

/** Parks on everything that waits. `fresh` are the questions not yet asked; `askedAt` is where they are asked. */
export function park(
  parts: TurnParts,
  at: At,
  p: Progress,
  route: ReplyRoute,
  fresh: AskedCall[],
  askedAt: ReplyRoute,
): Outcome {
  const { turn, session, agent } = at;
  const isElsewhere = askedAt !== route;
  const now = parts.clock.now();
  return {
    park: {
      // Any of them wakes the turn; the others stay parked with it.
      on: [...p.waiting.map((w) => parts.questions.event(w.approval)), ...(p.pauses ?? []).map((pause) => pause.on)],
      deadline: Math.min(...[...p.waiting, ...(p.pauses ?? [])].map((w) => w.deadline)),
      state: toJson(p),
      stateVersion: PROGRESS_VERSION,
      // People may go on talking meanwhile. The answer to the question finds this turn again. Another runtime has one conversation,
      // which can't go on while it waits.
      holdsSession: p.run !== undefined,
    },
    record: (tx) => {
      for (const w of fresh) {
        const question = {
          id: w.approval,
          turn,
          session,
          agent,
          tool: nameTool(parts, w),
          call: w.callId,
          shown: w.shown,
          because: w.because,
          action: {
            input: w.input,
            rule: w.rule,
            ...truthy({ marks: w.marks, dangers: w.dangers, whole: w.whole, where: w.where }),
            ...(isElsewhere ? { route: { ...askedAt } } : {}),
            ...(w.asks ? { form: toJson(w.asks.form) } : {}),
          },
          // An "allow always" of the same action answers other questions with its hash, and never this one.
          hash: w.asks ? sha256(`${w.hash} ${w.asks.round}`) : w.hash,
          askedAt: now,
          deadline: w.deadline,
          route: askedAt,
        };
        parts.questions.ask(tx, question);
        parts.replies.intend(tx, {
          answer: answerIds.ask(turn, w.approval),
          turn,
          session,
          route: askedAt,
          text: parts.questions.text(question),
          // Buttons can't fill in a form.
          ...(w.asks && !needsNoWords(w.asks.form)
            ? {}
            : {
                question: {
                  approval: w.approval,
                  textWithButtons: parts.questions.textWithButtons(question),
                  // Without a rule to save there is nothing that "always" could mean.
                  ...(w.rule ? {} : { once: true as const }),
                },
              }),
        });
      }
      if (isElsewhere && fresh[0])
        parts.replies.intend(tx, {
          answer: answerIds.held(turn, fresh[0].approval),
          turn,
          session,
          route,
          text: ASKED_ELSEWHERE,
        });
      recordParked(tx, turn, p.startedAt);
    },
  };
}
