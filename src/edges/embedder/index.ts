/** Embedders: the offline one in a separate process, and servers by configuration. */
import type { Embedder } from "../../core/contracts/index.ts";
import { AppError, assertNever } from "../../core/domain/index.ts";
import type { Clock } from "../../core/kit/index.ts";
import { truthy } from "../../core/kit/index.ts";
import { type EmbedderConfig, OLLAMA_URL } from "./config.ts";
import { OfflineEmbedder } from "./offline.ts";
import { RemoteEmbedder } from "./remote.ts";

export { embedderAdvice, embedderConfig } from "./config.ts";
export { OFFLINE_ID, OfflineEmbedder } from "./offline.ts";
export { RemoteEmbedder } from "./remote.ts";

/** The configured embedder; undefined for `off`. Starts nothing. */
export function createEmbedder(config: EmbedderConfig, clock: Clock): Embedder | undefined {
  switch (config.use) {
    case "off":
      return undefined;
    case "offline":
      return new OfflineEmbedder({ clock });
    case "openai":
    case "ollama": {
      const ollama = config.use === "ollama";
      const model = config.model ?? (ollama ? "nomic-embed-text" : "text-embedding-3-small");
      const dims = config.dims ?? (ollama ? 768 : 1536);
      const baseUrl = config.baseUrl ?? (ollama ? OLLAMA_URL : undefined);
      if (!baseUrl) {
        throw new AppError("CONFIG_INVALID", {
          message: "memory.embedder.use is openai, but memory.embedder.baseUrl is not set.",
          hint: "Example: baseUrl: https://api.openai.com/v1",
          retry: "after-change",
        });
      }
      return new RemoteEmbedder({ kind: config.use, baseUrl, model, dims, ...truthy({ key: config.key }) });
    }
    default:
      return assertNever(config.use);
  }
}
