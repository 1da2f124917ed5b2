/** What went wrong, from what an ACP agent says about it: a code of JSON-RPC and words of a provider. Pure. */
import type { RunEventBody } from "../../../core/contracts/index.ts";

type RunFailure = Extract<RunEventBody, { type: "error" }>["failure"];

const AUTH_REQUIRED = -32_000;
/** Longer ones are pages of HTML or whole requests. */
const MOST_WORDS = 2000;

/** The first that fits. Words of providers, as agents pass them on. */
const SIGNS: readonly (readonly [RegExp, RunFailure])[] = [
  [/\b(401|403|unauthori[sz]ed|forbidden|invalid (api )?key|api key|not logged in|authenticat)/i, "auth"],
  [/\b(402|billing|insufficient (credit|quota|funds)|payment)/i, "billing"],
  [/\b(429|rate.?limit|too many requests|resource.?exhausted)/i, "rate-limit"],
  [/\b(529|overloaded)/i, "overload"],
  [/\b(context (length|window)|too many tokens|prompt is too long|maximum context)/i, "context-overflow"],
  [/\b(timed? ?out|deadline exceeded)/i, "timeout"],
  [/\b(ECONNREFUSED|ENOTFOUND|ECONNRESET|EAI_AGAIN|fetch failed|socket hang up|network)/i, "network"],
  [/\b(404|model not found|no such model|unknown model)/i, "not-found"],
  [/\b(5\d\d|internal server error|bad gateway|service unavailable)\b/i, "server-error"],
];

export function readFailure(code: number, message: string): { failure: RunFailure; text: string; hint: string | null } {
  const text = message.trim().slice(0, MOST_WORDS) || `It failed with the code ${code}.`;
  const sign = SIGNS.find(([pattern]) => pattern.test(text))?.[1];
  const failure = sign ?? (code === AUTH_REQUIRED ? "auth" : "unknown");
  return { failure, text, hint: failure === "auth" ? "Check its key or log in, then try again." : null };
}
