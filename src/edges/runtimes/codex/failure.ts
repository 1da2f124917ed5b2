/** What went wrong, from what Codex says about it: its own word or a status, and a provider's words. Pure. */
import type { RunEventBody } from "../../../core/contracts/index.ts";
import { asObject } from "../../../core/domain/index.ts";
import { parseJson } from "../../../core/kit/index.ts";
import { readFailure } from "../acp/failure.ts";

type CodexFailure = Omit<Extract<RunEventBody, { type: "error" }>, "type">;

const WORDS: Readonly<Record<string, CodexFailure["failure"]>> = {
  contextWindowExceeded: "context-overflow",
  sessionBudgetExceeded: "billing",
  usageLimitExceeded: "rate-limit",
  rateLimitExceeded: "rate-limit",
  serverOverloaded: "overload",
  modelNotFound: "not-found",
  internalServerError: "server-error",
  unauthorized: "auth",
  badRequest: "format",
};

const STATUSES: Readonly<Record<number, CodexFailure["failure"]>> = {
  400: "format",
  401: "auth",
  402: "billing",
  403: "auth",
  404: "not-found",
  413: "too-large",
  429: "rate-limit",
  503: "overload",
  529: "overload",
};

const HINT = "Check the key of its model's provider, then try again.";

/** `isFinal`: no repetition helps, also where Codex means to try again. */
export function readCodexFailure(given: unknown): CodexFailure & { isFinal: boolean } {
  const { message, codexErrorInfo, additionalDetails } = asObject(given);
  const guess = readFailure(0, readWords(message, additionalDetails));
  const failure = readClass(codexErrorInfo) ?? guess.failure;
  const isFinal = failure === "auth" || failure === "billing";
  return { failure, text: guess.text, hint: failure === "auth" ? HINT : null, isFinal };
}

function readClass(info: unknown): CodexFailure["failure"] | undefined {
  if (typeof info === "string") return Object.hasOwn(WORDS, info) ? WORDS[info] : undefined;
  for (const one of Object.values(asObject(info))) {
    const status = asObject(one).httpStatusCode;
    if (typeof status === "number") return STATUSES[status] ?? (status >= 500 ? "server-error" : undefined);
  }
  return undefined;
}

const AGAIN = /^Reconnecting\.+ \d+\/\d+\s*/;
/** Our own door, which means nothing to anybody. */
const ADDRESS = "url: http://";

/** What a provider said, without what Codex does about it. Sometimes its answer is passed on whole. */
function readWords(message: unknown, details: unknown): string {
  const given = typeof message === "string" ? message : "";
  const said = AGAIN.test(given) && typeof details === "string" ? details : given.replace(AGAIN, "");
  const address = said.lastIndexOf(ADDRESS);
  const plain =
    address < 0
      ? said
      : said
          .slice(said.startsWith("(") ? 1 : 0, address)
          .trimEnd()
          .replace(/,$/, "");
  if (!plain.startsWith("{")) return plain;
  try {
    const inner = asObject(asObject(parseJson(plain)).error).message;
    return typeof inner === "string" ? inner : plain;
  } catch {
    return plain;
  }
}

/** `Reconnecting... 2/5`: the second try. */
export function readTry(message: unknown): number {
  return Number(/(\d{1,4})\/\d{1,4}/.exec(String(message))?.[1] ?? 1);
}
