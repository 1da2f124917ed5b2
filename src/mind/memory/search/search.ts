/** One search over what is remembered: words, meaning and relations are gathered, ranked, and read as rows. */
import type { Records } from "../../../core/contracts/index.ts";
import type { Clock } from "../../../core/kit/index.ts";
import { defined } from "../../../core/kit/index.ts";
import type { Catalogue } from "../catalogue.ts";
import { askedRelation } from "../graph.ts";
import { type Found, type Remembered, type Viewer, visibleScopes } from "../kinds.ts";
import * as store from "../store.ts";
import { canonical } from "../text/analyse.ts";
import type { Vectors } from "../vectors/vectors.ts";
import { scopeWord } from "./match.ts";
import { gather } from "./postings.ts";
import { bareWords, readQuestion, speakersIn, withoutNames } from "./question.ts";
import { rank, type Weights } from "./rank.ts";

export interface SearchQuery extends Viewer {
  query: string;
  limit?: number;
  /** Exactly these. Without a scope and without a viewer everything is searched: that is the owner at the controls. */
  scope?: string | readonly string[];
}

interface SearchParts {
  records: Records;
  clock: Clock;
  catalogue: Catalogue;
  weights: Weights;
  vectors: Pick<Vectors, "similar" | "has">;
  queryBudgetMs: number;
}

/** A name is dropped from the embedded question when at least this many memories are that person's own words. */
const EVERYWHERE = 10;
const MOST_RELATED = 40;
const MOST_FOUND = 100;

export async function searchMemories(parts: SearchParts, query: SearchQuery): Promise<Found[]> {
  const { records, clock, catalogue, weights } = parts;
  const scopes = visibleScopes(query);
  const limit = Math.max(1, Math.min(query.limit ?? 10, MOST_FOUND));
  const visible = catalogue.inScopes(scopes);
  const question = readQuestion(query.query);
  const names = new Set(
    [...catalogue.allSpeakers(EVERYWHERE)].flatMap(([name]) => name.split(/\s+/).map((part) => canonical(part))),
  );
  const similar = parts.vectors.similar(withoutNames(query.query, names), visible, parts.queryBudgetMs);
  const asked = {
    words: question.words,
    scopeWords: scopes?.map(scopeWord),
    total: catalogue.count(scopes),
  };
  const postings = scopes?.length === 0 ? [] : await gather(records, store, asked);
  const ranked = rank(
    catalogue,
    {
      postings,
      isName: await isName(records, query.query, scopes),
      similar: await similar,
      hasVector: (seq) => parts.vectors.has(seq),
      related: await related(records, query.query, scopes),
      speakers: speakersIn(query.query, catalogue.allSpeakers(1)),
      asksWhen: question.asksWhen,
      now: clock.now(),
      ...defined({ days: question.days }),
    },
    { limit, visible, weights },
  );
  const rows = await store.readMemories(
    records,
    ranked.map(({ seq }) => seq),
  );
  const now = clock.now();
  return ranked.flatMap(({ seq, score }) => {
    const row = rows.get(seq);
    // The scope is checked on the row itself once more: the index is a way there, not the judge.
    if (row?.state !== "live" || (scopes && !scopes.includes(row.scope))) return [];
    if (row.expiresAt !== undefined && row.expiresAt <= now) return [];
    return [found(row, score)];
  });
}

/** Whether a question is a name and nothing else: every word has a capital, or the whole is known as one. */
async function isName(records: Records, question: string, scopes: readonly string[] | undefined): Promise<boolean> {
  const words = bareWords(question);
  if (words.length === 0) return false;
  const isWritten = words.every((word) => /^\p{Lu}\p{Ll}/u.test(word));
  return isWritten || store.isEntity(records, words.join(" ").toLowerCase(), scopes);
}

/** What the relation a question asks for leads to, the newest first: it says what holds now. */
async function related(
  records: Records,
  question: string,
  scopes: readonly string[] | undefined,
): Promise<Map<number, number>> {
  const asked = askedRelation(question);
  const found = new Map<number, number>();
  if (!asked) return found;
  for (const subject of asked.subjects) {
    const rows = await store.relations(records, {
      ...defined({ scopes }),
      relation: asked.relation,
      subject,
      limit: MOST_RELATED,
    });
    rows.forEach((row, n) => {
      found.set(row.seq, Math.max(found.get(row.seq) ?? 0, 1 / (1 + n * 0.25)));
    });
  }
  return found;
}

function found(row: Remembered, score: number): Found {
  return {
    id: row.id,
    text: row.text,
    source: row.source ?? null,
    score: Math.round(score * 1e4) / 1e4,
    at: row.at,
    kind: row.kind,
    trust: row.trust,
    ...defined({ person: row.person, place: row.place }),
  };
}
