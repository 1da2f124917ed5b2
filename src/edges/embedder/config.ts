import { z } from "zod";
import type { AdviceTable } from "../../core/contracts/index.ts";
import { type DeepReadonly, silenceAt } from "../../core/kit/index.ts";

export const embedderConfig = z
  .strictObject({
    use: z
      .enum(["offline", "openai", "ollama", "off"])
      .default("offline")
      .describe(
        "offline: built in, English, no network. openai: any server with /v1/embeddings. off: search by words only.",
      ),
    baseUrl: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe("Where the embedding server is. Example: http://127.0.0.1:11434"),
    model: z.string().min(1).optional().describe("The embedding model of the server. Example: nomic-embed-text"),
    dims: z.number().int().min(8).max(8192).optional().describe("Length of the model's vectors. Example: 768"),
    key: z.string().min(1).optional().describe("The API key of the embedding server."),
  })
  .describe("Vectors for memory search. A change embeds everything again in the background.");

/** Ollama's own address. */
export const OLLAMA_URL = "http://127.0.0.1:11434";

export const embedderAdvice: AdviceTable = {
  "memory.embedder.use": async (use, { config }) => {
    if (use !== "ollama" && use !== "openai") return undefined;
    const { baseUrl = use === "ollama" ? OLLAMA_URL : undefined } = (config.memory as { embedder: EmbedderConfig })
      .embedder;
    if (baseUrl === undefined)
      return { message: "It needs memory.embedder.baseUrl, such as https://api.openai.com/v1. Set that as well." };
    const silence = await silenceAt(baseUrl);
    if (silence === undefined) return undefined;
    return {
      message: `${silence}, so memory is searched by words only. Start it, or correct memory.embedder.baseUrl.`,
    };
  },
};

export type EmbedderConfig = DeepReadonly<z.output<typeof embedderConfig>>;
