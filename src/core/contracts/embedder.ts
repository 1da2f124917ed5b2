/** An embedder: texts become vectors, so that meaning can be compared. Memory works without one, only less well. */
export interface Embedder {
  /** Names the model and its form. Vectors of different ids are never compared; a new id means embedding everything again. */
  readonly id: string;
  /** Length of the vectors. */
  readonly dims: number;
  /** One vector of length 1 a text, in order. Safe to repeat. Throws AppError when it cannot; rejects early when aborted. */
  embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]>;
  /** Gives back what it holds (threads, memory). It starts again by itself when asked again. */
  close(): Promise<void>;
}
