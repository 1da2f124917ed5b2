/**
 * The vectors that searches use, and the change from one embedder to another while the program runs.
 *
 * MEMORY-8: a new embedder takes the place of the old one when every memory has its vector. Until then questions are compared with the
 * old vectors, which are kept whole; an embedder that cannot be reached changes nothing. Going back before that only drops the
 * new one. A kill in between loses a batch: the rows say how far both are.
 */
import type { Embedder, Records } from "../../../core/contracts/index.ts";
import type { Clock, Crash, Log } from "../../../core/kit/index.ts";
import { defined } from "../../../core/kit/index.ts";
import { dropVectors, readVectors, vectorModels } from "../store.ts";
import { Embedding, type EmbeddingProgress } from "./embedding.ts";

export interface VectorParts {
  records: Records;
  clock: Clock;
  log: Log;
  crash?: Crash;
  /** Vectors were made, or another embedder is now in use. */
  progressed: () => void;
  /** An embedder of an earlier setting, by its id, if it can be made without any: it answers until the new one is ready. */
  earlier?: (id: string) => Embedder | undefined;
}

export interface VectorProgress extends EmbeddingProgress {
  /** The embedder that takes its place when it is ready. */
  next?: EmbeddingProgress;
}

/** Rows deleted at once of an embedder that is out of use. */
const DROP = 500;

export class Vectors {
  private current: Embedding | undefined;
  private coming: Embedding | undefined;
  private readonly parts: VectorParts;
  private stopped = false;
  /** There may be vectors of embedders that are out of use. */
  private isUntidy = true;
  private starting: Promise<void> = Promise.resolve();
  private settling: Promise<void> = Promise.resolve();

  constructor(parts: VectorParts, embedder: Embedder | undefined) {
    this.parts = parts;
    this.current = embedder && this.make(embedder);
  }

  /** Begins the background work. With vectors of an earlier embedder that still can answer, that one goes on answering. */
  start(): Promise<void> {
    this.starting = this.begin();
    return this.starting;
  }

  private async begin(): Promise<void> {
    const configured = this.current;
    if (!configured) return;
    const earlier = await this.moreComplete(configured.model);
    if (this.stopped || this.current !== configured) return;
    if (earlier) {
      this.current = this.make(earlier);
      this.coming = configured;
    }
    this.wake(0);
  }

  /** From now on this one. Undefined: search is by words only; the vectors stay for the day it is switched on again. */
  async use(embedder: Embedder | undefined): Promise<void> {
    const { current, coming } = this;
    this.isUntidy = true;
    if (!embedder || !current) {
      this.coming = undefined;
      this.current = embedder && this.make(embedder);
      await Promise.all([current?.stop(), coming?.stop()]);
    } else if (embedder.id === current.model) {
      // Another address or key of the same model: the same vectors.
      this.coming = undefined;
      this.current = this.make(embedder);
      await Promise.all([current.stop(), coming?.stop()]);
    } else {
      this.coming = this.make(embedder);
      await coming?.stop();
    }
    this.wake(0);
    this.parts.progressed();
  }

  /** There may be something to embed after row `from`. */
  wake(from: number): void {
    if (this.stopped) return;
    this.current?.wake(from);
    this.coming?.wake(from);
  }

  drop(seq: number): void {
    this.current?.drop(seq);
    this.coming?.drop(seq);
  }

  has(seq: number): boolean {
    return this.current?.has(seq) ?? false;
  }

  async similar(question: string, visible: (seq: number) => boolean, budgetMs: number): Promise<Map<number, number>> {
    return (await this.current?.similar(question, visible, budgetMs)) ?? new Map();
  }

  async progress(): Promise<VectorProgress | undefined> {
    const { current, coming } = this;
    if (!current) return undefined;
    const next = coming && (await coming.progress());
    return { ...(await current.progress()), ...defined({ next }) };
  }

  /** Resolves when nothing waits for its vector, or the embedder has failed. */
  async settled(): Promise<void> {
    await this.starting.catch(() => {});
    await this.current?.settled();
    await this.coming?.settled();
    await this.settling;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.starting.catch(() => {});
    await this.current?.stop();
    await this.coming?.stop();
    await this.settling;
  }

  /** One of the two has nothing left to do: the new one takes over, and what belongs to nobody goes. */
  private async settle(): Promise<void> {
    const { current, coming } = this;
    if (this.stopped) return;
    if (!coming) {
      if (current && this.isUntidy && (await current.isComplete())) await this.tidy(current);
      return;
    }
    if (!(await coming.isComplete()) || this.coming !== coming || this.stopped) return;
    this.current = coming;
    this.coming = undefined;
    this.parts.crash?.at("memory.switched");
    this.parts.log.info("memory now uses a new embedder", { model: coming.model });
    await current?.stop();
    await this.tidy(coming);
    this.parts.progressed();
  }

  private async tidy(kept: Embedding): Promise<void> {
    for (const { model } of await vectorModels(this.parts.records)) {
      if (model === kept.model) continue;
      for (;;) {
        const rows = await readVectors(this.parts.records, model, 0, DROP);
        // Wanted again meanwhile: it stays.
        if (this.stopped || this.current !== kept || this.coming?.model === model) return;
        if (rows.length === 0) break;
        await this.parts.records.write((tx) => dropVectors(tx, model, rows.at(-1)!.seq));
      }
    }
    this.isUntidy = false;
  }

  private async moreComplete(configured: string): Promise<Embedder | undefined> {
    const [most] = await vectorModels(this.parts.records);
    return most && most.model !== configured ? this.parts.earlier?.(most.model) : undefined;
  }

  private make(embedder: Embedder): Embedding {
    const { records, clock, log, crash, progressed } = this.parts;
    const ended = () => {
      this.settling = this.settling
        .then(() => this.settle())
        .catch((error: unknown) => {
          if (!this.stopped) log.warn("switching the embedder couldn't be completed", { reason: String(error) });
        });
    };
    return new Embedding({ records, clock, log, embedder, progressed, ended, ...defined({ crash }) });
  }
}
