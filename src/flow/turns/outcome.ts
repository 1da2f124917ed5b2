/** What came of a call that waited for a person, where the model and people read it. */
import type { ToolResult, Tx } from "../../core/contracts/index.ts";
import { messageIds, type NotRun } from "../../core/domain/index.ts";
import { findSubject, quotedBeginning, truthy } from "../../core/kit/index.ts";
import { isFromOutside, pickExit } from "./act.ts";
import { heardResult } from "./hooked.ts";
import { nameTool } from "./judge.ts";
import type { TurnParts } from "./ports.ts";
import type { WaitingCall } from "./progress.ts";
import { shortened, type TurnRun } from "./run.ts";
import { andThen, exitCode, nameCall, outcomeLabel } from "./words.ts";

/** A call that waited has run. `allowed`: who said yes; in the interim's place only if they said more than that. */
export async function finishCall(
  parts: TurnParts,
  run: TurnRun,
  w: WaitingCall,
  done: ToolResult,
  { how, allowed = "", isSaid = false }: { how: string; allowed?: string; isSaid?: boolean },
): Promise<void> {
  const call = { type: "tool-call" as const, id: w.callId, name: w.tool, input: w.input };
  const heard = w.heard ? await heardResult(parts, run, call, done) : done;
  const [kept] = await shortened(parts, run, [{ id: w.callId, text: heard.text }]);
  // In its own place the result reads as if the call had simply taken long.
  const inPlace = isSaid ? `[${allowed}]\n${kept!.text}` : kept!.text;
  const text = allowed ? `${allowed}\n${kept!.text}` : kept!.text;
  const own = text.length - kept!.text.length;
  await outcome(parts, run, w, { ...heard, text }, { inPlace, own, how: andThen(how, howItWent(done)) });
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
  const text = outcomeLabel(what, w.asks ? "an answer" : "approval", how);
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
