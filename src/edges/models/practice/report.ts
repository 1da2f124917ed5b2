/** Says in a plain sentence what a tool gave back, and shows it. */
import type { ToolResultPart } from "../../../core/domain/message.ts";

/** How an interim result reads while a person has not answered yet. */
const WAITING =
  /waiting for (an? |your |the |human )*approval|needs? (an? |your )?approval|approval (is )?(pending|needed|required)/i;
const DENIED = /\b(denied|declined|not allowed|refused)\b/i;

export function report(result: ToolResultPart): string {
  const output = result.text.trim();
  if (WAITING.test(output)) return `The tool "${result.name}" is waiting for your approval.\n${output}`;
  if (result.isError) {
    const what = DENIED.test(output) ? "was not allowed" : "failed";
    return `The tool "${result.name}" ${what}:\n${output}`;
  }
  return output === ""
    ? `The tool "${result.name}" is done. It gave no output.`
    : `The tool "${result.name}" is done. It said:\n${output}`;
}
