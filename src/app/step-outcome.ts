/** How a recorded step really ended: one that was done may have failed, and that must not look like a success. */
import type { JournalEntry, ModelReply, ToolResult } from "../core/contracts/index.ts";
import type { Result } from "../core/protocol/index.ts";

type Step = Result<"turns.get">["steps"][number];

export function stepOutcome({
  name,
  state,
  payload,
}: Pick<JournalEntry, "name" | "state" | "payload">): Pick<Step, "outcome" | "failure" | "reason" | "exit"> {
  if (state === "unknown") return { outcome: "unknown" };
  if (state !== "done") return { outcome: "open" };
  const found = (payload ?? {}) as unknown as Partial<ToolResult> & {
    reply?: ModelReply;
    refused?: string;
    verdict?: string;
    because?: string;
  };
  if (name.startsWith("model:")) {
    if (found.refused !== undefined) return { outcome: "denied", failure: "budget", reason: oneLine(found.refused) };
    const { reply } = found;
    if (!reply || reply.ok) return { outcome: "ok" };
    return { outcome: "failed", failure: reply.failure, reason: oneLine(reply.message) };
  }
  if (name.startsWith("judge:")) {
    const no = found.verdict === "deny" || found.verdict === "error";
    if (!no) return { outcome: "ok" };
    return { outcome: "denied", ...(found.because ? { reason: oneLine(found.because) } : {}) };
  }
  const { exit } = (found.meta ?? {}) as { exit?: unknown };
  const code = typeof exit === "number" ? { exit } : {};
  if (!found.isError && !(typeof exit === "number" && exit !== 0)) return { outcome: "ok", ...code };
  return { outcome: "failed", ...code, ...(found.text ? { reason: lastLine(found.text) } : {}) };
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim().slice(0, 300);
}

function lastLine(text: string): string {
  return oneLine(text.trim().slice(-2000).split("\n").at(-1) ?? "");
}
