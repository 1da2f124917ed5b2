/**
 * The provider libraries at their model interface (LanguageModelV3), and nothing else of them: one streamed call, no
 * retries, no warnings on the console. They are imported on first use, because together they cost half a second.
 */

import type { OpenAICompatibleProvider } from "@ai-sdk/openai-compatible";
import { assertNever } from "../../../core/domain/index.ts";
import type { Credential, Provider } from "../providers.ts";

export type SdkModel = ReturnType<OpenAICompatibleProvider["chatModel"]>;
export type SdkOptions = Parameters<SdkModel["doStream"]>[0];
export type SdkPrompt = SdkOptions["prompt"];
export type SdkMessage = SdkPrompt[number];
export type SdkTool = NonNullable<SdkOptions["tools"]>[number];
export type SdkProviderOptions = NonNullable<SdkOptions["providerOptions"]>;
type SdkStream = Awaited<ReturnType<SdkModel["doStream"]>>["stream"];
export type SdkPart = SdkStream extends ReadableStream<infer Part> ? Part : never;
export type SdkFetch = typeof globalThis.fetch;

/** The name under which the compatible library keeps its options and metadata, whoever the provider is. */
export const COMPATIBLE = "compatible";

export async function makeSdkModel(
  provider: Provider,
  credential: Credential,
  modelId: string,
  fetch: SdkFetch,
): Promise<SdkModel> {
  const settings = { apiKey: credential.key, baseURL: provider.baseUrl, fetch };
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
