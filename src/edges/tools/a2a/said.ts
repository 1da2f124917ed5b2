/** A peer's words before anybody reads them: bounded, and without signs that nobody sees. */
import { withoutHidden } from "../../../core/kit/index.ts";
import { CUT } from "./words.ts";

const MOST_TEXT = 50_000;
/** In a log. */
const MOST_REASON = 300;

export function bounded(text: string): string {
  const clean = withoutHidden(text);
  return clean.length > MOST_TEXT ? `${clean.slice(0, MOST_TEXT)}${CUT}` : clean;
}

/** Why something failed: the SDK puts the whole answer into its errors. */
export function reason(error: unknown): string {
  return withoutHidden(String(error)).slice(0, MOST_REASON);
}
