/** The sentences people read about models: notices, failures, hints. Never a key, never a whole URL. */

import type { FailureClass } from "../../../core/contracts/index.ts";
import { secretForms, trimEndCharacters } from "../../../core/kit/index.ts";

const WHAT: Record<FailureClass, string> = {
  auth: "rejected its key",
  billing: "has no credit left",
  "rate-limit": "was at its rate limit",
  timeout: "did not answer in time",
  overload: "was overloaded",
  "server-error": "had an internal error",
  "context-overflow": "could not hold the conversation",
  format: "refused the request",
  "not-found": "was not found",
  network: "could not be reached",
  "too-large": "sent more than Lares accepts in one answer",
  unknown: "failed",
};

/** The same failures after the answer had begun: then the model was reached, and only the rest is missing. */
const WHAT_WHEN_CUT: Partial<Record<FailureClass, string>> = {
  timeout: "stopped in the middle of its answer",
  network: "broke off in the middle of its answer",
};

const HINT: Record<FailureClass, string | null> = {
  auth: "Check the key of this provider, then try again.",
  billing: "Add credit with this provider, or set models.fallbacks in lares.yaml.",
  "rate-limit": "Wait a little, add a second key, or set models.fallbacks in lares.yaml.",
  timeout: "Try again; for a slow model, raise the limit named here.",
  overload: "Try again later, or set models.fallbacks in lares.yaml.",
  "server-error": "It's a fault on the provider's side. Try again later, or set models.fallbacks in lares.yaml.",
  "context-overflow": "Shorten the conversation, or choose a model with a larger window.",
  format: "This is probably a bug in Lares or in the server behind the base URL.",
  "not-found": "Check the model's name with: lares models list",
  network: "Check the network and the base URL of this provider.",
  "too-large":
    "No normal answer is this long. Check the server behind this provider's base URL, or choose another model.",
  unknown: null,
};

/** "anthropic/x was overloaded; openai/y answered." */
export function makeNotice(first: string, failure: FailureClass | null, answered: string): string {
  return `${first} ${failure ? WHAT[failure] : "is not set up"}; ${answered} answered.`;
}

const HINT_WHEN_CUT: Partial<Record<FailureClass, string>> = {
  network: "The connection closed before the answer was complete. Try again, or set models.fallbacks in lares.yaml.",
};

/** `hasOthers`: there are models to fall back on, and they were asked, too. `isCut`: the answer had begun. */
export function findHint(failure: FailureClass, hasOthers: boolean, isCut = false): string | null {
  const hint = (isCut ? HINT_WHEN_CUT[failure] : undefined) ?? HINT[failure];
  return hasOthers ? (hint?.replace("set models.fallbacks", "add another model to models.fallbacks") ?? null) : hint;
}

/** One clause per model that was asked, with what its provider said, where it said something useful. */
export function failureSentence(
  attempts: readonly { model: string; failure: FailureClass; said: string; isCut?: boolean }[],
): string {
  const clauses = new Map<string, string>();
  for (const { model, failure, said, isCut } of attempts) {
    const what = (isCut ? WHAT_WHEN_CUT[failure] : undefined) ?? WHAT[failure];
    clauses.set(model, `${model} ${what}${said ? ` (${said})` : ""}`);
  }
  return `${[...clauses.values()].join("; ")}.`;
}

/** What a provider said, fit to show: one line, no secrets, no URL beyond its host, at most 300 characters. */
export function cleanWords(text: string, secrets: readonly string[]): string {
  let clean = text;
  // Short keys ("none") are no secrets, and their letters occur in honest words.
  for (const secret of secrets) {
    if (secret.length < 8) continue;
    for (const form of secretForms(secret)) clean = clean.replaceAll(form, "…");
  }
  const line = clean
    .replace(/\b(?:(?:sk|pk|key)[-_]|AIza)[\w*-]{6,}/g, "…")
    .replace(/https?:\/\/([^/\s"']+)[^\s"']*/g, "$1")
    .replace(/\s+/g, " ")
    .trim();
  const said = trimEndCharacters(line, ". ");
  return said.length > 300 ? `${said.slice(0, 299)}…` : said;
}
