/**
 * Calls that became tasks: the server works on them for minutes or days, and the turn is parked meanwhile (I8). Somebody has to ask how far
 * they are, and that is done here, from rows, so that a restart goes on asking.
 *
 * MCP-26: a task is stored before its turn waits for it, and asked about until it ends, its time is over or it is no longer wanted.
 *     Its end is stored before the turn is woken.
 * MCP-27: a server that loses a task, never ends it or talks nonsense about it costs a bounded number of small requests. The outcome
 *     of the call is then unknown, the model and the person learn it, and the call isn't sent again (MCP-8).
 */
import type { Records, ToolPlace, Tx } from "../../../../core/contracts/index.ts";
import {
  asId,
  assertNever,
  isOver,
  type JsonObject,
  resumeIds,
  type SessionKey,
  type TurnId,
  waitNames,
} from "../../../../core/domain/index.ts";
import { type Clock, type Crash, type Log, visibleLine, withoutHidden } from "../../../../core/kit/index.ts";
import { type Collected, startCollecting } from "../call/collect.ts";
import { readAnswer } from "../call/result.ts";
import * as store from "./store.ts";
import { type CreatedTask, cancelTask, lookAtTask, type TaskLine, type TaskNow, updateTask } from "./wire.ts";

export interface TaskParts {
  records: Records;
  clock: Clock;
  crash: Crash;
  log: Log;
  /** Takes known secrets out of what is stored. */
  redact(text: string): string;
  /** Wakes a turn that waits. */
  wake(turn: TurnId, event: { id: string; name: string }): Promise<"taken" | "late" | "unknown">;
  /** Shows people how far a call is, live and nowhere else. */
  progress(of: { session: SessionKey; turn: TurnId; id: string; name: string; text: string }): void;
  /** Undefined when the server is gone. */
  definition(server: string): string | undefined;
  /** Connects to the server where needed. Throws when it can't be reached. */
  line<T>(server: string, work: (line: TaskLine) => Promise<T>): Promise<T>;
}

/** The outcome of a task, as it is stored. */
export type TaskEnd =
  | { kind: "answered"; text: string; isError: boolean }
  | { kind: "refused"; why: string }
  /** Nobody knows, and why. */
  | { kind: "lost"; why: LostBecause }
  | { kind: "asks"; collected: Collected };

export type LostBecause = "forgotten" | "nonsense" | "late" | "changed";

/** Tasks of one server that are followed at once. */
const MOST_OPEN = 50;
const MOST_TEXT = 1_000_000;
const MOST_WHY = 4000;
const MOST_SAID = 160;
/** Between two looks: not so often that it costs, not so rarely that nobody notices the end. */
const LOOK_MS = { least: 500, usual: 2000, most: 60_000 };
/** After so much nonsense in a row the server has lost the task. */
const MOST_NONSENSE = 5;
/** Questions of one task. */
const MOST_ROUNDS = 10;
/** The specification's word for a task that the server doesn't know. */
const INVALID_PARAMS = -32602;

interface FollowedTask {
  cancel: () => void;
  /** What was shown last: the same words again are no news. */
  said: string;
  pollMs: number;
  nonsense: number;
}

export class McpTasks {
  readonly #parts: TaskParts;
  readonly #watched = new Map<string, FollowedTask>();
  readonly #servers = new Map<string, string>();
  #isStopped = false;

  constructor(parts: TaskParts) {
    this.#parts = parts;
  }

  /** Takes up what an earlier life left. Connects to nobody yet. */
  async settle(): Promise<void> {
    for (const row of await store.openTasks(this.#parts.records)) this.#watch(row, LOOK_MS.least);
  }

  stop(): void {
    this.#isStopped = true;
    for (const { cancel } of this.#watched.values()) cancel();
    this.#watched.clear();
    this.#servers.clear();
  }

  /** A program that works on a task isn't idle. */
  isWorking(server: string): boolean {
    return [...this.#servers.values()].includes(server);
  }

  /** The call became a task. Returns what its turn waits for, or nothing when there are too many. */
  async follow(given: {
    key: string;
    server: string;
    tool: string;
    task: CreatedTask;
    definition: string;
    place: Pick<ToolPlace, "caller" | "call">;
    mostMs: number;
  }): Promise<{ on: string; deadline: number } | undefined> {
    const { records, clock, crash } = this.#parts;
    const { key, server, tool, task, definition, place } = given;
    crash.at("task.made", () => tool);
    if ([...this.#servers.values()].filter((one) => one === server).length >= MOST_OPEN) {
      await this.#cancel({ server, task: task.id, definition });
      return undefined;
    }
    const { session, turn } = place.caller;
    const row: store.TaskRow = {
      key,
      server,
      tool,
      definition,
      session,
      turn,
      task: task.id,
      call: place.call?.id ?? null,
      name: place.call?.name ?? null,
      wait: waitNames.own(key),
      round: 0,
      answered: "[]",
      state: "open",
      outcome: null,
      at: clock.now(),
      until: clock.now() + given.mostMs,
    };
    await records.write((tx) => store.insertTask(tx, row));
    crash.at("task.noted", () => tool);
    this.#watch(row, clampPoll(task.pollMs), task.said);
    return { on: row.wait, deadline: row.until };
  }

  /** After a crash: the call became a task, and this is what its turn waits for. */
  async found(key: string): Promise<{ on: string; deadline: number } | undefined> {
    const row = await store.readTask(this.#parts.records, key);
    return row && row.state !== "dropped" ? { on: row.wait, deadline: row.until } : undefined;
  }

  /** The outcome. When its time is over, it is cancelled. `record` belongs into the transaction that keeps the answer. */
  async end(turn: string, on: string): Promise<{ key: string; end: TaskEnd; record: (tx: Tx) => void } | undefined> {
    const row = await store.findWaiting(this.#parts.records, turn, on);
    if (!row) return undefined;
    const { key } = row;
    const end: TaskEnd = row.outcome === null ? { kind: "lost", why: "late" } : (JSON.parse(row.outcome) as TaskEnd);
    if (row.outcome === null) {
      this.#unwatch(key);
      void this.#cancel(row);
    }
    const record = (tx: Tx) =>
      store.setTask(tx, key, { state: end.kind === "asks" ? "asks" : "done", outcome: row.outcome });
    return { key, end, record };
  }

  /** Passes on what a person said; the turn waits on. Throws when the server can't be reached or refuses. */
  async answer(key: string, responses: JsonObject): Promise<{ on: string; deadline: number } | undefined> {
    const { records } = this.#parts;
    const row = await store.readTask(records, key);
    if (row?.state !== "asks" || this.#parts.definition(row.server) !== row.definition) return undefined;
    await this.#parts.line(row.server, (line) => updateTask(line, row.task, responses));
    const round = row.round + 1;
    const answered = JSON.stringify([...readAnswered(row), ...Object.keys(responses)]);
    const next: store.TaskRow = {
      ...row,
      wait: waitNames.own(key, round),
      round,
      answered,
      state: "open",
      outcome: null,
    };
    await records.write((tx) => store.waitAgain(tx, next));
    this.#watch(next, LOOK_MS.least);
    return { on: next.wait, deadline: row.until };
  }

  /** Nobody answers its question: it is given up. */
  async giveUp(key: string): Promise<void> {
    const row = await store.readTask(this.#parts.records, key);
    if (!row) return;
    await this.#parts.records.write((tx) => store.setTask(tx, key, { state: "done" }));
    await this.#cancel(row);
  }

  /** The turn was stopped: the server need not go on. */
  async drop(turn: string): Promise<void> {
    const { records } = this.#parts;
    for (const row of await store.tasksIn(records, turn)) {
      await records.write((tx) => store.setTask(tx, row.key, { state: "dropped" }));
      this.#unwatch(row.key);
      void this.#cancel(row);
    }
  }

  #watch(row: store.TaskRow, firstMs: number, said = ""): void {
    this.#unwatch(row.key);
    if (this.#isStopped) return;
    const watch: FollowedTask = { cancel: () => {}, said: "", pollMs: firstMs, nonsense: 0 };
    this.#watched.set(row.key, watch);
    this.#servers.set(row.key, row.server);
    this.#show(row, watch, said);
    this.#plan(row.key, watch);
  }

  #unwatch(key: string): void {
    this.#watched.get(key)?.cancel();
    this.#watched.delete(key);
    this.#servers.delete(key);
  }

  #plan(key: string, watch: FollowedTask): void {
    if (this.#isStopped || this.#watched.get(key) !== watch) return;
    watch.cancel = this.#parts.clock.after(watch.pollMs, () => {
      this.#look(key, watch).catch((error: unknown) => {
        if (isOver(error)) return;
        this.#parts.log.debug("a server couldn't be asked about a task", { key, error: String(error) });
        watch.pollMs = Math.min(watch.pollMs * 2, LOOK_MS.most);
        this.#plan(key, watch);
      });
    });
  }

  async #look(key: string, watch: FollowedTask): Promise<void> {
    const row = await store.readTask(this.#parts.records, key);
    if (!row || row.state === "done" || row.state === "dropped") return this.#unwatch(key);
    // Its end is stored; only its turn hasn't heard.
    if (row.state !== "open") return this.#wake(row);
    // The turn's own deadline tells it.
    if (this.#parts.clock.now() > row.until) return this.#unwatch(key);
    const { server, task } = row;
    const isSame = this.#parts.definition(server) === row.definition;
    const now = isSame ? await this.#parts.line(server, (line) => lookAtTask(line, task)).catch(forgotten) : "changed";
    const end = typeof now === "string" ? ({ kind: "lost", why: now } as const) : this.#read(row, now);
    if (end?.kind === "lost") {
      // An editor may bring its server again in a moment, and a server may be in the middle of a restart.
      if (++watch.nonsense < MOST_NONSENSE) return this.#plan(key, watch);
    } else watch.nonsense = 0;
    if (end) return this.#ended(row, end);
    if (typeof now === "object" && now.kind === "working") {
      watch.pollMs = clampPoll(now.pollMs);
      this.#show(row, watch, now.said ?? "");
    }
    this.#plan(key, watch);
  }

  async #ended(row: store.TaskRow, end: TaskEnd): Promise<void> {
    const { records, crash } = this.#parts;
    const outcome = JSON.stringify(end);
    const state = end.kind === "asks" ? "asks" : "ended";
    await records.write((tx) => store.setTask(tx, row.key, { state, outcome }));
    crash.at("task.ended", () => row.tool);
    await this.#wake({ ...row, state, outcome });
    if (end.kind === "lost" && end.why === "nonsense") await this.#cancel(row);
  }

  async #wake({ key, turn, wait }: store.TaskRow): Promise<void> {
    this.#unwatch(key);
    const heard = await this.#parts.wake(asId<TurnId>(turn), { id: resumeIds.events(wait), name: wait });
    // Its turn has ended otherwise.
    if (heard !== "taken") await this.#parts.records.write((tx) => store.setTask(tx, key, { state: "dropped" }));
  }

  /** Undefined: it goes on. */
  #read(row: store.TaskRow, now: TaskNow): TaskEnd | undefined {
    const { redact } = this.#parts;
    switch (now.kind) {
      case "working":
        return undefined;
      case "nonsense":
        return { kind: "lost", why: "nonsense" };
      case "completed": {
        const { whole, isError = false } = readAnswer(row.server, now.answer);
        return { kind: "answered", text: redact(whole.slice(0, MOST_TEXT)), isError };
      }
      case "asks": {
        const collected = row.round < MOST_ROUNDS ? startCollecting({ requests: now.requests }) : undefined;
        if (!collected) return { kind: "lost", why: "nonsense" };
        const answered = readAnswered(row);
        const requests = collected.requests.filter(({ key }) => !answered.includes(key));
        // It hasn't noticed the answers yet.
        return requests.length === 0 ? undefined : { kind: "asks", collected: { ...collected, requests } };
      }
      case "failed":
        return { kind: "refused", why: redact(readWhy(now.why)) };
      case "cancelled":
        return { kind: "refused", why: redact(`the server cancelled it. ${readWhy(now.why)}`.trim()) };
      default:
        return assertNever(now);
    }
  }

  #show({ session, turn, call: id, name }: store.TaskRow, watch: FollowedTask, said: string): void {
    const text = visibleLine(withoutHidden(said.slice(0, 4 * MOST_SAID)).trim()).slice(0, MOST_SAID);
    if (text === "" || text === watch.said || id === null || name === null) return;
    watch.said = text;
    const at = { session: asId<SessionKey>(session), turn: asId<TurnId>(turn) };
    this.#parts.progress({ ...at, id, name, text: this.#parts.redact(text) });
  }

  /** Best effort: one that can't be reached works for nothing, which is its own to end. */
  async #cancel({ server, task, definition }: Pick<store.TaskRow, "server" | "task" | "definition">): Promise<void> {
    if (this.#parts.definition(server) !== definition) return;
    await this.#parts
      .line(server, (line) => cancelTask(line, task))
      .catch((error: unknown) =>
        this.#parts.log.debug("a task couldn't be cancelled", { server, error: String(error) }),
      );
  }
}

function readAnswered({ answered }: store.TaskRow): string[] {
  return JSON.parse(answered) as string[];
}

function readWhy(why: string): string {
  return withoutHidden(why.slice(0, MOST_WHY));
}

function clampPoll(pollMs: number | undefined): number {
  return Math.min(Math.max(pollMs ?? LOOK_MS.usual, LOOK_MS.least), LOOK_MS.most);
}

function forgotten(error: unknown): "forgotten" {
  if ((error as { code?: unknown }).code === INVALID_PARAMS) return "forgotten";
  throw error;
}
