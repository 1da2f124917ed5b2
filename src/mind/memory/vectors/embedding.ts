/**
 * Vectors for memories: made in the background, one text at a time, newest embedder wins. Search asks for the question's vector
 * and goes on without it when it is late.
 *
 * MEMORY-5: everything works without vectors. A failing embedder is tried again later and never in the way.
 */
import type { Embedder, Records } from "../../../core/contracts/index.ts";
import { backoffMs, type Clock, type Crash, defined, type Log, letOthersRun } from "../../../core/kit/index.ts";
import { lastSeq, listVectors, putVector, readVectors, vectorProgress, withoutVector } from "../store.ts";
import { readSpeaker } from "../text/analyse.ts";
import { Codes, cosine, toBytes } from "./codes.ts";

/** Rows read, and vectors written, at once. A kill loses at most these; they are made again. */
const BATCH = 16;
const SPAN = 2000;
/** About a hundred tokens: the WASM embedder takes 1 ms a token, and the head of a text tells what it is about. */
const LONGEST = 500;
/** Cached question vectors: people and agents repeat questions. */
const MOST_QUESTIONS = 256;
/** Nearest by bits, to be compared exactly. */
const SHORTLIST = 400;
/** While one answer is late the next questions wait only so long for it. */
const SHORT_BUDGET_MS = 250;
const RETRY = { firstMs: 5_000, mostMs: 600_000, jitter: 0.2 };

export interface EmbeddingProgress {
  model: string;
  done: number;
  total: number;
  state: "idle" | "working" | "waiting";
  /** Why it waits. */
  error?: string;
}

export class Embedding {
  private readonly codes: Codes;
  private readonly questions = new Map<string, Float32Array>();
  private readonly stopped = new AbortController();
  private loading: Promise<void> | undefined;
  private working: Promise<void> | undefined;
  private again = false;
  private question: Promise<unknown> = Promise.resolve();
  /** Rows up to here have their vector. */
  private done = 0;
  /** A question whose vector did not come in time, until it comes. */
  private late: Promise<unknown> | undefined;
  private failures = 0;
  private error: string | undefined;
  private cancelRetry: (() => void) | undefined;
  private readonly records: Records;
  private readonly embedder: Embedder;
  private readonly clock: Clock;
  private readonly log: Log;

  private readonly progressed: () => void;
  private readonly crash: Crash | undefined;
  private readonly ended: () => void;

  constructor(parts: {
    records: Records;
    embedder: Embedder;
    clock: Clock;
    log: Log;
    /** A batch of vectors is durable. */
    progressed?: () => void;
    /** Nothing is left to embed for now. */
    ended?: () => void;
    crash?: Crash;
  }) {
    this.ended = parts.ended ?? (() => {});
    this.progressed = parts.progressed ?? (() => {});
    this.crash = parts.crash;
    this.records = parts.records;
    this.embedder = parts.embedder;
    this.clock = parts.clock;
    this.log = parts.log;
    this.codes = new Codes(parts.embedder.dims);
  }

  get model(): string {
    return this.embedder.id;
  }

  /** Every memory has its vector of this model. */
  async isComplete(): Promise<boolean> {
    if (this.working || this.error !== undefined) return false;
    const { done, total } = await vectorProgress(this.records, this.embedder.id);
    return done >= total;
  }

  /** There may be something to embed after row `from`. Returns at once. */
  wake(from = this.done): void {
    if (this.stopped.signal.aborted) return;
    this.again = true;
    this.done = Math.min(this.done, from);
    this.cancelRetry?.();
    this.cancelRetry = undefined;
    this.working ??= this.work().finally(() => {
      this.working = undefined;
      if (this.error === undefined && !this.stopped.signal.aborted) this.ended();
    });
  }

  /** Resolves when nothing is left to embed, or the embedder failed. For tests, evaluations and `lares memory embed`. */
  async settled(): Promise<void> {
    while (this.working) await this.working;
  }

  async progress(): Promise<EmbeddingProgress> {
    const counted = await vectorProgress(this.records, this.embedder.id);
    const atRest = this.error === undefined ? "idle" : "waiting";
    const state = this.working ? "working" : atRest;
    return { model: this.embedder.id, ...counted, state, ...defined({ error: this.error }) };
  }

  has(seq: number): boolean {
    return this.codes.has(seq);
  }

  drop(seq: number): void {
    this.codes.drop(seq);
  }

  /** Cosine of the nearest memories to the question. Empty when its vector is not there within the budget. */
  async similar(question: string, visible: (seq: number) => boolean, budgetMs: number): Promise<Map<number, number>> {
    await this.load();
    if (this.codes.count === 0) return new Map();
    const vector = await this.questionVector(question, budgetMs);
    if (!vector) return new Map();
    const shortlist = this.codes.nearest(vector, visible, SHORTLIST);
    const rows = await listVectors(this.records, this.embedder.id, shortlist);
    return new Map(rows.map(({ seq, bytes }) => [seq, cosine(vector, bytes)]));
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    this.cancelRetry?.();
    await this.working;
    await this.loading?.catch(() => {});
    await this.embedder.close();
  }

  private async questionVector(question: string, budgetMs: number): Promise<Float32Array | undefined> {
    const known = this.questions.get(question);
    if (known) return known;
    if (budgetMs <= 0) return undefined;
    // Behind one that is late already the next would be late too: it is given up soon, and not put in the queue.
    if (this.late) await this.within(this.late, Math.min(budgetMs, SHORT_BUDGET_MS));
    if (this.late) return undefined;
    const made = this.embedder
      .embed([question], this.stopped.signal)
      .then(([vector]) => {
        // Also when late: the same question again has it at once.
        if (this.questions.size >= MOST_QUESTIONS) this.questions.delete(this.questions.keys().next().value as string);
        if (vector) this.questions.set(question, vector);
        return vector;
      })
      .catch(() => undefined);
    this.question = made;
    const found = await this.within(made, budgetMs);
    if (found === "late") {
      this.late = made.finally(() => {
        this.late = undefined;
      });
      return undefined;
    }
    return found;
  }

  private async within<T>(made: Promise<T>, ms: number): Promise<T | "late"> {
    let giveUp: (() => void) | undefined;
    const late = new Promise<"late">((resolve) => {
      giveUp = this.clock.after(ms, () => resolve("late"));
    });
    const first = await Promise.race([made, late]);
    giveUp?.();
    return first;
  }

  private load(): Promise<void> {
    this.loading ??= (async () => {
      for (let after = 0; ; ) {
        const rows = await readVectors(this.records, this.embedder.id, after, 500);
        for (const row of rows) this.codes.put(row.seq, row.bytes);
        if (rows.length === 0 || this.stopped.signal.aborted) return;
        after = rows.at(-1)!.seq;
        await letOthersRun();
      }
    })();
    return this.loading;
  }

  private async work(): Promise<void> {
    await this.load();
    while (this.again && !this.stopped.signal.aborted) {
      this.again = false;
      try {
        await this.embedAll();
        this.failures = 0;
        this.error = undefined;
      } catch (error) {
        if (this.stopped.signal.aborted) return;
        this.error = error instanceof Error ? error.message : String(error);
        const wait = backoffMs(RETRY, ++this.failures);
        this.log.warn("embedding waits", { reason: this.error, seconds: Math.round(wait / 1000) });
        this.cancelRetry = this.clock.after(wait, () => this.wake());
        return;
      }
    }
  }

  private async embedAll(): Promise<void> {
    const top = await lastSeq(this.records);
    while (this.done < top && !this.stopped.signal.aborted) {
      const from = this.done;
      // In spans: looking for what is missing among 100,000 rows at once would hold everybody up.
      const to = Math.min(from + SPAN, top);
      const rows = await withoutVector(this.records, this.embedder.id, { after: from, to, limit: BATCH });
      if (rows.length > 0) await this.embedRows(rows);
      // Somebody may have asked for an earlier row meanwhile.
      if (this.done === from) this.done = rows.length < BATCH ? to : rows.at(-1)!.seq;
    }
  }

  private async embedRows(rows: readonly { seq: number; text: string }[]): Promise<void> {
    const made: { seq: number; bytes: Uint8Array }[] = [];
    for (const row of rows) {
      // A person waits for the question's vector; this one can wait.
      await this.question;
      const said = (readSpeaker(row.text)?.said ?? row.text).trim().slice(0, LONGEST);
      const [vector] = await this.embedder.embed([said], this.stopped.signal);
      if (vector) made.push({ seq: row.seq, bytes: toBytes(vector) });
    }
    await this.records.write((tx) => {
      for (const vector of made) putVector(tx, { ...vector, model: this.embedder.id });
    });
    this.crash?.at("memory.embedded");
    this.progressed();
    const seqs = made.map(({ seq }) => seq);
    // Read back: what was forgotten meanwhile got no vector and gets no code.
    for (const row of await listVectors(this.records, this.embedder.id, seqs)) this.codes.put(row.seq, row.bytes);
  }
}
