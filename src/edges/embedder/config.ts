import { z } from "zod";
import type { DeepReadonly } from "../../core/kit/index.ts";

export const embedderConfig = z
  .strictObject({
    use: z
      .enum(["offline", "openai", "ollama", "off"])
      .default("offline")
      .describe(
        "offline: built in, English, no network. openai: any server with /v1/embeddings. off: search by words only.",
      ),
    baseUrl: z.url().optional().describe("Where the embedding server is. Example: http://127.0.0.1:11434"),
    model: z.string().min(1).optional().describe("The embedding model of the server. Example: nomic-embed-text"),
    dims: z.number().int().min(8).max(8192).optional().describe("Length of the model's vectors. Example: 768"),
    key: z.string().min(1).optional().describe("The API key of the embedding server."),
  })
  .describe("Vectors for memory search. A change embeds everything again in the background.");
export type EmbedderConfig = DeepReadonly<z.output<typeof embedderConfig>>;
