/**
 * Sessions as people handle them: list, reset, delete, move to another home. Each change is one transaction: a process
 * that dies in the middle leaves the session as it was.
 */
import { CANCEL, type EngineEvent, type HookLog, type Records, type Tx } from "../../core/contracts/index.ts";
import {
  AppError,
  asId,
  copiedTurn,
  type HistoryEntry,
  messageIds,
  type PolicyMode,
  readSessionPlace,
  resumeIds,
  type SessionKey,
  type TurnId,
  type TurnState,
} from "../../core/domain/index.ts";
import type { Bus, Clock, Crash } from "../../core/kit/index.ts";
import { countAll, truthy } from "../../core/kit/index.ts";
import {
  briefSince,
  countMessages,
  countSummaries,
  deleteSession,
  findMode,
  forgetPrompt,
  idleSince,
  insertSession,
  type ListedSessions,
  listSummaries,
  openTurns,
  readMessages,
  readSummary,
  renameSession,
  resetSession,
  type SessionRow,
  setMode,
} from "./store.ts";

export interface SessionParts {
  records: Records;
  clock: Clock;
  crash: Crash;
  bus: Bus;
  hooks: HookLog;
  resume: (turn: TurnId, event: EngineEvent) => Promise<"taken" | "late" | "unknown">;
  running: (session: SessionKey) => TurnId | undefined;
  /** The model's view of the session is rebuilt. */
  forget: (session: SessionKey) => void;
  /** The engine's journal of the session's ended turns is erased. */
  erase: (session: SessionKey) => Promise<void>;
  /** What else begins again when a conversation is reset, written in the same transaction. */
  resetters: readonly ((tx: Tx, session: SessionKey) => void)[];
  /** What each room keeps of a session, erased by the room itself in the transaction that deletes the session. */
  erasers: readonly ((tx: Tx, session: SessionKey, how: { keepUsage?: boolean }) => void)[];
  /** What people attached in the session, as files. Their rows go with the session's other records. */
  files: { of(session: SessionKey): Promise<string[]>; remove(ids: readonly string[]): Promise<void> };
  /** Adds a line from outside to a session's history. Idempotent per id. */
  addImported: (tx: Tx, entry: HistoryEntry) => void;
  /** Resolves when the turn has ended, or after a bound. */
  ended: (turn: TurnId) => Promise<void>;
}

export interface SessionSummary {
  session: SessionKey;
  agent: string;
  person?: string;
  /** Where it is held: a channel, `web`, or a name such as `main`. */
  place?: string;
  title: string;
  messages: number;
  createdAt: number;
  updatedAt: number;
  running?: TurnId;
  /** How its newest turn ended, or that it waits. */
  last?: { turn: string; state: TurnState; failure?: string; reason?: string };
}

const NOT_THERE = (key: string) =>
  new AppError("NOT_FOUND", { message: `There is no session "${key}".`, hint: "See them: lares sessions list" });

export class Sessions {
  private readonly parts: SessionParts;

  constructor(parts: SessionParts) {
    this.parts = parts;
  }

  async list(q: ListedSessions & { limit: number }): Promise<SessionSummary[]> {
    return (await listSummaries(this.parts.records.committed, q)).map((row) => this.summary(row));
  }

  /** The list, and how many there are without its limit. */
  async page(q: ListedSessions & { limit: number }): Promise<{ sessions: SessionSummary[]; total: number }> {
    const sessions = await this.list(q);
    const total = await countAll(sessions, q.limit, () => countSummaries(this.parts.records.committed, q));
    return { sessions, total };
  }

  async get(key: string): Promise<SessionSummary> {
    const row = await readSummary(this.parts.records.committed, key);
    if (!row) throw NOT_THERE(key);
    return this.summary(row);
  }

  async history(q: {
    session: string;
    before?: number;
    limit: number;
  }): Promise<{ messages: HistoryEntry[]; more: boolean }> {
    const messages = await readMessages(this.parts.records.committed, { ...q, limit: q.limit + 1 });
    const more = messages.length > q.limit;
    return { messages: more ? messages.slice(1) : messages, more };
  }

  async export(key: string): Promise<HistoryEntry[]> {
    await this.get(key);
    return readMessages(this.parts.records.committed, { session: key, limit: Number.MAX_SAFE_INTEGER });
  }

  async reset(key: SessionKey): Promise<void> {
    await this.get(key);
    await this.stop(key);
    await this.parts.records.write((tx) => {
      const now = this.parts.clock.now();
      resetSession(tx, key, now);
      for (const also of this.parts.resetters) also(tx, key);
      this.parts.hooks.record(tx, "session.closed", `${key}/${now}`, () => ({ session: key, how: "reset" }));
    });
    this.parts.forget(key);
    this.parts.bus.emit({ event: "session.changed", session: key, what: "reset" });
  }

  /** The prompt is made again from the agent's files at the next turn; what was said stays in the model's view. */
  async reload(key: SessionKey): Promise<void> {
    await this.get(key);
    await this.parts.records.write((tx) => forgetPrompt(tx, key));
    this.parts.forget(key);
  }

  async rename(key: SessionKey, title: string): Promise<void> {
    await this.get(key);
    await this.parts.records.write((tx) => renameSession(tx, key, title));
    this.parts.bus.emit({ event: "session.changed", session: key, what: "updated" });
  }

  /** Begins a conversation before anything is said in it. Idempotent. */
  async begin(key: SessionKey, by: { agent: string; person: string }): Promise<void> {
    const at = this.parts.clock.now();
    await this.parts.records.write((tx) => insertSession(tx, { key, ...by, at }));
  }

  mode(key: string): Promise<PolicyMode | undefined> {
    return findMode(this.parts.records, key);
  }

  async setMode(key: SessionKey, mode: PolicyMode | null): Promise<void> {
    await this.parts.records.write((tx) => setMode(tx, key, mode));
    this.parts.bus.emit({ event: "session.changed", session: key, what: "updated" });
  }

  /** `keepUsage`: what it cost stays in the sums. */
  async delete(key: SessionKey, how: { keepUsage?: boolean } = {}): Promise<number> {
    await this.get(key);
    await this.stop(key);
    const messages = await countMessages(this.parts.records, key);
    const files = await this.parts.files.of(key);
    const deleted = this.parts.records.write((tx) => {
      for (const erase of this.parts.erasers) erase(tx, key, how);
      deleteSession(tx, key);
      const at = this.parts.clock.now();
      this.parts.hooks.record(tx, "session.closed", `${key}/${at}`, () => ({ session: key, how: "deleted" }));
    });
    await Promise.all([deleted, this.parts.erase(key)]);
    await this.parts.files.remove(files);
    this.parts.forget(key);
    this.parts.bus.emit({ event: "session.changed", session: key, what: "deleted" });
    return messages;
  }

  /**
   * All or nothing. A message whose id is already there is skipped, so importing twice changes nothing. No matter who wrote the
   * lines, they are text from outside (I12); what they say about people and turns is not believed in a session of another name.
   */
  async import(
    into: { session: SessionKey; agent: string },
    lines: HistoryEntry[],
  ): Promise<{ imported: number; skipped: number }> {
    const { records, clock, crash } = this.parts;
    const before = await countMessages(records, into.session);
    const same = into.session === lines[0]?.session;
    await records.write((tx) => {
      const person = same ? (lines[0]?.person ?? null) : null;
      insertSession(tx, { key: into.session, agent: into.agent, person, at: clock.now() });
      for (const line of lines) {
        // Under another key the same ids would collide with the original's.
        const id = same ? line.id : messageIds.copied(into.session, line.id);
        const turn = same ? line.turn : copiedTurn(line.turn);
        this.parts.addImported(tx, { ...line, id, turn, session: into.session });
        crash.at("import.row");
      }
    });
    this.parts.forget(into.session);
    this.parts.bus.emit({ event: "session.changed", session: into.session, what: "imported" });
    const imported = (await countMessages(records, into.session)) - before;
    return { imported, skipped: lines.length - imported };
  }

  /** Sessions nobody used for so long and that wait for nothing. */
  async prune(olderThanMs: number, dryRun: boolean): Promise<SessionKey[]> {
    const old = await idleSince(this.parts.records, this.parts.clock.now() - olderThanMs);
    if (!dryRun) for (const key of old) await this.delete(key);
    return old;
  }

  /** Deletes sessions nobody used for so many days; 0 keeps them. */
  async retire(days: number): Promise<void> {
    if (days > 0) await this.prune(days * 86_400_000, false);
  }

  /** Deletes conversations of single calls so long after their last use; 0 keeps them. What they cost stays in the sums. */
  async sweep(hours: number): Promise<void> {
    if (hours <= 0) return;
    const { records, clock } = this.parts;
    for (;;) {
      const old = await briefSince(records, clock.now() - hours * 3_600_000);
      if (old.length === 0) return;
      for (const key of old) await this.delete(key, { keepUsage: true });
    }
  }

  /** Ends what runs or waits in the session, each with its visible outcome. */
  private async stop(key: SessionKey): Promise<void> {
    const open = await openTurns(this.parts.records, key);
    for (const { id } of open) {
      await this.parts.resume(id, { id: resumeIds.closed(id), name: CANCEL, value: { why: "the session was closed" } });
    }
    await Promise.all(open.map(({ id }) => this.parts.ended(id)));
  }

  private summary(row: SessionRow): SessionSummary {
    const running = this.parts.running(row.key);
    return {
      session: asId(row.key),
      agent: row.agent,
      title: row.title ?? titleFrom(row.first) ?? row.key,
      messages: row.messages,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
      ...truthy({ person: row.person, place: readSessionPlace(row.key), running }),
      ...(row.last ? { last: lastTurn(row.last, running) } : {}),
    };
  }
}

function lastTurn(text: string, running: TurnId | undefined): NonNullable<SessionSummary["last"]> {
  const { turn, state, failure, reason } = JSON.parse(text) as {
    turn: string;
    state: TurnState;
    failure: string | null;
    reason: string | null;
  };
  return {
    turn,
    state: running === turn ? "running" : state,
    ...truthy({ failure, reason }),
  };
}

function titleFrom(first: string | null): string | undefined {
  if (!first) return undefined;
  const parts = JSON.parse(first) as { text?: string; name?: string; file?: { name: string }; ours?: true }[];
  // A message without words is called after what came with it.
  const named = parts.find((part) => !part.ours && (part.text || part.name));
  const text = named?.file?.name ?? named?.text ?? named?.name;
  const line = text?.trim().split("\n")[0];
  return line && (line.length > 60 ? `${line.slice(0, 59)}…` : line);
}
