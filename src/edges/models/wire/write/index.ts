/**
 * Requests in the words of each protocol: pure functions from what is asked to what is sent. The provider libraries write what has
 * no writer here, and take half a megabyte and tens of milliseconds to load for it; no ordinary turn needs them.
 *
 * WRITE-1: a request is the same, byte for byte, as the library would have written it. `write.test.ts` compares them.
 */
import { assertNever } from "../../../../core/domain/index.ts";
import type { Credential, Provider } from "../../providers.ts";
import type { WrittenRequest } from "../http.ts";
import { isOpenAi, type SdkOptions } from "../sdk.ts";
import { writeAnthropic } from "./anthropic.ts";
import { writeOpenAiChat } from "./openai-chat.ts";

export interface ToWrite {
  provider: Provider;
  credential: Credential;
  modelId: string;
  options: SdkOptions;
}

/** Nothing when only the library knows how. */
export type RequestWriter = (
  asked: ToWrite,
) => { url: string; headers: Record<string, string>; body: Record<string, unknown> } | undefined;

export function writeRequest(asked: ToWrite): WrittenRequest | undefined {
  const written = writerFor(asked.provider)?.(asked);
  if (!written) return undefined;
  const headers = { "content-type": "application/json", "user-agent": "lares", ...written.headers };
  return { url: written.url, headers, body: JSON.stringify(written.body) };
}

/** Whether all of this provider's requests are written by the library. */
export function needsLibrary(provider: Provider): boolean {
  return writerFor(provider) === undefined;
}

function writerFor(provider: Provider): RequestWriter | undefined {
  switch (provider.api) {
    case "anthropic":
      return writeAnthropic;
    case "openai-chat":
      // OpenAI's own dialect differs, and by model.
      return isOpenAi(provider) ? undefined : writeOpenAiChat;
    case "openai-responses":
    case "google":
      return undefined;
    default:
      return assertNever(provider.api);
  }
}
