/** An approval as the question an editor asks, and the answer back. Pure. */
import type { ApprovalDecision } from "../../../core/domain/index.ts";
import type { Approval } from "../../../core/protocol/index.ts";
import { acpWords as words } from "../words/acp.ts";
import { type ModelCall, resultContent, showCall } from "./calls.ts";
import type { ShownCall } from "./wire.ts";

const KINDS = { "allow-once": "allow_once", "allow-always": "allow_always", deny: "reject_once" } as const;
const NAMES = { "allow-once": words.allowOnce, "allow-always": words.allowAlways, deny: words.deny } as const;

/** What the person says yes to: the change itself, or the exact words of what will run; then why they are asked. */
export function showQuestion(a: Approval, call: ModelCall | undefined, folder: string): ShownCall {
  const shown = showCall(call ?? { id: a.call ?? a.id, name: a.tool, input: {} }, folder);
  const exact = a.whole ?? a.shown;
  const content = shown.content.length > 0 ? shown.content : resultContent(`\`\`\`\n${exact}\n\`\`\``);
  return {
    ...shown,
    title: call ? shown.title : (exact.split("\n")[0] ?? a.tool),
    content: [...content, ...resultContent(a.because)],
  };
}

/** "Always" only where there is a rule that it would save. */
export function listOptions({ rule }: Pick<Approval, "rule">): { optionId: string; name: string; kind: string }[] {
  const decisions: ApprovalDecision[] = rule ? ["allow-once", "allow-always", "deny"] : ["allow-once", "deny"];
  return decisions.map((optionId) => ({ optionId, name: NAMES[optionId], kind: KINDS[optionId] }));
}

/** Nothing: the client stopped waiting, or chose something that wasn't offered. */
export function readDecision(answer: unknown, a: Pick<Approval, "rule">): ApprovalDecision | undefined {
  const { outcome } = (answer ?? {}) as { outcome?: { outcome?: unknown; optionId?: unknown } };
  if (outcome?.outcome !== "selected") return undefined;
  return listOptions(a).find(({ optionId }) => optionId === outcome.optionId)?.optionId as ApprovalDecision | undefined;
}
