/**
 * Search over all session messages, without a model. The turn only writes its message; the words are indexed afterwards, a few
 * dozen at a time, and a kill in between repeats at most one such piece.
 */

import type { Records } from "../../../core/contracts/index.ts";
import { workKeys } from "../../../core/domain/index.ts";
import {
  type Clock,
  type Crash,
  defined,
  type Guard,
  guarded,
  type Log,
  letOthersRun,
  noCrash,
  noGuard,
  STOPPED_LARES,
} from "../../../core/kit/index.ts";
import type { Found, Viewer } from "../kinds.ts";
import { scopeWord } from "../search/match.ts";
import { gather } from "../search/postings.ts";
import { readQuestion } from "../search/question.ts";
import { type Posting, WEIGHTS } from "../search/rank.ts";
import { splitWords } from "../text/analyse.ts";
import { SAYS_WHEN } from "../text/vocabulary.ts";
import { type Mention, wholeText } from "./mentions.ts";
import * as store from "./store.ts";

/**
 * How long after a pass the messages of further turns wait for each other. Under load most of what indexing costs is paid per session
 * and pass, not per word. Nobody waits for it: a search first indexes what there is.
 */
const GATHER_MS = 2000;
/** Messages indexed in one transaction: about 2 ms, which nobody notices. */
const PIECE = 64;
/** Sessions whose new messages are indexed together: their commit is shared. */
const AT_ONCE = 16;
/** Of a long message the beginning is searched. */
const MOST_WORDS = 400;
const MOST_HITS = 300;
/** A person's sessions that are searched, newest first. */
const MOST_SESSIONS = 50;
/** How long the number of all messages is taken as known: it only weighs words. */
const COUNT_MS = 30_000;
const SESSION_SIGN = "\u{e001}";

/** Messages read at once when everything is looked through. */
const SCANNED = 500;

export interface ScannedMessage {
  session: string;
  /** Its number there. */
  seq: number;
  /** Its number in the index. */
  number?: number;
  /** Everything a model reads of it. */
  whole: string;
  /** What a person or the agent said in it. */
  said: string;
  isPersons: boolean;
  isForgotten: boolean;
}

export interface SessionQuery extends Viewer {
  query: string;
  limit?: number;
  /** Only these sessions; a stranger's own among them. */
  sessions?: readonly string[];
}

export class SessionIndex {
  private working: Promise<void> | undefined;
  /** Woken since the last look. */
  private woken = false;
  private stopped = false;
  /** Set while new messages wait for each other. */
  private cancelGathering: (() => void) | undefined;
  private gatheredAt = Number.NEGATIVE_INFINITY;
  private counted: { total: number; at: number } | undefined;
  private readonly records: Records;
  private readonly clock: Clock;

  private readonly parts: { crash?: Crash; guard?: Guard; log?: Log };

  constructor(parts: { records: Records; clock: Clock; crash?: Crash; guard?: Guard; log?: Log }) {
    this.parts = parts;
    this.records = parts.records;
    this.clock = parts.clock;
  }

  /** There are new messages, and more may follow soon: at once after a pause, else together with those. Returns at once. */
  gather(): void {
    if (this.stopped || this.cancelGathering) return;
    const since = this.clock.now() - this.gatheredAt;
    const go = () => {
      this.gatheredAt = this.clock.now();
      this.wake();
    };
    // A clock that was set back says nothing about how long it was.
    if (since < 0 || since >= GATHER_MS) go();
    else this.cancelGathering = this.clock.after(GATHER_MS - since, go);
  }

  /** There may be new messages: they are indexed now. Returns at once. */
  wake(): void {
    this.cancelGathering?.();
    this.cancelGathering = undefined;
    this.woken = true;
    this.working ??= this.indexAll().finally(() => {
      this.working = undefined;
    });
  }

  /** Resolves when every message that was there is indexed. */
  async settled(): Promise<void> {
    this.wake();
    await this.working;
  }

  /** What still waits is indexed after the next start. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.cancelGathering?.();
    this.cancelGathering = undefined;
    await this.working;
  }

  /** How many messages wait to be indexed. */
  waiting(): Promise<number> {
    return store.waitingCount(this.records);
  }

  /** Best first; `source` is the session, `place` the message's number in it. A stranger finds only what they said themselves. */
  async search(query: SessionQuery): Promise<Found[]> {
    const limit = Math.max(1, Math.min(query.limit ?? 10, 100));
    const question = readQuestion(query.query);
    if (this.cancelGathering) await this.settled();
    const scopeWords = await this.sessionWords(query);
    if (scopeWords?.length === 0) return [];
    const total = await this.total();
    const postings = await gather(this.records, store, {
      words: question.words,
      scopeWords,
      total,
    });
    const found: Found[] = [];
    // Some of the best fall away: messages without text of their own, or deleted meanwhile.
    for (const { number, score } of ranked(postings).slice(0, limit * 3)) {
      const row = await store.messageAt(this.records, number);
      const text = row ? readText(row) : "";
      // A match lends weight to the messages beside it, and one of those may have been forgotten.
      if (!row || text === "" || row.forgotten !== null) continue;
      const says = question.asksWhen && SAYS_WHEN.test(text) ? WEIGHTS.time : 0;
      const asks = /[?？]\s*$/.test(text) ? WEIGHTS.asking : 0;
      const speaker = row.speaker === "owner" ? "owner" : "person";
      found.push({
        id: row.id,
        text,
        source: row.session,
        place: String(row.seq),
        score: Math.round((score + says - asks) * 1e4) / 1e4,
        at: row.at,
        kind: "message",
        trust: row.tainted === 1 ? "outside" : speaker,
        ...defined({ person: row.person ?? undefined }),
      });
    }
    return found.sort((a, b) => b.score - a.score).slice(0, limit);
  }

  /** Messages in the viewer's sight that may have this in them, calls and results of tools included, conversation by conversation. */
  async *scan(
    needles: readonly string[],
    viewer: Omit<SessionQuery, "query" | "limit">,
  ): AsyncGenerator<ScannedMessage> {
    const sessions = await this.sessionsFor(viewer);
    const numbers = await store.listNumbers(this.records, sessions);
    for (const session of sessions) {
      const shelf = numbers.get(session);
      for (let after = -1; ; ) {
        const rows = await store.messagesHaving(this.records, { session, needles, after, limit: SCANNED });
        for (const { seq, role, content, forgotten } of rows)
          yield {
            session,
            seq,
            whole: wholeText(content),
            said: readText({ role, content }),
            isPersons: role === "user",
            isForgotten: forgotten !== null,
            ...(shelf === undefined ? {} : { number: shelf * store.PER_SESSION + seq }),
          };
        if (rows.length < SCANNED) break;
        after = rows.at(-1)!.seq;
        await letOthersRun();
      }
    }
  }

  /** Everything in the viewer's sight that models still read and that mentions this, by conversation. */
  async mentioning({ mentions, needles }: Mention, viewer: Omit<SessionQuery, "query" | "limit">) {
    const messages = new Map<string, number[]>();
    for await (const { session, seq, whole, isForgotten } of this.scan(needles, viewer))
      if (!isForgotten && mentions(whole)) messages.set(session, [...(messages.get(session) ?? []), seq]);
    return { sessions: new Set(await this.sessionsFor(viewer)), messages };
  }

  /** The conversations in a viewer's sight. */
  async sessionsFor(viewer: Omit<SessionQuery, "query" | "limit">): Promise<string[]> {
    const shelves = await this.shelvesFor(viewer);
    return shelves ? store.sessionsAt(this.records, shelves) : store.listSessions(this.records, viewer.agent);
  }

  /** Search finds these no more. The index never comes back to a message, so nothing brings them back. */
  async forget(numbers: readonly number[]): Promise<void> {
    if (numbers.length === 0) return;
    await this.settled();
    await this.records.write((tx) => store.dropFromIndex(tx, numbers));
  }

  private async sessionWords(query: SessionQuery): Promise<string[] | undefined> {
    const shelves = await this.shelvesFor(query);
    if (shelves) return shelves.map(sessionWord);
    // An agent finds what was said to itself; the owner at the controls finds everything.
    return query.agent === undefined ? undefined : agentWord(query.agent);
  }

  /** The conversations a viewer is limited to, if they are not all of the agent's. */
  private async shelvesFor(query: Omit<SessionQuery, "query">): Promise<number[] | undefined> {
    const isStranger = query.person !== undefined && !query.owner;
    if (!isStranger && !query.sessions) return undefined;
    const own = isStranger ? await store.listShelves(this.records, query.person!, MOST_SESSIONS) : undefined;
    const named = query.sessions && (await store.shelvesNamed(this.records, query.sessions.slice(0, MOST_SESSIONS)));
    return own && named ? named.filter((n) => own.includes(n)) : (own ?? named ?? []);
  }

  private async total(): Promise<number> {
    const now = this.clock.now();
    if (!this.counted || now - this.counted.at > COUNT_MS) {
      this.counted = { total: await store.messageCount(this.records), at: now };
    }
    return Math.max(1, this.counted.total);
  }

  private async indexAll(): Promise<void> {
    for (let more = true; (more || this.woken) && !this.stopped; ) {
      // First what waits already: the answer that woke it goes out before it is indexed.
      await letOthersRun();
      this.woken = false;
      const shelves = await store.nextShelves(this.records, AT_ONCE);
      const rests = await Promise.all(shelves.map((shelf) => this.indexPiece(shelf)));
      more = shelves.length === AT_ONCE || rests.includes(true);
    }
  }

  /** Whether the session may have more. */
  private async indexPiece(shelf: store.Shelf): Promise<boolean> {
    const { guard = noGuard, log } = this.parts;
    const rows = await store.messagesAfter(this.records, shelf.session, shelf.indexed, PIECE);
    // Wrapped, because only the work on the words is guarded, not the wait for the commit.
    const { durable } = await guarded(
      guard,
      workKeys.index(shelf.indexed, shelf.session),
      async () => ({ durable: this.write(shelf, rows) }),
      async () => {
        log?.warn("messages can't be found by search", { session: shelf.session, why: STOPPED_LARES });
        return { durable: this.write(shelf, rows, { words: false }) };
      },
    );
    await durable;
    return rows.length === PIECE;
  }

  private write(shelf: store.Shelf, rows: readonly store.MessageRow[], how = { words: true }): Promise<void> {
    const { crash = noCrash } = this.parts;
    if (how.words) crash.at("memory.reading", () => rows.map((row) => row.content).join("\n"));
    // A full piece is one of many, e.g. of an import: that should go on at once.
    const lazy = rows.length < PIECE;
    return this.records.write(
      (tx) => {
        const told = how.words ? rows.flatMap((row) => this.indexed(shelf, row)) : [];
        if (told.length) store.indexMessages(tx, shelf, told);
        // Fewer than asked for: the rest up to the top was deleted.
        store.markIndexed(tx, shelf, rows.length < PIECE ? undefined : rows.at(-1)!.seq);
      },
      { lazy },
    );
  }

  private indexed(shelf: store.Shelf, row: store.MessageRow): { seq: number; words: string }[] {
    const words = new Set(splitWords(readText(row)).slice(0, MOST_WORDS));
    if (words.size === 0) return [];
    return [{ seq: row.seq, words: [...words, sessionWord(shelf.n), ...agentWord(shelf.agent)].join(" ") }];
  }
}

function agentWord(agent: string | null): string[] {
  return agent === null ? [] : [scopeWord(`said to ${agent}`)];
}

function sessionWord(n: number): string {
  return SESSION_SIGN + n.toString(36);
}

/** What was said: text of people and agents, not thoughts, calls and their output. */
function readText(row: { role: string; content: string }): string {
  if (row.role === "tool") return "";
  const parts = JSON.parse(row.content) as readonly { type: string; text?: string; ours?: true }[];
  return parts
    .filter((part) => part.type === "text" && !part.ours)
    .map((part) => part.text ?? "")
    .join("\n")
    .trim();
}

/** As in rank.ts, over numbers alone: neighbours are the messages before and after in the same session. */
function ranked(postings: readonly Posting[]): { number: number; score: number }[] {
  const masks = new Map<number, number>();
  postings.forEach(({ seqs }, bit) => {
    for (const number of seqs) masks.set(number, (masks.get(number) ?? 0) | (1 << bit));
  });
  const weigh = (mask: number) => {
    let weight = 0;
    for (let bit = 0; bit < postings.length; bit++) if ((mask >>> bit) & 1) weight += postings[bit]!.weight;
    return weight;
  };
  let hits = [...masks].map(([number, mask]) => ({ number, mask, weight: weigh(mask) }));
  if (hits.length > MOST_HITS) hits = hits.sort((a, b) => b.weight - a.weight).slice(0, MOST_HITS);
  const places = new Set(hits.flatMap(({ number }) => [number - 2, number - 1, number, number + 1, number + 2]));
  const scored: { number: number; score: number }[] = [];
  let best = 1e-9;
  for (const number of places) {
    let score = 0;
    for (let bit = 0; bit < postings.length; bit++) {
      const has = (at: number) => ((masks.get(at) ?? 0) >>> bit) & 1;
      const beside = has(number - 1) + has(number + 1) + 0.8 * (has(number - 2) + has(number + 2));
      const f = has(number) + WEIGHTS.near * beside;
      score += (postings[bit]!.weight * f * (WEIGHTS.saturation + 1)) / (f + WEIGHTS.saturation);
    }
    best = Math.max(best, score);
    scored.push({ number, score });
  }
  return scored
    .map(({ number, score }) => ({ number, score: score / best }))
    .sort((a, b) => b.score - a.score || b.number - a.number);
}
