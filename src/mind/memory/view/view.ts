/**
 * The human view: USER.md, MEMORY.md and memory/YYYY-MM-DD.md of an agent's folder, in sync with the facts in both directions. An
 * item a person adds is a fact, a changed one a correction, a deleted one is forgotten. New facts are written into the files, in
 * place and within size limits.
 *
 * MEMORY-15: a person's words are never lost: an edit of a fact that has changed in the meantime waits in the pending list.
 * MEMORY-16: what will be written is durable before the file is, so that after a kill our own text is not mistaken for a
 * person's.
 * MEMORY-17: a file that is missing or empty forgets nothing; it is written again.
 */

import { type FSWatcher, watch } from "node:fs";
import { join } from "node:path";
import type { Records } from "../../../core/contracts/index.ts";
import { factSources } from "../../../core/domain/index.ts";
import { type Clock, type Crash, dayIn, type Log, stampIn } from "../../../core/kit/index.ts";
import { agentScope, SHARED, teamScope } from "../kinds.ts";
import type { Memory } from "../memory.ts";
import { type Edits, editsBetween, type KnownFact } from "./edits.ts";
import { isRealFolder, namesIn, readPlain, replacePlain } from "./files.ts";
import { clean, normaliseSaying, parseItems, patched, sameItem } from "./items.ts";
import { chosenFor, type ViewSizes } from "./select.ts";
import {
  claimByHand,
  findNote,
  inStep,
  learnedBetween,
  newestVersion,
  planned,
  readView,
  type ShownFact,
  shownFacts,
} from "./store.ts";

export interface MemoryViewParts {
  memory: Memory;
  records: Records;
  clock: Clock;
  crash: Crash;
  log: Log;
  agents: () => string[];
  findDir: (agent: string) => string;
  listTeams: (agent: string) => readonly string[];
  sizes: () => ViewSizes;
  /** The owner's zone: a day's notes are those of their day, wherever this machine stands. */
  zone: () => string;
  /** The order the last nightly pass gave an agent's facts, most important first. */
  order: (agent: string) => Promise<readonly string[]>;
}

/** Editors write in several steps, agents save several facts at once. */
const SETTLE_MS = 400;
/** Facts that Lares learned itself and looks at for the files; older ones are found by search. Lines written by hand are not counted. */
const MOST_LEARNED = 600;
/** Notes of a day; more is a log. */
const MOST_NOTES = 200;
/** What a day's notes say happened on that day, at no time anybody knows. */
const NOON_MS = 12 * 3_600_000;
/** Daily files that are read at the start. */
const RECENT_DAYS = 14;
const DAILY = /^\d{4}-\d{2}-\d{2}\.md$/;

export class MemoryView {
  private readonly parts: MemoryViewParts;
  private readonly dirty = new Set<string>();
  private readonly touched = new Map<string, Set<string>>();
  private readonly watchers = new Map<string, FSWatcher[]>();
  private order: Promise<unknown> = Promise.resolve();
  private cancel: (() => void) | undefined;
  private stopped = false;

  constructor(parts: MemoryViewParts) {
    this.parts = parts;
  }

  /** Brings every agent's files in step and watches them. */
  async start(): Promise<void> {
    for (const agent of this.parts.agents()) {
      this.touched.set(agent, new Set((await dailyFiles(this.parts.findDir(agent))).slice(-RECENT_DAYS)));
      this.watch(agent);
      await this.sync(agent).catch((error: unknown) => this.failed(agent, error));
    }
  }

  stop(): Promise<unknown> {
    this.stopped = true;
    this.cancel?.();
    for (const all of this.watchers.values()) for (const watcher of all) watcher.close();
    return this.order;
  }

  /** Facts changed: the files follow in a moment. */
  changed(): void {
    for (const agent of this.parts.agents()) this.dirty.add(agent);
    this.later();
  }

  /** Syncs the files if something has changed. Call it before reading them. */
  async fresh(agent: string): Promise<void> {
    this.watch(agent);
    if (this.dirty.has(agent)) await this.sync(agent).catch((error: unknown) => this.failed(agent, error));
    else await this.order.catch(() => {});
  }

  /** Both ways, now. */
  sync(agent: string): Promise<void> {
    const done = this.order.then(() => this.syncNow(agent));
    this.order = done.catch(() => {});
    return done;
  }

  /** Brings all files in step now. A pass must not wait for this: it would wait for itself. */
  async settle(): Promise<void> {
    this.changed();
    for (const agent of this.parts.agents())
      await this.sync(agent).catch((error: unknown) => this.failed(agent, error));
  }

  /** MEMORY.md as it stands. */
  async memoryText(agent: string): Promise<string> {
    return (await readPlain(this.parts.findDir(agent), "MEMORY.md")) ?? "";
  }

  /** Notes of the days since, oldest first. */
  async notesSince(agent: string, since: number): Promise<{ file: string; text: string }[]> {
    const dir = this.parts.findDir(agent);
    const from = this.toDay(since);
    const notes: { file: string; text: string }[] = [];
    for (const file of (await dailyFiles(dir)).filter((name) => name.slice(7, 17) >= from)) {
      const text = await readPlain(dir, file);
      if (text) notes.push({ file, text });
    }
    return notes;
  }

  /** The day the owner's calendar shows then; their notes are named by it. */
  private toDay(at: number): string {
    return stampIn(this.parts.zone(), at).date;
  }

  private async syncNow(agent: string): Promise<void> {
    if (this.stopped) return;
    this.dirty.delete(agent);
    const now = this.parts.clock.now();
    const daily = [now - 86_400_000, now].map((at) => `memory/${this.toDay(at)}.md`);
    const touched = [...(this.touched.get(agent) ?? [])];
    this.touched.delete(agent);
    for (const file of new Set(["USER.md", "MEMORY.md", ...touched, ...daily])) await this.syncFile(agent, file);
  }

  private async syncFile(agent: string, file: string): Promise<void> {
    const { records, clock, crash } = this.parts;
    const dir = this.parts.findDir(agent);
    // A file somebody is writing at this moment is left for the next time.
    for (let attempt = 0; attempt < 3; attempt++) {
      const found = await readPlain(dir, file);
      const text = found?.trim() ? found : undefined;
      const row = await readView(records, agent, file);
      const before = row?.next && row.next.text === text ? row.next : row;
      if (text !== undefined && text !== before?.text)
        await this.takeIn(agent, file, editsBetween(before?.items ?? [], parseItems(text)));
      const wanted = await this.wanted(agent, file);
      if (text === undefined && wanted.length === 0) return;
      const base = text ?? heading(file);
      const next = await this.written(file, base, { before: before?.items ?? [], wanted });
      if (next.text === text) {
        if (row?.next || row?.text !== text || JSON.stringify(row.items) !== JSON.stringify(next.items))
          await records.write((tx) => inStep(tx, { agent, file, ...next, at: clock.now() }));
        return;
      }
      await records.write((tx) => planned(tx, { agent, file, ...next, at: clock.now() }));
      crash.at("view.planned");
      if ((await readPlain(dir, file)) !== found) continue;
      await replacePlain(dir, file, next.text);
      crash.at("view.written");
      await records.write((tx) => inStep(tx, { agent, file, ...next, at: clock.now() }));
      return;
    }
    this.touched.set(agent, (this.touched.get(agent) ?? new Set()).add(file));
    this.dirty.add(agent);
    this.later();
  }

  /** Turns a person's edits into facts. */
  private async takeIn(agent: string, file: string, edits: Edits): Promise<void> {
    const { memory, records, log } = this.parts;
    const daily = /(\d{4}-\d{2}-\d{2})\.md$/.exec(file)?.[1];
    const lasting = file === "USER.md" ? "person" : "fact";
    const kind = daily ? "episode" : lasting;
    const place = { scope: agentScope(agent), agent, source: factSources.file(file), trust: "owner" as const };
    const isPast = daily !== undefined && daily !== this.toDay(this.parts.clock.now());
    const at = isPast ? { at: dayIn(this.parts.zone(), daily).from + NOON_MS } : {};
    const facts = await shownFacts(records, this.scopes(agent), MOST_LEARNED);
    const known = new Map(facts.map((fact) => [normaliseSaying(fact.text), fact.id]));
    // Memory takes them in this order; started together, thousands of lines share a few commits.
    const added = await Promise.all(
      edits.added.map(async (text) => {
        const id = known.get(normaliseSaying(text));
        return id === undefined ? memory.add({ text, kind, ...place, ...at }) : { id, state: "known" };
      }),
    );
    const learned = added.filter(({ state }) => state === "known").map(({ id }) => id);
    if (!daily && learned.length > 0) await records.write((tx) => claimByHand(tx, learned, place.source));
    for (const { id, was, text } of edits.changed) {
      const now = await newestVersion(records, id);
      if (now?.id === id) await memory.correct(id, text);
      else {
        const why = `In ${file} somebody changed "${was}"; meanwhile it was ${now ? `changed to "${now.text}"` : "forgotten"}.`;
        await memory.add({ text, kind, ...place, pending: why });
        log.warn("a memory file conflicts with the facts; its text waits for a person's decision", { agent, file });
      }
    }
    for (const { id } of edits.removed)
      if ((await newestVersion(records, id))?.id === id) await memory.forget(id, {}, "file");
  }

  private async wanted(agent: string, file: string): Promise<KnownFact[]> {
    const { records } = this.parts;
    const scopes = this.scopes(agent);
    if (!file.startsWith("memory/")) {
      const facts = await shownFacts(records, scopes, MOST_LEARNED);
      return chosenFor(file, facts, this.parts.sizes(), await this.parts.order(agent)).map(shown);
    }
    const span = { scopes, ...dayIn(this.parts.zone(), file.slice(7, 17)), limit: MOST_NOTES };
    return (await learnedBetween(records, span)).map(shown);
  }

  /** The file's text with what the facts say now, and the fact behind each item. */
  private async written(
    file: string,
    text: string,
    { before, wanted }: { before: readonly KnownFact[]; wanted: readonly KnownFact[] },
  ): Promise<{ text: string; items: KnownFact[] }> {
    const left = new UnwrittenFacts(wanted);
    const known = new Map(before.toReversed().map((one) => [normaliseSaying(one.text), one]));
    const change = new Map<number, string | null>();
    const ids = new Map<string, string>();
    const isDaily = file.startsWith("memory/");
    for (const item of parseItems(text)) {
      const saying = normaliseSaying(item.text);
      const same = left.takeBySaying(saying);
      if (same) {
        ids.set(clean(item.text), same.id);
        continue;
      }
      const was = known.get(saying);
      const now = was && (await newestVersion(this.parts.records, was.id));
      const newer = now && left.takeById(now.id);
      if (newer) {
        change.set(item.from, newer.text);
        ids.set(clean(newer.text), newer.id);
      } else if (isDaily && now && sameItem(now.text, item.text)) ids.set(clean(item.text), now.id);
      else if (isDaily && !was) ids.set(clean(item.text), (await findNote(this.parts.records, item.text)) ?? "");
      else change.set(item.from, null);
    }
    const added = left.rest();
    for (const fact of added) ids.set(clean(fact.text), fact.id);
    const next = patched(
      text,
      change,
      added.map((fact) => fact.text),
    );
    const items = parseItems(next).flatMap((item) => {
      const id = ids.get(item.text);
      return id ? [{ id, text: item.text }] : [];
    });
    return { text: next, items };
  }

  private scopes(agent: string): string[] {
    return [SHARED, agentScope(agent), ...this.parts.listTeams(agent).map(teamScope)];
  }

  private later(): void {
    if (this.stopped || this.cancel) return;
    this.cancel = this.parts.clock.after(SETTLE_MS, () => {
      this.cancel = undefined;
      for (const agent of this.dirty) this.sync(agent).catch((error: unknown) => this.failed(agent, error));
    });
  }

  private watch(agent: string): void {
    if (this.stopped) return;
    const dir = this.parts.findDir(agent);
    const own = this.watchers.get(agent) ?? [];
    const folders: [path: string, prefix: string][] = [
      [dir, ""],
      [join(dir, "memory"), "memory/"],
    ];
    for (const [path, prefix] of folders.slice(own.length)) {
      if (!isRealFolder(path)) break;
      try {
        const watcher = watch(path, { persistent: false }, (_, name) => this.noticed(agent, `${prefix}${name}`));
        watcher.on("error", () => {});
        own.push(watcher);
      } catch (error) {
        this.failed(agent, error);
        break;
      }
    }
    this.watchers.set(agent, own);
  }

  private noticed(agent: string, file: string): void {
    const isDaily = file.startsWith("memory/") && DAILY.test(file.slice(7));
    if (file === "memory") this.watch(agent);
    else if (file !== "USER.md" && file !== "MEMORY.md" && !isDaily) return;
    if (isDaily) this.touched.set(agent, (this.touched.get(agent) ?? new Set()).add(file));
    this.dirty.add(agent);
    this.later();
  }

  private failed(agent: string, error: unknown): void {
    this.parts.log.warn("the memory files couldn't be synced", { agent, reason: String(error) });
  }
}

/** The facts a file should show and that no item of it stands for yet. Each is found at once, however many there are. */
class UnwrittenFacts {
  private readonly byId: Map<string, KnownFact>;
  /** Last one first: of several that say the same, the oldest is taken first. */
  private readonly bySaying = new Map<string, KnownFact[]>();

  constructor(facts: readonly KnownFact[]) {
    this.byId = new Map(facts.map((fact) => [fact.id, fact]));
    for (const fact of facts.toReversed()) {
      const saying = normaliseSaying(fact.text);
      const same = this.bySaying.get(saying);
      if (same) same.push(fact);
      else this.bySaying.set(saying, [fact]);
    }
  }

  takeBySaying(saying: string): KnownFact | undefined {
    const same = this.bySaying.get(saying) ?? [];
    for (let fact = same.pop(); fact; fact = same.pop()) if (this.byId.delete(fact.id)) return fact;
    return undefined;
  }

  takeById(id: string): KnownFact | undefined {
    const fact = this.byId.get(id);
    this.byId.delete(id);
    return fact;
  }

  /** In order of adding. */
  rest(): KnownFact[] {
    return [...this.byId.values()];
  }
}

function shown({ id, text }: Pick<ShownFact, "id" | "text">): KnownFact {
  return { id, text: clean(text) };
}

function heading(file: string): string {
  if (file === "USER.md") return "# Who you work for\n";
  return file === "MEMORY.md" ? "# What is remembered\n" : `# ${file.slice(7, 17)}\n`;
}

async function dailyFiles(dir: string): Promise<string[]> {
  const names = await namesIn(dir, "memory");
  return names.filter((name) => DAILY.test(name)).map((name) => `memory/${name}`);
}
