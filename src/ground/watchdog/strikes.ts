/**
 * What is held against work, in a separate small file: it must be known before the database's turns are taken up. It names
 * the life that was judged last, so that a death between judging and the new ledger is not counted twice.
 */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import type { Past } from "./ledger.ts";
import { count, findBlame, type HeldWork, isClear, spare } from "./rule.ts";

/** Work that was erased meanwhile is never forgiven; after this long nobody misses its entry. */
const KEEP_MS = 30 * 86_400_000;

export class Strikes {
  private readonly file: string;
  private judged: string;
  private readonly held: Map<string, HeldWork>;

  constructor(file: string) {
    this.file = file;
    const stored = read(file);
    this.judged = stored.judged;
    this.held = new Map(Object.entries(stored.held));
  }

  get isEmpty(): boolean {
    return this.held.size === 0;
  }

  get(key: string): HeldWork | undefined {
    return this.held.get(key);
  }

  /** Counts the last life, once. */
  judge(past: Past, now: number): void {
    if (past.life === this.judged) return;
    this.judged = past.life;
    const running = new Set(past.running.map(({ key }) => key));
    for (const [key, held] of this.held) if (!running.has(key)) this.held.set(key, spare(held, past.how));
    const atWork = past.running.filter(({ doing }) => doing === "works").length;
    const suspects = past.running.filter(
      ({ key, doing }) => doing !== "waits" && (this.held.get(key)?.strikes ?? 0) > 0,
    );
    const last = Math.max(0, ...suspects.map(({ began }) => began));
    for (const work of past.running) {
      const { key, began, progressed } = work;
      const blame = findBlame(past.how, work, atWork === 1);
      const held = count(this.held.get(key), blame, { laterSuspect: began < last, progressed }, now);
      if (isClear(held)) this.held.delete(key);
      else this.held.set(key, held);
    }
    for (const [key, { at }] of this.held) if (at < now - KEEP_MS) this.held.delete(key);
    this.save();
  }

  forgive(key: string): void {
    if (this.held.delete(key)) this.save();
  }

  private save(): void {
    const fresh = `${this.file}.new`;
    try {
      const fd = openSync(fresh, "w", 0o600);
      try {
        writeSync(fd, JSON.stringify({ judged: this.judged, held: Object.fromEntries(this.held) }));
        fsyncSync(fd);
      } finally {
        closeSync(fd);
      }
      renameSync(fresh, this.file);
    } catch {
      // A full disk: this life still knows, and the database says what is wrong.
    }
  }
}

/** Those that are numbers. */
function numbers<K extends string>(of: Record<K, unknown>): Partial<Record<K, number>> {
  return Object.fromEntries(Object.entries(of).filter(([, value]) => typeof value === "number")) as Partial<
    Record<K, number>
  >;
}

function read(file: string): { judged: string; held: Record<string, HeldWork> } {
  try {
    const { judged, held } = JSON.parse(readFileSync(file, "utf8")) as { judged?: unknown; held?: unknown };
    const entries = Object.entries((held ?? {}) as Record<string, Partial<HeldWork>>).flatMap(
      ([key, { strikes, deaths, at, near, spared }]): [string, HeldWork][] =>
        typeof strikes === "number" && typeof deaths === "number" && typeof at === "number"
          ? [[key, { strikes, deaths, at, ...numbers({ near, spared }) }]]
          : [],
    );
    return { judged: typeof judged === "string" ? judged : "", held: Object.fromEntries(entries) };
  } catch {
    return { judged: "", held: {} };
  }
}
