/**
 * The provider libraries, for the requests that have no writer of ours (`write/`): OpenAI's own dialects, Google's, and schemas for
 * Anthropic. They only write: sending and reading are ours (`http.ts`, `read/`). They are imported on first use, because together
 * they cost half a second. Their types are the form in which a request goes to every writer.
 */

import type { OpenAICompatibleProvider } from "@ai-sdk/openai-compatible";
import { assertNever } from "../../../core/domain/index.ts";
import type { Credential, Provider } from "../providers.ts";
import type { WrittenRequest } from "./http.ts";

export type SdkModel = ReturnType<OpenAICompatibleProvider["chatModel"]>;
export type SdkOptions = Parameters<SdkModel["doStream"]>[0];
export type SdkPrompt = SdkOptions["prompt"];
export type SdkMessage = SdkPrompt[number];
export type SdkTool = NonNullable<SdkOptions["tools"]>[number];
export type SdkProviderOptions = NonNullable<SdkOptions["providerOptions"]>;

/** The name under which the compatible library keeps its options and metadata, for any provider. */
export const COMPATIBLE = "compatible";

/** Thrown where the library would send, with what it would have sent. Not an error: nobody needs its stack. */
class Written {
  readonly request: WrittenRequest;

  constructor(request: WrittenRequest) {
    this.request = request;
  }
}

const writeOnly: typeof globalThis.fetch = async (url, init) => {
  // The libraries give a plain object and a text.
  throw new Written({ url: String(url), headers: init?.headers as Record<string, string>, body: String(init?.body) });
};

/** The request the library makes of these options. Throws what it can't express. */
export async function write(model: SdkModel, options: SdkOptions): Promise<WrittenRequest> {
  try {
    await model.doStream(options);
  } catch (thrown) {
    if (thrown instanceof Written) return thrown.request;
    throw thrown;
  }
  throw new Error("the library answered without a request");
}

/** For `write` only: it can't reach anybody. */
export async function makeSdkModel(provider: Provider, credential: Credential, modelId: string): Promise<SdkModel> {
  const settings = { apiKey: credential.key, baseURL: provider.baseUrl, fetch: writeOnly };
  switch (provider.api) {
    case "anthropic": {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return createAnthropic(settings).languageModel(modelId);
    }
    case "google": {
      const { createGoogleGenerativeAI } = await import("@ai-sdk/google");
      return createGoogleGenerativeAI(settings).languageModel(modelId);
    }
    case "openai-responses": {
      const { createOpenAI } = await import("@ai-sdk/openai");
      return createOpenAI(settings).responses(modelId);
    }
    case "openai-chat": {
      // OpenAI itself wants max_completion_tokens and the developer role; everybody else the older words.
      if (isOpenAi(provider)) {
        const { createOpenAI } = await import("@ai-sdk/openai");
        return createOpenAI(settings).chat(modelId);
      }
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      const compatible = createOpenAICompatible({ ...settings, name: COMPATIBLE, includeUsage: true });
      return compatible.chatModel(modelId);
    }
    default:
      return assertNever(provider.api);
  }
}

export function isOpenAi(provider: Provider): boolean {
  return provider.name === "openai" && provider.official;
}
