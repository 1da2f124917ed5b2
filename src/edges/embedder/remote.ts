/** Embedders behind HTTP: the OpenAI way (`/v1/embeddings`) and Ollama's (`/api/embed`). */
import { z } from "zod";
import type { Embedder } from "../../core/contracts/index.ts";
import { AppError } from "../../core/domain/index.ts";
import { BODY_TOO_LARGE, deadline, defined, textWithin, trimEndCharacters } from "../../core/kit/index.ts";

/** A local model on a slow machine, loading from disk. */
const TIMEOUT_MS = 60_000;
/** An answer of 64 vectors of 8192 numbers as text is about 10 MB. */
const MOST_ANSWER_BYTES = 32 * 1_048_576;
const openaiAnswer = z.object({
  data: z.array(z.object({ embedding: z.array(z.number()), index: z.number().optional() })),
});
const ollamaAnswer = z.object({ embeddings: z.array(z.array(z.number())) });

export interface RemoteParts {
  kind: "openai" | "ollama";
  /** Without a slash at the end; for `openai` with its `/v1`. */
  baseUrl: string;
  model: string;
  dims: number;
  key?: string;
}

export class RemoteEmbedder implements Embedder {
  readonly id: string;
  readonly dims: number;
  private readonly parts: RemoteParts;

  constructor(parts: RemoteParts) {
    this.parts = { ...parts, baseUrl: trimEndCharacters(parts.baseUrl, "/") };
    this.id = `${parts.kind}:${parts.model}:${parts.dims}`;
    this.dims = parts.dims;
  }

  async embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    const { kind, baseUrl, model, key } = this.parts;
    const url = kind === "openai" ? `${baseUrl}/embeddings` : `${baseUrl}/api/embed`;
    const within = deadline(signal, TIMEOUT_MS);
    let answer: unknown;
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", ...(key ? { authorization: `Bearer ${key}` } : {}) },
        body: JSON.stringify({ model, input: texts }),
        signal: within.signal,
      }).catch((cause: unknown) => {
        if (signal.aborted) throw signal.reason;
        throw this.failed("it does not answer", cause);
      });
      if (!response.ok) {
        await response.body?.cancel();
        throw this.failed(`it answered ${response.status}`);
      }
      answer = await textWithin(response, MOST_ANSWER_BYTES)
        .then((text): unknown => JSON.parse(text))
        .catch((cause: unknown) => {
          if ((cause as { code?: string }).code === BODY_TOO_LARGE) throw this.failed((cause as Error).message, cause);
          return undefined;
        });
    } finally {
      within.done();
    }
    const vectors = this.read(answer);
    if (vectors.length !== texts.length) throw this.failed(`${texts.length} texts gave ${vectors.length} vectors`);
    return vectors.map((vector) => unit(vector, this));
  }

  async close(): Promise<void> {}

  private read(body: unknown): number[][] {
    if (this.parts.kind === "ollama") {
      const answer = ollamaAnswer.safeParse(body);
      if (!answer.success) throw this.failed("its answer has no embeddings");
      return answer.data.embeddings;
    }
    const answer = openaiAnswer.safeParse(body);
    if (!answer.success) throw this.failed("its answer has no embeddings");
    return answer.data.data.sort((a, b) => (a.index ?? 0) - (b.index ?? 0)).map((item) => item.embedding);
  }

  private failed(why: string, cause?: unknown): AppError {
    return new AppError("MODEL_FAILED", {
      message: `The embedding server for ${this.parts.model} failed: ${why}.`,
      hint: "Check memory.embedder: baseUrl, model, dims and key. Memory search goes on by words.",
      retry: "later",
      ...defined({ cause }),
    });
  }
}

function unit(vector: number[], of: RemoteEmbedder): Float32Array {
  if (vector.length !== of.dims) {
    throw new AppError("CONFIG_INVALID", {
      message: `${of.id} gave a vector of ${vector.length} numbers; memory.embedder.dims says ${of.dims}.`,
      hint: `Set memory.embedder.dims to ${vector.length}.`,
      retry: "after-change",
    });
  }
  const length = Math.hypot(...vector) || 1;
  return Float32Array.from(vector, (part) => part / length);
}
