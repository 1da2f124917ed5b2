/** How a recorded step really ended: one that was done may have failed, and that must not look like a success. */
import type { FailedAttempt, JournalEntry, ModelReply, ToolResult } from "../../core/contracts/index.ts";
import { readStepName, type Usage } from "../../core/domain/index.ts";
import { truthy } from "../../core/kit/index.ts";
import type { Result } from "../../core/protocol/index.ts";
import { CUT_OFF, EMPTY_ANSWER, MODEL_DECLINED } from "./words.ts";

type Step = Result<"turns.get">["steps"][number];
type Ended = Pick<Step, "outcome" | "failure" | "reason" | "exit">;

export function describeStep(entry: Pick<JournalEntry, StepFields>): Ended & Pick<Step, "does"> {
  return { does: readStepName(entry.name), ...stepOutcome(entry) };
}

function stepOutcome({ kind, name, state, payload }: Pick<JournalEntry, StepFields>): Ended {
  if (state === "unknown") return { outcome: "unknown" };
  if (state !== "done") return { outcome: "open" };
  const does = readStepName(name).kind;
  if (does === "model") return ofModel(fields(payload));
  if (does === "judge") return ofJudge([payload].flat().map(fields<VerdictPayload>));
  // An effect's result is wrapped, because its outcome may also be unknown. A step's is recorded as it is.
  const { ok, unknown } = kind === "effect" ? fields<EffectPayload>(payload) : { ok: payload, unknown: undefined };
  return unknown ? { outcome: "unknown" } : ofTool(fields(ok));
}

/** What the journal says about a model call: which model, what it used, what failed before it. */
export function callFacts({ name, payload }: Pick<JournalEntry, "name" | "payload">): {
  model?: string;
  usage?: Usage;
  failed?: FailedAttempt[];
} {
  const { reply } = readStepName(name).kind === "model" ? fields<CallPayload>(payload) : {};
  if (!reply) return {};
  return {
    usage: reply.usage,
    ...(reply.ok ? { model: reply.model } : {}),
    ...(reply.failed?.length ? { failed: reply.failed } : {}),
  };
}

type StepFields = "kind" | "name" | "state" | "payload";
type CallPayload = { reply?: ModelReply; refused?: string };
type VerdictPayload = { verdict?: string; because?: string };
type EffectPayload = { ok?: unknown; unknown?: unknown };

function ofModel({ reply, refused }: Partial<CallPayload>): Ended {
  if (refused !== undefined) return { outcome: "denied", failure: "budget", reason: oneLine(refused) };
  if (!reply) return { outcome: "ok" };
  if (!reply.ok) return { outcome: "failed", failure: reply.failure, reason: oneLine(reply.message) };
  if (reply.finish === "refusal") return { outcome: "denied", reason: MODEL_DECLINED };
  // Neither words nor a call: the turn asks once more, and fails the second time.
  if (!reply.content.some(saysSomething)) {
    return { outcome: "failed", failure: "empty", reason: EMPTY_ANSWER };
  }
  return reply.finish === "length" ? { outcome: "cut", reason: CUT_OFF } : { outcome: "ok" };
}

function saysSomething(part: Extract<ModelReply, { ok: true }>["content"][number]): boolean {
  return part.type === "tool-call" || (part.type === "text" && part.text.trim() !== "");
}

/** All calls of a reply are judged in one step: a single refusal among them shows. */
function ofJudge(verdicts: readonly Partial<VerdictPayload>[]): Ended {
  const no = verdicts.find((one) => one.verdict === "deny") ?? verdicts.find((one) => one.verdict === "error");
  if (!no) return { outcome: "ok" };
  return { outcome: "denied", ...(no.because ? { reason: oneLine(no.because) } : {}) };
}

function ofTool({ isError, text, meta }: Partial<ToolResult>): Ended {
  const { exit } = fields<{ exit: unknown }>(meta);
  const code = typeof exit === "number" ? { exit } : {};
  if (!isError && !code.exit) return { outcome: "ok", ...code };
  // A command's result ends with a line of ours about its end, which the exit code says already.
  const reason = lastLine(text ?? "", code.exit !== undefined);
  return { outcome: "failed", ...code, ...truthy({ reason }) };
}

/** What the journal holds is JSON that an older Lares may have written: a field may be missing. */
function fields<T extends object>(found: unknown): Partial<T> {
  return typeof found === "object" && found !== null ? found : {};
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim().slice(0, 300);
}

function lastLine(text: string, isCommand: boolean): string {
  const lines = text.trim().slice(-2000).split("\n");
  const last = lines.at(-1) ?? "";
  const isOurs = isCommand && last.startsWith("[") && last.endsWith("]");
  return oneLine((isOurs ? lines.at(-2) : last) ?? "");
}
