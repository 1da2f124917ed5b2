/** What adapters over HTTP share: one place for which failure means that the platform surely has nothing. */
import { ChannelBusy, SendUncertain } from "../../core/contracts/index.ts";
import { AppError } from "../../core/domain/index.ts";
import { socketWords, truthy } from "../../core/kit/index.ts";

export function refused(message: string, retry: "never" | "later", cause?: unknown): AppError {
  return new AppError("CHANNEL_SEND", { message, retry, ...truthy({ cause }) });
}

/** The one sentence for a connection that failed, with the reason in plain words. `hint`: where the platform has a better one. */
export function unreached(
  where: string,
  cause: unknown,
  hint = "Check the address and the network, then try again.",
): AppError {
  const why = whyUnreached(cause);
  return new AppError("CHANNEL_SEND", {
    message: `${sentence(where)} can't be reached${why ? `: ${why}` : ""}.`,
    hint,
    retry: "later",
    cause,
  });
}

/** The reason, wherever a library put it: fetch keeps it in `cause`, WebSockets in `error`. Undefined where nothing is known. */
export function whyUnreached(error: unknown): string | undefined {
  let at = error as Failure | undefined;
  for (let depth = 0; at && depth < 5; depth++, at = at.cause ?? at.error) {
    const words = socketWords({ ...truthy({ code: at.code }), message: String(at.message ?? "") });
    if (words) return words;
    if (at.name === "TimeoutError" || at.code === "UND_ERR_CONNECT_TIMEOUT") return "it doesn't answer";
  }
  return undefined;
}

type Failure = { code?: string; name?: string; message?: unknown; cause?: Failure; error?: Failure };

const NEVER_CONNECTED = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** What a request that threw means for a message: surely not taken, or unknown (CHANNEL-2). */
export function broken(error: unknown, where: string): AppError | SendUncertain {
  const code = (error as { code?: string; cause?: { code?: string } }).cause?.code ?? (error as { code?: string }).code;
  if (code !== undefined && NEVER_CONNECTED.has(code)) return unreached(where, error);
  return new SendUncertain(`The connection to ${where} broke while the message was sent.`, { cause: error });
}

/** What an answer other than 2xx means for a message. `retryAfter`: in seconds, as platforms give it. */
export function notTaken(
  status: number,
  where: string,
  more: { retryAfter?: number | undefined; detail?: string | undefined } = {},
): AppError | SendUncertain {
  const said = `${sentence(where)} answered ${status}${more.detail ? `: ${more.detail}` : ""}.`;
  if (status === 429) return new ChannelBusy(Math.max(0, (more.retryAfter ?? 1) * 1000), said);
  if (status === 408 || status === 425 || status === 503) return refused(said, "later");
  // A gateway in between may have lost the answer, not the request.
  if (status >= 500) return new SendUncertain(said);
  return refused(said, "never");
}

/**
 * One message that takes several calls, in order; its id is the first call's. When a later call fails, part of the message is
 * already in the chat: sending all of it again would show that part twice, so the outcome is uncertain.
 */
export async function sendInOrder(
  calls: readonly (() => Promise<string | null>)[],
  where: string,
): Promise<{ platformId: string | null }> {
  let platformId: string | null = null;
  for (const [i, call] of calls.entries()) {
    const id = await call().catch((cause: unknown) => {
      throw i === 0 ? cause : new SendUncertain(`${sentence(where)} took only part of the message.`, { cause });
    });
    platformId ??= id;
  }
  return { platformId };
}

/** For calls that change nothing when they are repeated, such as an edit: an uncertain one has simply failed and can be tried again. */
export function failedIfUncertain(error: unknown): never {
  throw error instanceof SendUncertain ? refused(error.message, "later", error) : error;
}

/** The body of a platform's file, as it comes. */
export async function* readBody(response: Response): AsyncIterable<Uint8Array> {
  if (!response.ok || !response.body) throw refused(`The file could not be fetched (${response.status}).`, "never");
  for await (const chunk of response.body) yield chunk;
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
