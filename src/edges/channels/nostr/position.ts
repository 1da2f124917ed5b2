/** How far an account has read. Wraps are dated back, so beside the time it knows the ids of what was taken in the overlap. */
import { asList, asNumber, asObject, type Json } from "../../../core/domain/index.ts";
import type { Rumor } from "./keys.ts";

/** Wraps are dated back by up to two days (NIP-59); the third is for clocks that are wrong. */
export const OVERLAP_S = 3 * 86_400;
/** Ids of the overlap: more than a person says in three days. */
const MOST_IDS = 400;
/** Enough of an id to tell 400 of them apart, and short in the cursor. */
const ID_LENGTH = 16;

export class NostrPosition {
  /** Nothing was stored yet: the account is new. */
  readonly isNew: boolean;
  private readonly begun: number;
  private readonly ids: string[];
  private readonly known: Set<string>;
  private seen: number;

  constructor(cursor: unknown, now: number) {
    const kept = asObject(cursor);
    const seen = asNumber(kept.seen);
    this.isNew = seen === undefined;
    this.begun = asNumber(kept.begun) ?? now;
    this.seen = seen ?? this.begun;
    this.ids = asList(kept.ids).map(String);
    this.known = new Set(this.ids);
  }

  /** Relays are asked for everything after this. */
  get since(): number {
    return this.seen - OVERLAP_S;
  }

  /** What was written before this account was added isn't ours to answer. */
  isUnseen(rumor: Rumor): boolean {
    return rumor.created_at >= this.begun && !this.known.has(rumor.id.slice(0, ID_LENGTH));
  }

  took(rumor: Rumor, now: number): void {
    // A date in the future would make us miss everything until then.
    this.seen = Math.max(this.seen, Math.min(rumor.created_at, now));
    const id = rumor.id.slice(0, ID_LENGTH);
    this.known.add(id);
    this.ids.push(id);
    if (this.ids.length > MOST_IDS) this.known.delete(this.ids.shift()!);
  }

  toJson(): Json {
    return { begun: this.begun, seen: this.seen, ids: [...this.ids] };
  }
}
