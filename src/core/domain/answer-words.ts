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

const DECISIONS: Readonly<Record<string, "yes" | "no">> = { approve: "yes", yes: "yes", deny: "no", no: "no" };
const LONGEST = 500;
const FILLED = new RegExp(`^answer\\s+([a-z0-9]{${CODE_LENGTH}})\\s+(\\S[\\s\\S]*)$`, "i");

/** The shape only: "yes please" has it, too. Whether such a question is open decides whether it is an answer. */
export function answerWords(text: string): AnswerWords | undefined {
  const filled = FILLED.exec(text.slice(0, MOST_ANSWER + 100).trim());
  if (filled) return { decision: "allow-once", code: filled[1]!.toLowerCase(), answers: filled[2]! };
  if (text.length > LONGEST) return undefined;
  const [first = "", second, ...rest] = withoutStops(text.trim()).split(/\s+/);
  // "Yes, k7qw2m" and "approve: k7qw2m" are as plain as without the mark.
  const word = first.replace(/[,:]$/, "");
  const said = Object.hasOwn(DECISIONS, word.toLowerCase()) ? DECISIONS[word.toLowerCase()] : undefined;
  if (!said) return undefined;
  const isAlways = said === "yes" && rest.length === 1 && rest[0]!.toLowerCase() === "always";
  // "yes k7qw2m but later" is not a plain yes.
  if (said === "yes" && rest.length && !isAlways) return undefined;
  const code = second?.toLowerCase();
  if (code !== undefined && !CODE.test(code)) return undefined;
  return {
    decision: toDecision(said, isAlways),
    ...(code ? { code } : {}),
    ...(said === "no" && rest.length ? { reason: rest.join(" ") } : {}),
  };
}

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
