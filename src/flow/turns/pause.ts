/**
 * Calls whose outcome is waited for without a person: sub-agents, a process, a time, work of another program. The turn is parked
 * meanwhile (I8).
 */
import type { AfterWait, ToolResult } from "../../core/contracts/index.ts";
import { fromJson, type Json, messageIds, stepNames, type ToolCallPart, toJson } from "../../core/domain/index.ts";
import { defined, truthy } from "../../core/kit/index.ts";
import { heardResult } from "./hooked.ts";
import { newQuestion } from "./park.ts";
import { makePlace } from "./place.ts";
import type { TurnParts } from "./ports.ts";
import type { AskedCall, Pause, WaitingCall } from "./progress.ts";
import { shortened, type TurnRun } from "./run.ts";
import { WAIT_OVER, WAIT_RESULT } from "./words.ts";

type PausedCall = Pick<WaitingCall, "callId" | "tool" | "input"> & Pick<Pause, "hash" | "heard" | "results">;

export function newPause(call: PausedCall, wait: { on: string; deadline: number }): Pause {
  const { callId, tool, input, hash, heard, results } = call;
  return { callId, tool, input, ...wait, ...defined({ hash, heard, results }) };
}

/** A call that waited for a person has run, and its outcome comes later. */
export function waitOn({ p }: TurnRun, w: WaitingCall, wait: { on: string; deadline: number }): void {
  p.pauses = [...(p.pauses ?? []), newPause(w, wait)];
}

/**
 * What these calls waited for is there, or their time is over: it takes the interim result's place, or is said in a later message.
 * Returns the questions that came instead.
 */
export async function endPauses(
  parts: TurnParts,
  run: TurnRun,
  isOver: (pause: Pause) => boolean,
): Promise<AskedCall[]> {
  const { p } = run;
  const over = (p.pauses ?? []).filter(isOver);
  p.pauses = (p.pauses ?? []).filter((pause) => !over.includes(pause));
  const asked: AskedCall[] = [];
  for (const pause of over) {
    const came = await hear(parts, run, pause);
    // Journals of older versions have no words here: those are in the history already.
    if (!came) continue;
    const { callId, tool, input, hash, results } = pause;
    if (came.ask && hash !== undefined) {
      const call: ToolCallPart = { type: "tool-call", id: callId, name: tool, input };
      const question = newQuestion(parts, run, call, { ask: came.ask, hash, round: 1, n: p.call });
      asked.push({ ...question, ...defined({ results }) });
      continue;
    }
    if (came.notice) p.notices.push(came.notice);
    await tell(parts, run, pause, came);
  }
  return asked;
}

type WaitOutcome = Omit<AfterWait, "record">;

/** As a step, so that a replay hears the same. */
async function hear(parts: TurnParts, run: TurnRun, pause: Pause): Promise<WaitOutcome | null> {
  const { callId, tool, input, on, deadline } = pause;
  let record: AfterWait["record"];
  const step = async (): Promise<Json> => {
    const place = makePlace(parts, run);
    const came = await run.ctx.apart("asks", async () =>
      parts.tools.get(tool)?.after?.(input, place, { on, deadline }),
    );
    record = came?.record;
    const { record: _, ...said } = came ?? { text: WAIT_OVER, origin: "own" as const };
    return parts.scrub(toJson(said));
  };
  const heard = await run.ctx.step(stepNames.after(callId), step, (tx) => record?.(tx));
  return fromJson<WaitOutcome | null>(heard);
}

async function tell(parts: TurnParts, run: TurnRun, pause: Pause, came: WaitOutcome): Promise<void> {
  const { turn, session, segment } = run;
  const { callId, tool, input, results } = pause;
  const { text, isError, origin = "outside" } = came;
  const done: ToolResult = { text, origin, ...truthy({ isError }) };
  const call: ToolCallPart = { type: "tool-call", id: callId, name: tool, input };
  const heard = pause.heard ? await heardResult(parts, run, call, done) : done;
  const [kept] = await shortened(parts, run, [{ id: callId, text: heard.text }]);
  const said = kept!.text;
  const now = parts.clock.now();
  const line = await parts.ownLine({ session, at: now, label: { kind: "wait", text: WAIT_RESULT, of: tool } });
  const settling =
    results === undefined ? undefined : await parts.interims.settling({ session, message: results, call: callId });
  await parts.records.write((tx) => {
    const outside = heard.origin !== "own";
    const facts = truthy({ isError });
    if (settling?.place(tx, { text: said, ...facts }, outside)) return;
    parts.history.append(tx, {
      session,
      turn,
      id: messageIds.after(turn, segment, callId),
      message: { role: "user", content: [line, { type: "text", text: said }] },
      at: now,
      outside,
      meta: { kind: "outcome", ...facts },
    });
  });
}
