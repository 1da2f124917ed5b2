/**
 * Memory: what the agents keep of people, work and conversations, and how it is found again.
 *
 * Adding writes a row and its words in one transaction and returns; vectors come later, in the background. Searching joins words,
 * meaning and relations (search/rank.ts). Scopes decide who sees what (kinds.ts, MEMORY-1).
 *
 * MEMORY-6: items keep the order of the calls to `add`.
 * MEMORY-7: forgotten is gone: row, words, vector, names, relations, and the older versions of the same fact.
 */
import type { Embedder, Records, Tx } from "../../core/contracts/index.ts";
import { AppError, hasWords } from "../../core/domain/index.ts";
import type { Clock, Crash, IdMaker, Log } from "../../core/kit/index.ts";
import { defined, letOthersRun } from "../../core/kit/index.ts";
import { Catalogue } from "./catalogue.ts";
import type { MemoryConfig } from "./config.ts";
import { findTopic } from "./facts.ts";
import {
  type AddOutcome,
  type Found,
  type MemoryKind,
  type NewMemory,
  type Remembered,
  scopeFor,
  type Viewer,
  visibleScopes,
} from "./kinds.ts";
import { chooseThread, hashText, indexed, toGraph } from "./rows.ts";
import { matchAll, scopeWord } from "./search/match.ts";
import { WEIGHTS, type Weights } from "./search/rank.ts";
import { type SearchQuery, searchMemories } from "./search/search.ts";
import * as store from "./store.ts";
import { readSpeaker, splitWords } from "./text/analyse.ts";
import { type VectorProgress, Vectors } from "./vectors/vectors.ts";

/** Why a memory is forgotten: somebody asked, or deleted its line in a memory file. */
export type ForgottenBy = "request" | "file";

export interface MemoryParts {
  records: Records;
  clock: Clock;
  ids: IdMaker;
  log: Log;
  config: () => Pick<MemoryConfig, "queryBudgetMs">;
  /** Without one, search is by words and relations only. */
  embedder?: Embedder;
  /** An embedder of an earlier setting, if it can be made from its id alone. */
  earlier?: (id: string) => Embedder | undefined;
  /** For evaluations. */
  weights?: Weights;
  /** Called after memories were added or removed, or vectors made, and that is durable. */
  changed?: (what: "facts" | "vectors") => void;
  /** Removes these texts from everywhere else they are shown. */
  forgotten?: (texts: readonly string[], by: ForgottenBy) => Promise<void>;
  /** What was deleted leaves the database's log, too. */
  purge?: () => void;
  crash?: Crash;
}

/** Facts read at once when everything is looked through. */
const SCANNED = 500;

export class Memory {
  private readonly catalogue = new Catalogue();
  private readonly vectors: Vectors;
  private loading: Promise<void> | undefined;
  private loaded = false;
  private missed = false;
  private stopped = false;
  /** Adds wait for each other until they are written, not until they are durable. */
  private order: Promise<unknown> = Promise.resolve();
  private readonly records: Records;
  private readonly clock: Clock;
  private readonly ids: IdMaker;
  private readonly config: MemoryParts["config"];
  private readonly weights: Weights;
  private readonly tell: () => void;
  private readonly purge: () => void;
  private readonly alsoForget: (texts: readonly string[], by: ForgottenBy) => Promise<void>;

  constructor(parts: MemoryParts) {
    this.records = parts.records;
    this.clock = parts.clock;
    this.ids = parts.ids;
    this.config = parts.config;
    this.weights = parts.weights ?? WEIGHTS;
    const changed = parts.changed ?? (() => {});
    this.tell = () => changed("facts");
    this.alsoForget = parts.forgotten ?? (async () => {});
    this.purge = parts.purge ?? (() => {});
    this.vectors = new Vectors({ ...parts, progressed: () => changed("vectors") }, parts.embedder);
  }

  /** Begins what goes on in the background. Costs nothing while there is nothing to embed. */
  start(): void {
    this.vectors.start().catch(() => {});
    // Before the first question, not during it. A failure shows there.
    this.load().catch(() => {});
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.loading?.catch(() => {});
    await this.vectors.stop();
  }

  /** Another embedder from now on, or none. Search goes on with the old vectors until the new ones are all there. */
  useEmbedder(embedder: Embedder | undefined): Promise<void> {
    return this.vectors.use(embedder);
  }

  /** Durable when it resolves. Throws BAD_REQUEST for an empty text. */
  async add(memory: NewMemory): Promise<AddOutcome> {
    if (!hasWords(memory.text)) throw new AppError("BAD_REQUEST", { message: "A memory needs a text." });
    const written = this.order.then(() => this.write(memory));
    this.order = written.catch(() => {});
    const { outcome, durable } = await written;
    await durable;
    if (outcome.state !== "known") this.tell();
    return outcome;
  }

  /** Replaces the text of a live memory; the old one stays as its history. Undefined if it isn't live. */
  async correct(id: string, text: string): Promise<AddOutcome | undefined> {
    const old = await store.readMemory(this.records, id);
    if (old?.state !== "live" || old.kind === "document") return undefined;
    if (text.trim() === old.text.trim()) return { id, state: "known" };
    const { kind, scope, person, agent, source } = old;
    return this.add({
      text,
      kind,
      scope,
      trust: "owner",
      supersedes: [id],
      ...defined({ person, agent, source }),
    });
  }

  /**
   * Undoes the newest version of a fact and restores what it had replaced. Returns what is current now; empty if nothing was
   * replaced.
   */
  async undo(id: string): Promise<Remembered[]> {
    const row = await store.readMemory(this.records, id);
    const older = row?.state === "live" ? await store.directlyOlder(this.records, id) : [];
    if (older.length === 0) return [];
    await this.swap(
      [id],
      older.map((old) => old.id),
    );
    return older;
  }

  /** Puts facts in and what they supersede out, all in one transaction. Ids that are there already change nothing. */
  async rewrite(
    facts: readonly (NewMemory & { id: string; scope: string; kind: MemoryKind })[],
    also?: (tx: Tx) => void,
  ): Promise<void> {
    const now = this.clock.now();
    const fresh: { row: Remembered; old: string[] }[] = [];
    for (const { supersedes = [], pending: _, trust = "agent", at = now, ...fact } of facts) {
      if (await store.readMemory(this.records, fact.id)) continue;
      const old: string[] = [];
      for (const id of supersedes) if ((await store.readMemory(this.records, id))?.state === "live") old.push(id);
      const topic = fact.topic ?? findTopic(fact.text, fact.person);
      const row = { ...fact, trust, at, state: "live" as const, createdAt: now, uses: 0 };
      fresh.push({ row: topic === undefined ? row : { ...row, topic }, old });
    }
    const gone = await store.listSeqs(
      this.records,
      fresh.flatMap(({ old }) => old),
    );
    const durable = this.records.write((tx) => {
      for (const { row, old } of fresh) {
        for (const id of old) store.supersede(tx, id, row.id);
        this.put(tx, row);
      }
      also?.(tx);
    });
    for (const seq of gone) this.dropped(seq);
    for (const { row } of fresh) await this.noticed(row.id);
    await durable;
    this.tell();
  }

  /** Deletes some and lets superseded ones hold again, in one transaction. */
  async swap(gone: readonly string[], back: readonly string[], also?: (tx: Tx) => void): Promise<void> {
    const seqs = await store.listSeqs(this.records, gone);
    const rows: Remembered[] = [];
    for (const id of back) {
      const row = await store.readMemory(this.records, id);
      if (row?.state === "superseded") rows.push(row);
    }
    const durable = this.records.write((tx) => {
      store.deleteMemories(tx, gone);
      for (const row of rows) {
        store.restore(tx, row.id);
        store.insertGraph(tx, toGraph(row));
      }
      also?.(tx);
    });
    for (const seq of seqs) this.dropped(seq);
    for (const row of rows) await this.noticed(row.id);
    await durable;
    this.tell();
  }

  /** True when people had exactly this forgotten: nothing automatic keeps it again. */
  wasForgotten(text: string): Promise<boolean> {
    return store.isForgotten(this.records, hashText(text));
  }

  /** Best first. Never throws for a strange question; an empty one finds nothing. */
  async search(query: SearchQuery): Promise<Found[]> {
    await this.load();
    const { records, clock, catalogue, weights, vectors } = this;
    const { queryBudgetMs } = this.config();
    return searchMemories({ records, clock, catalogue, weights, vectors, queryBudgetMs }, query);
  }

  /** Order of adding, oldest first; `newest` turns it round. `before` is the id the last page ended with. */
  list(
    query: Viewer & {
      scope?: string | readonly string[];
      kinds?: readonly (MemoryKind | "document")[];
      source?: string;
      superseded?: boolean;
      newest?: boolean;
      before?: string;
      limit?: number;
    } = {},
  ): Promise<Remembered[]> {
    const scopes = visibleScopes(query);
    return store.listMemories(this.records, {
      ...query,
      ...defined({ scopes }),
      states: query.superseded ? ["live", "superseded"] : ["live"],
      limit: Math.min(query.limit ?? 100, 1000),
    });
  }

  get(id: string): Promise<Remembered | undefined> {
    return store.readMemory(this.records, id);
  }

  /** One memory, when the viewer may see it. */
  async seen(id: string, viewer: Viewer & { scope?: string | readonly string[] }): Promise<Remembered | undefined> {
    const scopes = visibleScopes(viewer);
    const row = await store.readMemory(this.records, id);
    return row && (!scopes || scopes.includes(row.scope)) ? row : undefined;
  }

  /** Every fact in a viewer's sight, in any state, in order of adding; documents belong to their folder. */
  async *scan(viewer: Viewer): AsyncGenerator<Remembered> {
    const scopes = visibleScopes(viewer);
    for (let before: string | undefined; ; ) {
      const states = ["live", "pending", "superseded"];
      const page = await store.listMemories(this.records, { states, limit: SCANNED, ...defined({ scopes, before }) });
      yield* page;
      if (page.length < SCANNED) return;
      before = page.at(-1)!.id;
      await letOthersRun();
    }
  }

  /** Deletes for good, with older versions of the same fact. Returns what is gone; empty when the id is not known or not theirs. */
  async forget(
    id: string,
    viewer: Viewer & { scope?: string | readonly string[] } = {},
    by: ForgottenBy = "request",
  ): Promise<string[]> {
    const scopes = visibleScopes(viewer);
    const row = await store.readMemory(this.records, id);
    if (!row || (scopes && !scopes.includes(row.scope))) return [];
    const ids = [id, ...(await store.olderVersions(this.records, id))];
    const seqs = await store.listSeqs(this.records, ids);
    const texts = [...(await store.readMemories(this.records, seqs)).values()].map((old) => old.text);
    await this.remove(ids, row.kind === "document" ? [] : texts);
    await this.alsoForget(texts, by);
    this.purge();
    return ids;
  }

  /** What waits for a person: captured from text that came from outside. */
  pending(query: { scope?: string; limit?: number } = {}): Promise<Remembered[]> {
    return store.listMemories(this.records, {
      states: ["pending"],
      ...(query.scope === undefined ? {} : { scopes: [query.scope] }),
      limit: query.limit ?? 100,
    });
  }

  /** A person's decision on a pending memory. `no` deletes it. False if it isn't pending. */
  async decide(id: string, yes: boolean): Promise<boolean> {
    const row = await store.readMemory(this.records, id);
    if (row?.state !== "pending") return false;
    if (!yes) {
      await this.remove([id]);
      this.purge();
      return true;
    }
    const older = row.topic === undefined ? [] : await store.sameTopic(this.records, row.scope, row.topic);
    const durable = this.records.write((tx) => {
      for (const old of older) store.supersede(tx, old.id, id);
      store.confirm(tx, id);
      store.insertGraph(tx, toGraph(row));
    });
    await this.noticed(id);
    for (const seq of await store.listSeqs(
      this.records,
      older.map((old) => old.id),
    ))
      this.dropped(seq);
    await durable;
    this.tell();
    return true;
  }

  /** These were of use: they weigh a little more from now on. */
  async used(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const durable = this.records.write((tx) => store.markUsed(tx, ids, this.clock.now()));
    if (this.loaded) for (const seq of await store.listSeqs(this.records, ids)) this.catalogue.markUsed(seq);
    await durable;
  }

  /** Deletes what has expired. Returns how many. */
  async expire(): Promise<number> {
    const ids = await store.expired(this.records, this.clock.now());
    if (ids.length > 0) await this.remove(ids);
    return ids.length;
  }

  /** Names and relations, most mentioned first: what the UI draws. */
  async graph(query: Viewer & { scope?: string | readonly string[]; limit?: number } = {}) {
    const scopes = visibleScopes(query);
    const limit = query.limit ?? 200;
    const within = scopes ? { scopes } : {};
    const [entities, relations] = await Promise.all([
      store.entities(this.records, { ...within, limit }),
      store.relations(this.records, { ...within, limit }),
    ]);
    return {
      entities: entities.map(({ name, mentions, scope }) => ({ name, mentions, scope })),
      relations: relations.map(({ subject, relation, object }) => ({ subject, relation, object })),
    };
  }

  /** Everything but documents, in order of adding, a page at a time. Forgotten things are not in it. */
  page(after: string | undefined, limit: number): Promise<Remembered[]> {
    return store.listMemories(this.records, {
      states: ["live", "pending", "superseded"],
      limit,
      ...defined({ before: after }),
    });
  }

  /** All pages. */
  async *export(): AsyncGenerator<Remembered> {
    for (let after: string | undefined; ; ) {
      const page = await this.page(after, 500);
      yield* page;
      if (page.length === 0) return;
      after = page.at(-1)!.id;
    }
  }

  /** Takes what `export` gave. What is there already (same id) stays as it is. */
  async import(rows: Iterable<Remembered> | AsyncIterable<Remembered>): Promise<{ added: number; known: number }> {
    let added = 0;
    let known = 0;
    const durable: Promise<void>[] = [];
    for await (const row of rows) {
      const kind = row.kind === "document" ? "fact" : row.kind;
      if (await store.readMemory(this.records, row.id)) known++;
      else {
        durable.push(this.insert({ ...row, kind }));
        if (row.state === "live") await this.noticed(row.id);
        added++;
      }
    }
    await Promise.all(durable);
    if (added > 0) this.tell();
    return { added, known };
  }

  /** Replaces all that is remembered of one document by its parts, in one transaction. */
  async replaceDocument(document: {
    source: string;
    scope: string;
    at: number;
    parts: readonly { text: string; place: string }[];
    also?: (tx: Tx) => void;
  }): Promise<void> {
    const old = await store.documentParts(this.records, document.scope, document.source);
    const fresh = document.parts.map((part) => ({ ...part, id: this.ids.next("mem") }));
    const durable = this.records.write((tx) => {
      store.deleteMemories(
        tx,
        old.map(({ id }) => id),
      );
      for (const part of fresh) {
        store.insertMemory(tx, {
          id: part.id,
          scope: document.scope,
          kind: "document",
          text: part.text,
          source: document.source,
          place: part.place,
          trust: "outside",
          state: "live",
          thread: `${document.scope}\n${document.source}`,
          words: indexed(part.text, document.scope),
          at: document.at,
          createdAt: this.clock.now(),
        });
      }
      document.also?.(tx);
    });
    for (const { seq } of old) this.dropped(seq);
    for (const part of fresh) await this.noticed(part.id);
    await durable;
  }

  /** How much there is. */
  counts(): Promise<{ live: number; pending: number; documents: number }> {
    return store.counts(this.records);
  }

  embeddingProgress(): Promise<VectorProgress | undefined> {
    return this.vectors.progress();
  }

  /** Resolves when no memory waits for its vector, or the embedder has failed. */
  async settled(): Promise<void> {
    await this.vectors.settled();
  }

  // ── adding ────────────────────────────────────────────────────────────────────────────────────────────────────────

  private async write(memory: NewMemory): Promise<{ outcome: AddOutcome; durable: Promise<void> }> {
    const now = this.clock.now();
    const scope = scopeFor(memory);
    // A caller that names a kind stores a fact, no matter where it was said.
    const isMessage =
      memory.kind === undefined && (memory.source !== undefined || readSpeaker(memory.text) !== undefined);
    // What was said in a conversation is a separate episode, even if it is repeated.
    const isHere = memory.id !== undefined && (await store.readMemory(this.records, memory.id));
    const same = isHere || isMessage ? undefined : await this.known(memory.text, scope);
    const known = isHere ? memory.id : same;
    if (known !== undefined) return { outcome: { id: known, state: "known" }, durable: Promise.resolve() };
    const id = memory.id ?? this.ids.next("mem");
    const topic =
      memory.topic ?? (isMessage || memory.kind === "episode" ? undefined : findTopic(memory.text, memory.person));
    const row: Remembered = {
      id,
      text: memory.text,
      kind: memory.kind ?? (isMessage ? "episode" : "fact"),
      scope,
      state: memory.trust === "outside" || memory.pending !== undefined ? "pending" : "live",
      ...defined({ why: memory.pending }),
      trust: memory.trust ?? "owner",
      at: memory.at ?? now,
      createdAt: now,
      uses: 0,
      ...defined({
        person: memory.person,
        agent: memory.agent,
        source: memory.source,
        expiresAt: memory.expiresAt,
        topic,
      }),
    };
    if (row.state === "pending") return { outcome: { id, state: "pending" }, durable: this.insert(row) };
    const older: { id: string; at: number }[] =
      topic === undefined ? [] : await store.sameTopic(this.records, scope, topic);
    for (const given of memory.supersedes ?? []) {
      const old = await store.readMemory(this.records, given);
      // Only in its own scope: nobody's words replace what another may not even see.
      if (old?.state === "live" && old.scope === scope && older.every((o) => o.id !== given)) older.push(old);
    }
    const newest = older[0];
    if (newest && newest.at > row.at && !memory.supersedes) {
      const durable = this.insert({ ...row, state: "superseded", supersededBy: newest.id });
      return { outcome: { id, state: "superseded" }, durable };
    }
    const durable = this.insert(
      row,
      older.map((old) => old.id),
    );
    for (const seq of await store.listSeqs(
      this.records,
      older.map((old) => old.id),
    ))
      this.dropped(seq);
    await this.noticed(id);
    const superseded = older.map((old) => old.id);
    return { outcome: { id, state: "live", ...(superseded.length > 0 ? { superseded } : {}) }, durable };
  }

  private insert(row: Remembered, supersedes: readonly string[] = []): Promise<void> {
    return this.records.write((tx) => {
      for (const old of supersedes) store.supersede(tx, old, row.id);
      this.put(tx, row);
    });
  }

  private put(tx: Tx, row: Remembered): void {
    const spoken = readSpeaker(row.text);
    const thread = chooseThread(row.scope, row.source, spoken !== undefined);
    store.insertMemory(tx, {
      ...row,
      words: indexed(row.text, row.scope),
      ...defined({ thread, speaker: spoken?.speaker }),
    });
    // If a person says it again, it may be stored again.
    if (row.trust === "owner") store.dropForgotten(tx, hashText(row.text));
    if (row.state === "live") store.insertGraph(tx, toGraph(row));
  }

  private async known(text: string, scope: string): Promise<string | undefined> {
    // The longest words are mostly the rarest; a few of them leave next to nothing to compare.
    const words = [...new Set(splitWords(text))].sort((a, b) => b.length - a.length).slice(0, 5);
    if (words.length === 0) return undefined;
    const seqs = await store.matching(this.records, matchAll(words, [scopeWord(scope)]), 50);
    return seqs.length === 0 ? undefined : store.sameText(this.records, scope, text, seqs);
  }

  private async remove(ids: readonly string[], forgotten: readonly string[] = []): Promise<void> {
    const seqs = await store.listSeqs(this.records, ids);
    const durable = this.records.write((tx) => {
      store.deleteMemories(tx, ids);
      store.noteForgotten(tx, forgotten.map(hashText), this.clock.now());
    });
    for (const seq of seqs) this.dropped(seq);
    await durable;
    this.tell();
  }

  // ── the catalogue ─────────────────────────────────────────────────────────────────────────────────────────────────

  private async noticed(id: string): Promise<void> {
    const entry = await store.readEntry(this.records, id);
    if (!entry) return;
    if (this.loaded) this.catalogue.put(entry);
    else this.missed = true;
    this.vectors.wake(entry.seq - 1);
  }

  private dropped(seq: number): void {
    this.catalogue.drop(seq);
    this.vectors.drop(seq);
  }

  private load(): Promise<void> {
    this.loading ??= (async () => {
      for (let after = 0; ; ) {
        this.missed = false;
        const entries = await store.readEntries(this.records, after, 500);
        for (const entry of entries) this.catalogue.put(entry);
        after = entries.at(-1)?.seq ?? after;
        // Nothing is awaited between the last look and the mark, so nothing can come in unseen.
        if (entries.length === 0 && !this.missed) {
          this.loaded = true;
          return;
        }
        if (this.stopped) throw new AppError("NOT_READY", { message: "Memory was stopped.", retry: "later" });
        await letOthersRun();
      }
    })();
    this.loading.catch(() => {
      this.loading = undefined;
    });
    return this.loading;
  }
}
