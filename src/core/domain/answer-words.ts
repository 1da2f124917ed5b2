/**
 * An answer to a question, typed without a slash: "approve k7qw2m", "yes k7qw2m", "no k7qw2m later", "answer k7qw2m Rome", or a bare
 * "yes". Some clients
 * (Mattermost, IRC, Slack) take words with a slash for themselves, so the plain words are the form that works everywhere.
 */
import { MOST_ANSWER } from "./form.ts";
import type { ApprovalDecision } from "./turn.ts";

/** Enough characters to be unique among what waits, few enough to type. The index on the ending has this length, too. */
export const CODE_LENGTH = 6;

const CODE = new RegExp(`^[a-z0-9]{${CODE_LENGTH}}$`);

export interface AnswerWords {
  decision: ApprovalDecision;
  /** Without one, only the question last shown in the chat can be meant. */
  code?: string;
  reason?: string;
  /** To a question with fields. */
  answers?: string;
}

const DECISIONS: Readonly<Record<string, "yes" | "no">> = {
  approve: "yes",
  yes: "yes",
  ok: "yes",
  okay: "yes",
  deny: "no",
  no: "no",
};
/** Alone they are small talk; with a code they answer. */
const NEEDS_CODE: ReadonlySet<string> = new Set(["ok", "okay"]);
/** All that may stand beside a yes. Any other word could be a condition or a negation: "yes k7qw2m if it is safe". */
const POLITE: ReadonlySet<string> = new Set(["please", "pls", "thanks", "thx", "thank", "you"]);
const LONGEST = 500;
const FILLED = new RegExp(`^answer\\s+([a-z0-9]{${CODE_LENGTH}})\\s+(\\S[\\s\\S]*)$`, "i");

/** The shape only: "yes please" has it, too. Whether such a question is open decides whether it is an answer. */
export function answerWords(text: string): AnswerWords | undefined {
  const filled = FILLED.exec(text.slice(0, MOST_ANSWER + 100).trim());
  if (filled) return { decision: "allow-once", code: filled[1]!.toLowerCase(), answers: filled[2]! };
  if (text.length > LONGEST) return undefined;
  const [first = "", ...rest] = withoutStops(text.trim()).split(/\s+/);
  const word = bare(first);
  const said = Object.hasOwn(DECISIONS, word) ? DECISIONS[word] : undefined;
  if (!said) return undefined;
  if (rest.length === 0) return NEEDS_CODE.has(word) ? undefined : { decision: toDecision(said, false) };
  return said === "yes" ? readYes(rest) : readNo(rest);
}

/** Nothing but the code, once "always", and polite words. "yes k7qw2m but later" is not a plain yes. */
function readYes(rest: readonly string[]): AnswerWords | undefined {
  const words = rest.map(bare).filter((word) => word !== "" && !POLITE.has(word));
  const [code, ...more] = words.filter((word) => word !== "always");
  const always = words.filter((word) => word === "always").length;
  if (code === undefined || more.length > 0 || always > 1 || !CODE.test(code)) return undefined;
  return { decision: toDecision("yes", always === 1), code };
}

/** A no may say why. */
function readNo(rest: readonly string[]): AnswerWords | undefined {
  const at = rest.findIndex((word) => bare(word) !== "" && !POLITE.has(bare(word)));
  const code = at < 0 ? "" : bare(rest[at]!);
  if (!CODE.test(code)) return undefined;
  const why = rest.slice(at + 1);
  const isReason = why.some((word) => bare(word) !== "" && !POLITE.has(bare(word)));
  return { decision: "deny", code, ...(isReason ? { reason: why.join(" ") } : {}) };
}

/** Without the brackets, quotes and marks around it: "Yes," and "(k7qw2m)". A question mark stays, because it asks. */
function bare(word: string): string {
  let [start, end] = [0, word.length];
  while (start < end && AROUND.has(word[start]!)) start++;
  while (end > start && AROUND.has(word[end - 1]!)) end--;
  return word.slice(start, end).toLowerCase();
}

const AROUND: ReadonlySet<string> = new Set("()[]{}<>\"'`“”„‘’«»*_,.:;!…–—-");

/** How people end a line, and what phones and clients put around a code: marks that mean nothing here. */
function withoutStops(text: string): string {
  let end = text.length;
  while (end > 0 && STOPS.has(text[end - 1]!)) end--;
  return text.slice(0, end);
}

const STOPS: ReadonlySet<string> = new Set([".", "!", "…", "。", "！", " "]);

function toDecision(said: "yes" | "no", isAlways: boolean): ApprovalDecision {
  if (isAlways) return "allow-always";
  return said === "yes" ? "allow-once" : "deny";
}
