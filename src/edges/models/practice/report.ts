/** Says in a plain sentence what a tool gave back, and shows it. */
import type { ToolResultPart } from "../../../core/domain/index.ts";

/** How an interim result reads while a person has not answered yet. */
const WAITING =
  /waiting for (an? |your |the |human |person's )*approval|needs? (an? |your )?approval|approval (is )?(pending|needed|required)/i;
const DENIED = /\b(denied|declined|not allowed|refused)\b/i;

/** What a turn says when a call that waited has been answered: the tool and everything after the first line. */
const OUTCOME = /^\[Outcome of the (\S+) call that waited for approval\]\n([\s\S]*)$/;

/** The sentence for the outcome of a call that waited, if this text is one. */
export function reportOutcome(text: string): string | undefined {
  const match = OUTCOME.exec(text);
  if (!match) return undefined;
  const [, tool, said] = match as unknown as [string, string, string];
  return DENIED.test(said.split("\n")[0] ?? "")
    ? `The tool "${tool}" was not run. ${said}`
    : `The tool "${tool}" was answered and is done. ${said}`;
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
    ? `The tool "${result.name}" is done. It gave no output.`
    : `The tool "${result.name}" is done. It said:\n${output}`;
}
