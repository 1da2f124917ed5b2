/**
 * What search must know of every live memory without reading it: its neighbours, scope, speaker, length, time. Columns of
 * numbers, about 40 bytes each, filled on first use from the rows.
 *
 * MEMORY-4: neighbours are the live items before and after in the same thread, unless hours lie between them.
 */
import { SAYS_WHEN } from "./text/vocabulary.ts";

/** A row as the catalogue takes it. */
export interface CatalogueEntry {
  seq: number;
  scope: string;
  thread: string | null;
  speaker: string | null;
  at: number;
  uses: number;
  /** Words in the index. */
  length: number;
  text: string;
}

/** Two messages further apart belong to different sittings of the same conversation. */
const SITTING_MS = 6 * 3_600_000;
/** Rows that may come between two of one source. */
const SAME_TALK = 200;

const ALIVE = 1;
const ASKS = 2;
const SAYS_TIME = 4;

export class Catalogue {
  private flags = new Uint8Array(0);
  private before = new Int32Array(0);
  private after = new Int32Array(0);
  private scope = new Int32Array(0);
  private speakerOf = new Int32Array(0);
  private threadOf = new Int32Array(0);
  private words = new Uint16Array(0);
  private used = new Uint16Array(0);
  private time = new Float64Array(0);
  private readonly scopes = new Names();
  private readonly speakers = new Names();
  private readonly threads = new Names();
  private readonly lastOfThread: number[] = [];
  private readonly perScope: number[] = [];
  private readonly perSpeaker: number[] = [];
  private alive = 0;
  private allWords = 0;
  private top = 0;

  /** How many live memories, in these scopes or in all. */
  count(scopes?: readonly string[]): number {
    if (!scopes) return this.alive;
    return scopes.reduce((sum, name) => sum + (this.perScope[this.scopes.find(name)] ?? 0), 0);
  }

  /** One more than the greatest number known. */
  get size(): number {
    return this.top + 1;
  }

  get averageLength(): number {
    return this.alive === 0 ? 1 : Math.max(1, this.allWords / this.alive);
  }

  put(entry: CatalogueEntry): void {
    const { seq } = entry;
    this.grow(seq + 1);
    if (this.isLive(seq)) this.drop(seq);
    this.top = Math.max(this.top, seq);
    this.flags[seq] = ALIVE | (/[?？]\s*$/.test(entry.text) ? ASKS : 0) | (SAYS_WHEN.test(entry.text) ? SAYS_TIME : 0);
    this.scope[seq] = this.scopes.number(entry.scope);
    this.speakerOf[seq] = entry.speaker === null ? -1 : this.speakers.number(entry.speaker);
    this.words[seq] = Math.min(entry.length, 65_535);
    this.used[seq] = Math.min(entry.uses, 65_535);
    this.time[seq] = entry.at;
    this.perScope[this.scope[seq]!] = (this.perScope[this.scope[seq]!] ?? 0) + 1;
    if (entry.speaker !== null)
      this.perSpeaker[this.speakerOf[seq]!] = (this.perSpeaker[this.speakerOf[seq]!] ?? 0) + 1;
    this.alive++;
    this.allWords += this.words[seq]!;
    this.threadOf[seq] = entry.thread === null ? -1 : this.threads.number(entry.thread);
    if (entry.thread !== null) this.link(seq, this.threadOf[seq]!);
  }

  /** Takes one out; its neighbours become each other's. */
  drop(seq: number): void {
    if (!this.isLive(seq)) return;
    const before = this.before[seq]!;
    const after = this.after[seq]!;
    if (before) this.after[before] = after;
    if (after) this.before[after] = before;
    this.before[seq] = 0;
    this.after[seq] = 0;
    this.flags[seq] = 0;
    this.perScope[this.scope[seq]!]!--;
    if (this.speakerOf[seq]! >= 0) this.perSpeaker[this.speakerOf[seq]!]!--;
    this.alive--;
    this.allWords -= this.words[seq]!;
    const thread = this.threadOf[seq]!;
    if (thread >= 0 && this.lastOfThread[thread] === seq) this.lastOfThread[thread] = before;
  }

  isLive(seq: number): boolean {
    return seq < this.flags.length && (this.flags[seq]! & ALIVE) !== 0;
  }

  isQuestion(seq: number): boolean {
    return (this.flags[seq]! & ASKS) !== 0;
  }

  saysWhen(seq: number): boolean {
    return (this.flags[seq]! & SAYS_TIME) !== 0;
  }

  /** The neighbour before, 0 when there is none. */
  previous(seq: number): number {
    return this.before[seq]!;
  }

  next(seq: number): number {
    return this.after[seq]!;
  }

  length(seq: number): number {
    return this.words[seq]!;
  }

  at(seq: number): number {
    return this.time[seq]!;
  }

  uses(seq: number): number {
    return this.used[seq]!;
  }

  markUsed(seq: number): void {
    if (this.isLive(seq) && this.used[seq]! < 65_535) this.used[seq]!++;
  }

  speaker(seq: number): number {
    return this.speakerOf[seq]!;
  }

  /** Everybody who speaks in at least `least` memories: name and number. */
  *allSpeakers(least: number): Iterable<[name: string, number: number]> {
    for (const [name, number] of this.speakers.all()) if ((this.perSpeaker[number] ?? 0) >= least) yield [name, number];
  }

  /** A test for "may be seen": membership in the scopes, by number. */
  inScopes(scopes: readonly string[] | undefined): (seq: number) => boolean {
    if (!scopes) return (seq) => this.isLive(seq);
    // Asked for every memory there is: a table is quicker than a set.
    const allowed = new Uint8Array(this.scopes.size);
    for (const name of scopes) if (this.scopes.find(name) >= 0) allowed[this.scopes.find(name)] = 1;
    return (seq) => this.isLive(seq) && allowed[this.scope[seq]!] === 1;
  }

  private link(seq: number, thread: number): void {
    const last = this.lastOfThread[thread] ?? 0;
    if (seq > last) this.lastOfThread[thread] = seq;
    // Rows come in order of adding; one that comes late (a pending one that was confirmed) stands alone.
    if (seq < last) return;
    // A source may come again in another conversation: then it is long ago, in time or in between.
    const isNear = last > 0 && seq - last <= SAME_TALK && this.isOneSitting(last, seq);
    const before = isNear ? last : this.spokenJustBefore(seq);
    if (before === 0 || !this.isOneSitting(before, seq)) return;
    this.before[seq] = before;
    this.after[before] = seq;
  }

  private isOneSitting(a: number, b: number): boolean {
    return Math.abs(this.time[a]! - this.time[b]!) <= SITTING_MS;
  }

  /** Where each message has its own source, the one added just before in the same scope is the one said before. */
  private spokenJustBefore(seq: number): number {
    const before = seq - 1;
    const fits =
      this.isLive(before) &&
      this.scope[before] === this.scope[seq] &&
      this.speakerOf[before]! >= 0 &&
      this.speakerOf[seq]! >= 0 &&
      this.after[before] === 0;
    return fits ? before : 0;
  }

  private grow(size: number): void {
    if (size <= this.flags.length) return;
    const capacity = Math.max(1024, size, Math.ceil(this.flags.length * 1.5));
    const wider = <T extends Uint8Array | Uint16Array | Int32Array | Float64Array>(
      old: T,
      make: new (n: number) => T,
    ): T => {
      const fresh = new make(capacity);
      fresh.set(old);
      return fresh;
    };
    this.flags = wider(this.flags, Uint8Array);
    this.before = wider(this.before, Int32Array);
    this.after = wider(this.after, Int32Array);
    this.scope = wider(this.scope, Int32Array);
    this.speakerOf = wider(this.speakerOf, Int32Array);
    this.threadOf = wider(this.threadOf, Int32Array);
    this.words = wider(this.words, Uint16Array);
    this.used = wider(this.used, Uint16Array);
    this.time = wider(this.time, Float64Array);
  }
}

/** Names as small numbers. */
class Names {
  private readonly numbers = new Map<string, number>();

  number(name: string): number {
    let number = this.numbers.get(name);
    if (number === undefined) {
      number = this.numbers.size;
      this.numbers.set(name, number);
    }
    return number;
  }

  get size(): number {
    return this.numbers.size;
  }

  find(name: string): number {
    return this.numbers.get(name) ?? -1;
  }

  all(): Iterable<[string, number]> {
    return this.numbers;
  }
}
