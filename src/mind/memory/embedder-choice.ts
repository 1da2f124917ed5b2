/** Which embedder the settings ask for, and what people should know when they make none. */
import type { Embedder } from "../../core/contracts/index.ts";
import { AppError } from "../../core/domain/index.ts";

export interface EmbedderSource {
  /** The settings as they are now, to notice a change. */
  settings: () => unknown;
  /** The embedder of these settings; undefined when it is switched off. Throws when they make none. */
  make: () => Embedder | undefined;
  /** An embedder of an earlier setting, if it can be made from its id alone. */
  earlier: (id: string) => Embedder | undefined;
}

export class EmbedderChoice {
  /** Of the settings at the start. */
  readonly first: Embedder | undefined;
  private used: string;
  private problem: string | undefined;
  private readonly source: EmbedderSource;

  constructor(source: EmbedderSource) {
    this.source = source;
    this.used = JSON.stringify(source.settings());
    try {
      this.first = source.make();
    } catch (error) {
      // Words find most of it; a setting that is wrong must not keep everything else from starting.
      this.problem = toSentence(error);
    }
  }

  get problems(): string[] {
    return this.problem === undefined ? [] : [this.problem];
  }

  /** The settings may have changed: `use` gets the new embedder if they did. */
  async renew(use: (embedder: Embedder | undefined) => Promise<void>): Promise<void> {
    const wanted = JSON.stringify(this.source.settings());
    if (wanted === this.used) return;
    this.used = wanted;
    try {
      await use(this.source.make());
      this.problem = undefined;
    } catch (error) {
      this.problem = `${toSentence(error)} The embedder stays as it was.`;
    }
  }
}

function toSentence(error: unknown): string {
  if (!(error instanceof AppError)) return String(error);
  return error.hint ? `${error.message} ${error.hint}` : error.message;
}
