/**
 * The board: what is to be done, by whom, and what proves that it was done. It is the truth; what agents say about a task is only said.
 *
 * BOARD-1: every change of a task is one transaction, fenced by what its writer saw: state, attempt and number of changes.
 * BOARD-2: a member's words carry the number of its attempt; those of an older attempt change nothing.
 * BOARD-3: dependencies have no circles: the insert that would close one is refused.
 * BOARD-4: what proves a task done is fixed when it is made, bound by its hash; nobody edits it, least of all who does the work.
 * BOARD-5: children, depth and creation rate are limited, and a refusal says which limit it was.
 */
import { createHash } from "node:crypto";
import type { Reads, Records, Tx } from "../../core/contracts/index.ts";
import {
  type Acceptance,
  AppError,
  type Assignee,
  type Authority,
  asId,
  type BoardState,
  isOpenTask,
  moveTask,
  type ReplyRoute,
  type SessionKey,
  type TaskId,
  type TaskMove,
  type TaskMover,
  type TaskVerdict,
} from "../../core/domain/index.ts";
import { type Bus, type Clock, checkSchema, type IdMaker } from "../../core/kit/index.ts";
import type { BoardConfig } from "./config.ts";
import {
  type BoardTask,
  countMadeSince,
  countTasks,
  deleteLink,
  insertComment,
  insertLink,
  insertTask,
  insertVerdict,
  listTasks,
  type MoveRow,
  moveRow,
  mustHaveRoom,
  readChildren,
  readComments,
  readDependants,
  readEvidence,
  readHandoff,
  readMoves,
  readNeeds,
  readRuns,
  readTask,
  readTaskByNumber,
  readVerdicts,
  refusalIn,
  type TaskFilter,
  updateTask,
} from "./store.ts";
import { UNBLOCK, type WaitsFor } from "./words.ts";

export interface BoardParts {
  records: Records;
  clock: Clock;
  ids: IdMaker;
  bus: Bus;
  config: () => BoardConfig;
}

export interface NewTask {
  title: string;
  description?: string;
  /** Without one a person's word is needed. */
  acceptance?: Acceptance;
  /** Another task by id or number. */
  parent?: string;
  needs?: readonly string[];
  assignee?: Assignee;
  runtime?: string;
  priority?: number;
  dollars?: number;
  tokens?: number;
  attempts?: number;
  repository?: string;
  attachments?: readonly string[];
  review?: boolean;
  team?: string;
  mission?: string;
  draft?: boolean;
  /** The same key is the same task. */
  key?: string;
}

/** Who makes or changes a task. `outside`: text from outside had a part in it. */
export interface Author {
  kind: "person" | "agent";
  name: string;
  agent?: string;
  session?: SessionKey;
  route?: ReplyRoute;
  authority: Authority;
  outside?: boolean;
}

/** Who makes a move. A member names its attempt. */
export interface TaskDoer {
  who: TaskMover;
  name: string;
  attempt?: number;
}

export type TaskEdit = Partial<
  Pick<NewTask, "title" | "description" | "runtime" | "priority" | "dollars" | "tokens" | "attempts" | "needs">
> & { assignee?: Assignee | null };

/** What a move does besides it, in the same transaction. */
export type MoveMore = Partial<Omit<MoveRow, "to" | "move" | "who" | "name" | "why" | "at">> & {
  record?: (tx: Tx) => void;
};

const RATE_MS = 300_000;
export const PRIORITIES = { low: 0, normal: 1, high: 2, urgent: 3 } as const;

export class Board {
  readonly #parts: BoardParts;
  readonly #listeners = new Set<(task: BoardTask, move: TaskMove) => void>();

  constructor(parts: BoardParts) {
    this.#parts = parts;
  }

  /** Called after each move, once it is durable. */
  onMove(listener: (task: BoardTask, move: TaskMove) => void): void {
    this.#listeners.add(listener);
  }

  async create(given: NewTask, by: Author): Promise<BoardTask> {
    const { records, clock, ids } = this.#parts;
    const id = given.key === undefined ? asId<TaskId>(ids.next("task")) : keyedId(given.key);
    const known = await readTask(records, id);
    if (known) return known;
    const config = this.#parts.config();
    const parent = given.parent === undefined ? undefined : await this.find(given.parent);
    const depth = parent ? parent.depth + 1 : 0;
    if (parent && !isOpenTask(parent.state))
      throw conflict(`Task #${parent.number} is ${parent.state}; it takes no more parts.`);
    if (depth > config.depth) {
      throw tooMany(
        `Tasks can be broken down ${config.depth} levels deep; #${parent?.number} is on the last.`,
        "board.depth",
      );
    }
    await this.#mustNotBeTooFast(by, config);
    const needs = await Promise.all((given.needs ?? []).map((one) => this.find(one)));
    const now = clock.now();
    const row = newRow({ id, given, by, parent, depth, now, attempts: given.attempts ?? config.attempts });
    await this.#write(
      (tx) => {
        if (parent) mustHaveRoom(tx, parent.id, config.children);
        insertTask(tx, row);
        for (const one of needs) insertLink(tx, id, one.id);
      },
      {
        full: `#${parent?.number} has ${config.children} open parts already, which is the limit.`,
        cycle: "A task can't need itself.",
      },
    );
    const made = (await readTask(records, id))!;
    this.#tell(made, "publish");
    return made;
  }

  /** A task by its id, its number, or `#number`. */
  async find(ref: string): Promise<BoardTask> {
    const { records } = this.#parts;
    const number = /^#?(\d{1,12})$/.exec(ref.trim())?.[1];
    const row = await (number ? readTaskByNumber(records, Number(number)) : readTask(records, ref.trim()));
    if (row) return row;
    throw new AppError("NOT_FOUND", {
      message: `There is no task "${ref.slice(0, 80)}".`,
      hint: "See: lares board list",
    });
  }

  async list(filter: TaskFilter): Promise<{ tasks: BoardTask[]; counts: Record<string, number> }> {
    const { committed } = this.#parts.records;
    const { states: _states, ...rest } = filter;
    const [tasks, counts] = await Promise.all([listTasks(committed, filter), countTasks(committed, rest)]);
    return { tasks, counts: Object.fromEntries(counts.map(({ state, n }) => [state, n])) };
  }

  /** Everything about one task. */
  async read(ref: string, db: Reads = this.#parts.records.committed) {
    const { id } = await this.find(ref);
    const task = (await readTask(db, id)) ?? (await this.find(ref));
    const [needs, dependants, children, runs, comments, moves, verdicts, evidence, handoff] = await Promise.all([
      readNeeds(db, id),
      readDependants(db, id),
      readChildren(db, id),
      readRuns(db, id),
      readComments(db, id),
      readMoves(db, id),
      readVerdicts(db, id),
      readEvidence(db, id),
      readHandoff(db, id),
    ]);
    return { task, needs, dependants, children, runs, comments, moves, verdicts, evidence, handoff };
  }

  /** Changes what isn't bound. What proves it done can't be changed: a task with another proof is another task. */
  async edit(ref: string, edit: TaskEdit, by: TaskDoer): Promise<BoardTask> {
    const task = await this.find(ref);
    this.#mustBeCurrent(task, by);
    if (!isOpenTask(task.state)) throw conflict(`Task #${task.number} is ${task.state} and can't be changed.`);
    if (by.who === "member") throw conflict("Who does a task can comment on it and hand it in, but not change it.");
    const needs = edit.needs && (await Promise.all(edit.needs.map((one) => this.find(one))));
    const before = needs && (await readNeeds(this.#parts.records, task.id));
    const assignee = edit.assignee === undefined ? readAssignee(task) : (edit.assignee ?? undefined);
    await this.#write(
      (tx) => {
        updateTask(
          tx,
          task,
          {
            title: edit.title ?? task.title,
            description: edit.description ?? task.description,
            assignee_kind: assignee?.kind ?? null,
            assignee: assignee?.name ?? null,
            runtime: edit.runtime ?? task.runtime,
            priority: edit.priority ?? task.priority,
            most_dollars: edit.dollars ?? task.most_dollars,
            most_tokens: edit.tokens ?? task.most_tokens,
            most_attempts: edit.attempts ?? task.most_attempts,
          },
          this.#parts.clock.now(),
        );
        for (const one of before ?? []) if (!needs!.some(({ id }) => id === one.id)) deleteLink(tx, task.id, one.id);
        for (const one of needs ?? []) insertLink(tx, task.id, one.id);
      },
      { cycle: "That would make the tasks wait for each other in a circle." },
    );
    const now = await this.find(task.id);
    this.#emit(now);
    return now;
  }

  async comment(ref: string, text: string, by: TaskDoer, key?: string): Promise<BoardTask> {
    const task = await this.find(ref);
    const at = this.#parts.clock.now();
    await this.#parts.records.write((tx) =>
      insertComment(tx, { task: task.id, author_kind: by.who, author: by.name, text, at, key: key ?? null }),
    );
    this.#emit(task);
    return this.find(task.id);
  }

  /** Every move but the one to done, which needs a verdict. */
  async move(
    ref: string,
    move: Exclude<TaskMove, "accept">,
    by: TaskDoer,
    why: string | null,
    more: MoveMore = {},
  ): Promise<BoardTask> {
    return this.#moveTo(await this.find(ref), move, by, why, more);
  }

  /** A person's move, with what follows from it. */
  async movePerson(
    ref: string,
    move: Exclude<TaskMove, "accept">,
    by: TaskDoer,
    why: string | null,
  ): Promise<BoardTask> {
    const task = await this.find(ref);
    return this.#moveTo(task, move, by, why, followsFrom(move, task));
  }

  /** The only way to done: a clean verdict with its evidence, stored in the same transaction (TASK-3). */
  async accept(
    ref: string,
    by: TaskDoer,
    verdict: Extract<TaskVerdict, { clean: true }>,
    more: MoveMore = {},
  ): Promise<BoardTask> {
    const task = await this.find(ref);
    const at = this.#parts.clock.now();
    return this.#moveTo(task, "accept", by, verdict.why, {
      ...more,
      holder: null,
      record: (tx) => {
        insertVerdict(tx, task, verdict, at);
        more.record?.(tx);
      },
    });
  }

  async #moveTo(task: BoardTask, move: TaskMove, by: TaskDoer, why: string | null, more: MoveMore): Promise<BoardTask> {
    const { record, ...changes } = more;
    const to = this.mustAllow(task, move, by);
    await this.#write((tx) => {
      record?.(tx);
      moveRow(tx, task, { ...changes, ...this.row(move, to, by, why) });
    });
    return this.moved(task.id, move);
  }

  /** A move as it is stored, for a caller that writes it in another transaction. */
  row(move: TaskMove, to: BoardState, by: TaskDoer, why: string | null): Omit<MoveRow, keyof MoveMore> {
    return { to, move, who: by.who, name: by.name, why, at: this.#parts.clock.now() };
  }

  /** Where a move leads; throws with the reason when it isn't legal or comes from an older attempt. */
  mustAllow(task: BoardTask, move: TaskMove, by: TaskDoer): BoardState {
    this.#mustBeCurrent(task, by);
    const found = moveTask(task.state, move, by.who);
    if ("refused" in found) throw conflict(`#${task.number}: ${found.refused}`);
    return found.to;
  }

  /** Tells everyone who follows the board. The move is durable. */
  async moved(id: TaskId, move: TaskMove): Promise<BoardTask> {
    const now = await this.find(id);
    this.#tell(now, move);
    return now;
  }

  /** A member's words count for its own attempt only (BOARD-2). */
  #mustBeCurrent(task: BoardTask, by: TaskDoer): void {
    if (by.attempt === undefined || by.attempt === task.attempt) return;
    throw conflict(
      `#${task.number} is at attempt ${task.attempt}; attempt ${by.attempt} is over, and what it says no longer counts.`,
    );
  }

  async #mustNotBeTooFast(by: Author, { rate }: BoardConfig): Promise<void> {
    if (by.kind === "person") return;
    const made = await countMadeSince(this.#parts.records, this.#parts.clock.now() - RATE_MS);
    if (made >= rate)
      throw tooMany(`Agents have added ${made} tasks in five minutes, which is the limit.`, "board.rate");
  }

  /** Writes, with a fence's refusal as a sentence. */
  async #write(change: (tx: Tx) => void, words: { full?: string; cycle?: string } = {}): Promise<void> {
    try {
      await this.#parts.records.write(change);
    } catch (error) {
      throw explainRefusal(error, words);
    }
  }

  #tell(task: BoardTask, move: TaskMove): void {
    this.#emit(task);
    for (const listener of this.#listeners) listener(task, move);
  }

  #emit({ id, number, title, state }: BoardTask): void {
    this.#parts.bus.emit({ event: "board.changed", task: id, number, title, state });
  }
}

/** A fence's refusal in words; any other error as it is. */
export function explainRefusal(error: unknown, words: { full?: string; cycle?: string } = {}): unknown {
  const why = refusalIn(error);
  if (why === "stale") return conflict("The task has changed meanwhile; look at it again.");
  if (why === "cycle") return conflict(words.cycle ?? "Tasks can't wait for each other in a circle.");
  return why === "full" ? tooMany(words.full ?? "It has too many parts.", "board.children") : error;
}

/** A task that leaves its holder has none; one that a person lets go again may be tried as often as a new one. */
function followsFrom(move: TaskMove, task: BoardTask): MoveMore {
  const isFresh = move === "unblock" || move === "settle";
  const isHeld = move === "hand_in";
  return {
    ...(isHeld ? {} : { holder: null }),
    ...(isFresh ? { spentAttempts: 0 } : {}),
    ...(move === "block" ? { waitsFor: waitsForPerson(task, UNBLOCK) } : {}),
  };
}

/** A person must act: the one that the task is for or comes from, else the owner. */
export function waitsForPerson(task: BoardTask, about: string): string {
  const assignee = task.assignee_kind === "person" ? task.assignee : null;
  const name = assignee ?? (task.made_kind === "person" ? task.made_by : "owner");
  return JSON.stringify({ who: "person", name, about } satisfies WaitsFor);
}

export function readAssignee(task: Pick<BoardTask, "assignee" | "assignee_kind">): Assignee | undefined {
  const { assignee, assignee_kind } = task;
  return assignee === null || assignee_kind === null ? undefined : { kind: assignee_kind, name: assignee };
}

/** What proves it done, as it was bound; throws when what is stored isn't what was bound (BOARD-4). */
export function boundAcceptance(task: Pick<BoardTask, "acceptance" | "acceptance_hash" | "number">): Acceptance {
  if (hash(task.acceptance) !== task.acceptance_hash) {
    throw conflict(`What proves #${task.number} done isn't what was agreed on when it was made.`);
  }
  return JSON.parse(task.acceptance) as Acceptance;
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function keyedId(key: string): TaskId {
  return asId<TaskId>(`task_${hash(key).slice(0, 26)}`);
}

function newRow(of: {
  id: TaskId;
  given: NewTask;
  by: Author;
  parent: BoardTask | undefined;
  depth: number;
  now: number;
  attempts: number;
}): Parameters<typeof insertTask>[1] {
  const { id, given, by, parent, now } = of;
  const acceptance: Acceptance = given.acceptance ?? { kind: "word" };
  if (acceptance.kind === "schema") checkSchema(acceptance.schema);
  const text = JSON.stringify(acceptance);
  return {
    id,
    title: given.title,
    description: given.description ?? "",
    acceptance: text,
    acceptance_hash: hash(text),
    parent: parent?.id ?? null,
    depth: of.depth,
    team: given.team ?? parent?.team ?? null,
    mission: given.mission ?? parent?.mission ?? null,
    assignee_kind: given.assignee?.kind ?? null,
    assignee: given.assignee?.name ?? null,
    runtime: given.runtime ?? null,
    priority: given.priority ?? PRIORITIES.normal,
    most_dollars: given.dollars ?? null,
    most_tokens: given.tokens ?? null,
    repository: given.repository ?? parent?.repository ?? null,
    attachments: JSON.stringify(given.attachments ?? []),
    review: given.review ? 1 : 0,
    state: given.draft ? "draft" : "ready",
    why: null,
    waits_for: null,
    most_attempts: of.attempts,
    not_before: 0,
    clock_at: null,
    made_by: by.name,
    made_kind: by.kind,
    made_session: by.session ?? null,
    made_agent: by.agent ?? null,
    route: by.route ? JSON.stringify(by.route) : null,
    authority: by.authority,
    outside: by.outside ? 1 : 0,
    made_at: now,
    updated_at: now,
    state_at: now,
  };
}

function conflict(message: string): AppError {
  return new AppError("CONFLICT", { message });
}

function tooMany(message: string, key: string): AppError {
  return new AppError("TOO_MANY", { message, hint: `Finish some first, or raise ${key}.`, retry: "later" });
}
