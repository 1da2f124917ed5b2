/** Says in a plain sentence what a tool gave back, and shows it. */
import type { EventLabel, ToolResultPart } from "../../../core/domain/index.ts";

/** How an interim result reads while a person has not answered yet. */
const WAITING =
  /waiting for (an? |your |the |human |person's )*approval|needs? (an? |your )?approval|approval (is )?(pending|needed|required)/i;
const DENIED = /\b(denied|declined|not allowed|refused)\b/i;

/** The sentence for the outcome of a call that waited, if this text is one. */
export function reportOutcome({
  text: said,
  label,
}: {
  text: string;
  label?: EventLabel | undefined;
}): string | undefined {
  if (label?.kind !== "approval") return undefined;
  const tool = label.of ?? "";
  return DENIED.test(said.split("\n")[0] ?? "")
    ? `The tool "${tool}" was not run. ${said}`
    : `The tool "${tool}" has run. ${said}`;
}

export function isWaiting(result: ToolResultPart): boolean {
  return WAITING.test(result.text);
}

export function report(result: ToolResultPart): string {
  const output = result.text.trim();
  if (WAITING.test(output)) return `The tool "${result.name}" is waiting for your approval.\n${output}`;
  if (result.isError) {
    const what = DENIED.test(output) ? "was not allowed" : "failed";
    return `The tool "${result.name}" ${what}:\n${output}`;
  }
  return output === ""
    ? `The tool "${result.name}" is done. It printed nothing.`
    : `The tool "${result.name}" is done. It said:\n${output}`;
}
