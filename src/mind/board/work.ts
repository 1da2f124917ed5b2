/**
 * Who works on the board: claims ready tasks for members, follows their turns to the end, and has what they hand in checked. Everything it
 * knows is in the records: after a crash it looks at each task that is under way and goes on from there.
 *
 * WORK-1: a claim and the turn that works for it are one transaction: a task has one owner or none, wherever Lares is killed.
 * WORK-2: a task goes on by what the records say about its turn; looking twice does nothing twice.
 * WORK-3: an attempt that may have changed something in the world, nobody knows, makes its task unknown.
 * WORK-4: a failed attempt is tried again by its cause, a bounded number of times, and not when it ended just as the one before.
 * WORK-5: what waits for a person is named, and brought up again as long as nobody acts.
 * WORK-6: the one that asked for a task hears of its end once, durable before it is sent.
 */
import { createHash } from "node:crypto";
import type { Records, Tx } from "../../core/contracts/index.ts";
import {
  type AgentId,
  AppError,
  type Authority,
  asId,
  eventKeys,
  type Handoff,
  type InboundMessage,
  idempotencyKeys,
  isOver,
  isTaskSession,
  type ReplyRoute,
  type SessionKey,
  sessionKeys,
  sourceKeys,
  type TaskId,
  type TaskMove,
  type TurnId,
  type TurnResult,
} from "../../core/domain/index.ts";
import { type Clock, type Crash, defined, type Log } from "../../core/kit/index.ts";
import { type Board, boundAcceptance, explainRefusal, readAssignee, waitsForPerson } from "./board.ts";
import { type CheckPorts, Checks } from "./checks.ts";
import type { BoardConfig } from "./config.ts";
import { type Assignment, assign, type TaskMember } from "./dispatch.ts";
import { readEnd, waitAfter } from "./failure.ts";
import {
  type AttemptRow,
  addSpent,
  type BoardTask,
  busyAgents,
  endRun,
  heldTasks,
  insertRun,
  markEscalated,
  markTold,
  moveRow,
  nextMoment,
  overdueTasks,
  putHandoff,
  readDependants,
  readHandoff,
  readNeedResults,
  readReady,
  readRun,
  readTask,
  readVerdicts,
  runOfTurn,
  setResult,
  spentOn,
  untoldTasks,
} from "./store.ts";
import * as words from "./words.ts";

export interface WorkParts extends CheckPorts {
  board: Board;
  records: Records;
  clock: Clock;
  crash: Crash;
  log: Log;
  config: () => BoardConfig;
  /** Who takes tasks. */
  members: () => readonly TaskMember[];
  /** Takes what is for nobody in particular. */
  defaultAgent: () => string;
  /** `record` is written in the transaction that admits it. */
  admit: (message: InboundMessage, record: (tx: Tx, turn: TurnId) => void) => Promise<{ turn: TurnId }>;
  stop: (turn: TurnId, why: string) => Promise<void>;
  result: (turn: TurnId) => Promise<TurnResult | undefined>;
  standing: (turn: TurnId) => Promise<{ open: boolean; parked: boolean } | undefined>;
  /** Whether something this turn did to the world has an unknown outcome. */
  hasUnknown: (turn: TurnId) => Promise<boolean>;
  /** Throws for a runtime that nobody knows. */
  runtime: (name: string, agent: string) => unknown;
  /** Tells the one that asked. Durable when it resolves, once for each key; `record` is written with it. */
  tell: (told: TaskReport, record: (tx: Tx) => void) => Promise<unknown>;
  authorityIn: (session: SessionKey) => Promise<Authority>;
}

export interface TaskReport {
  key: string;
  task: TaskId;
  session: SessionKey;
  agent: AgentId;
  route: ReplyRoute;
  label: string;
  body: string;
  authority: Authority;
  outside: boolean;
}

const LARES = { who: "lares", name: words.DISPATCHER } as const;
/** As many as are looked at in one decision; the next one follows when something changes. */
const MOST_READY = 500;
const MOST_RESULT = 16_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export class BoardWork {
  readonly #parts: WorkParts;
  readonly #checks: Checks;
  /** One at a time for each task: what is decided about it is decided on what the last one wrote. */
  readonly #lanes = new Map<string, Promise<void>>();
  #dispatching: Promise<void> | undefined;
  #again = false;
  #isOpen = false;
  #timer: (() => void) | undefined;

  constructor(parts: WorkParts) {
    this.#parts = parts;
    this.#checks = new Checks(parts, {
      finish: (...given) => this.#finish(...given),
      fail: (...given) => this.#fail(...given),
    });
    parts.board.onMove((task, move) => this.#moved(task, move));
  }

  /** After a start: goes on with what was under way, tells what wasn't told, and takes up what is ready. */
  async settle(): Promise<void> {
    this.#isOpen = true;
    for (const task of await heldTasks(this.#parts.records)) await this.#advance(task.id);
    for (const task of await untoldTasks(this.#parts.records)) await this.#tell(task);
    await this.dispatch();
  }

  stop(): void {
    this.#isOpen = false;
    this.#timer?.();
  }

  /** A segment of a turn begins: its task is at work. */
  async starts(turn: TurnId, session: SessionKey): Promise<void> {
    if (!isTaskSession(session)) return;
    await this.#in(turn, async (task, run) => {
      if (run.check_turn === turn || run.review_turn === turn) {
        if (task.state === "waiting") await this.#move(task, "recheck", null);
      } else if (task.state === "claimed") await this.#move(task, "start", null);
      else if (task.state === "waiting") await this.#move(task, "resume", null);
    });
  }

  /** A turn waits for a person: so does its task. */
  async parked(turn: TurnId, session: SessionKey): Promise<void> {
    if (!isTaskSession(session)) return;
    await this.#in(turn, async (task) => {
      if (!["claimed", "running", "verifying"].includes(task.state)) return;
      // It may have gone on meanwhile.
      if (!(await this.#parts.standing(turn))?.parked) return;
      await this.#wait(task, "park", words.ANSWER_QUESTION);
    });
  }

  async ended(turn: TurnId, session: SessionKey): Promise<void> {
    if (!isTaskSession(session)) return;
    const run = await runOfTurn(this.#parts.records, turn);
    if (run) await this.#advance(run.task);
  }

  /** What a member hands in by a tool: it counts when its turn ends. */
  async handIn(turn: TurnId, result: string, handoff: Handoff): Promise<void> {
    const { records, clock } = this.#parts;
    const run = await runOfTurn(records, turn);
    const task = run && (await readTask(records, run.task));
    if (!run || !task || run.turn !== turn || task.attempt !== run.attempt || task.turn !== turn) {
      throw new AppError("TOOL_INPUT", {
        message: "Nothing to hand in: this turn isn't work on a task.",
        hint: "Only who was given a task can hand it in, in the turn that works on it.",
      });
    }
    await records.write((tx) => {
      setResult(tx, { task: task.id, attempt: task.attempt, result: result.slice(0, MOST_RESULT), print: null });
      putHandoff(tx, task.id, task.attempt, handoff, clock.now());
    });
  }

  /** Gives ready tasks to free members. One decision at a time; asked again meanwhile, it decides once more. */
  async dispatch(): Promise<void> {
    if (!this.#isOpen) return;
    if (this.#dispatching) {
      this.#again = true;
      return this.#dispatching;
    }
    this.#dispatching = this.#dispatchOnce().finally(() => {
      this.#dispatching = undefined;
      if (!this.#again) return;
      this.#again = false;
      this.#aside(this.dispatch());
    });
    return this.#dispatching;
  }

  async #dispatchOnce(): Promise<void> {
    const { records, clock, config } = this.#parts;
    const now = clock.now();
    const rows = await readReady(records, now, MOST_READY);
    if (rows.length > 0) {
      const tasks = new Map(rows.map((row) => [row.id as string, row]));
      const ready = rows.map((row) => {
        return {
          id: row.id,
          priority: row.priority,
          number: row.number,
          ...defined({ assignee: readAssignee(row), team: row.team ?? undefined }),
        };
      });
      const { atOnce, perMember } = config();
      const limits = { atOnce, perMember, anybody: this.#parts.defaultAgent() };
      const busy = new Map((await busyAgents(records)).map(({ agent, n }) => [agent, n]));
      for (const one of assign(ready, this.#parts.members(), busy, limits)) {
        if (!this.#isOpen) return;
        await this.#give(tasks.get(one.task)!, one).catch((error: unknown) => this.#note(error));
      }
    }
    await this.#arm();
  }

  /** Wakes when a task may be tried again or somebody has waited too long. */
  async #arm(): Promise<void> {
    this.#timer?.();
    this.#timer = undefined;
    const at = await nextMoment(this.#parts.records);
    if (at === undefined || !this.#isOpen) return;
    const wait = Math.min(Math.max(at - this.#parts.clock.now(), 10), DAY_MS);
    this.#timer = this.#parts.clock.after(wait, () => this.#aside(this.#escalate().then(() => this.dispatch())));
  }

  async #give(task: BoardTask, to: Assignment): Promise<void> {
    if ("person" in to) return this.#ask(task, to.person);
    if ("nobody" in to) return void (await this.#block(task, to.nobody));
    const over = overBudget(task, await spentOn(this.#parts.records, task.id));
    if (over) return void (await this.#block(task, words.budgetUsed(over)));
    try {
      if (task.runtime !== null) this.#parts.runtime(task.runtime, to.agent);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return void (await this.#block(task, error.message));
    }
    await this.#claim(task, to.agent);
  }

  /** A person has it now: an attempt like any other, so that what they hand in is checked, and checked again after the next try. */
  async #ask(task: BoardTask, person: string): Promise<void> {
    const attempt = task.attempt + 1;
    const { clock, defaultAgent } = this.#parts;
    await this.#parts.board.move(task.id, "ask", LARES, null, {
      attempt,
      waitsFor: waitsForPerson(task, words.DO_IT),
      clockAt: this.#clockAt(0),
      record: (tx) =>
        insertRun(tx, {
          task: task.id,
          attempt,
          member: person,
          at: clock.now(),
          // Files and commands that prove it are looked for in this agent's workspace.
          agent: defaultAgent(),
          runtime: null,
          session: null,
          turn: null,
          place: null,
        }),
    });
  }

  /** The claim, its turn and its run: all of it, or nothing (WORK-1). */
  async #claim(task: BoardTask, agent: string): Promise<void> {
    const { board, records, clock, crash } = this.#parts;
    const attempt = task.attempt + 1;
    const session = sessionKeys.attempt(task.id, attempt);
    const to = board.mustAllow(task, "claim", LARES);
    const text = await this.#describe(task);
    try {
      await this.#parts.admit(
        {
          route: { channel: "none", account: words.DISPATCHER, chat: task.id },
          sender: { id: sourceKeys.task(task.id) },
          idempotencyKey: idempotencyKeys.attempt(task.id, attempt),
          text,
          about: {
            label: { kind: "board", text: words.claimLabel(task.number, attempt, task.most_attempts), of: task.id },
          },
          agent: asId<AgentId>(agent),
          session,
          lane: "background",
          mode: "followup",
          origin: "event",
          authority: task.authority,
          ...(task.outside ? { outside: true } : {}),
        },
        (tx, turn) => {
          moveRow(tx, task, { ...board.row("claim", to, LARES, null), attempt, holder: agent, turn });
          const { id, runtime } = task;
          insertRun(tx, {
            task: id,
            attempt,
            member: agent,
            agent,
            runtime,
            session,
            turn,
            place: null,
            at: clock.now(),
          });
        },
      );
    } catch (error) {
      throw explainRefusal(error);
    }
    crash.at("board.claimed");
    await board.moved(task.id, "claim");
    // Its turn may have ended before anybody knew whose it was.
    const now = await readTask(records, task.id);
    if (now?.turn && (await this.#parts.result(now.turn))) this.#aside(this.#advance(task.id));
  }

  async #describe(task: BoardTask): Promise<string> {
    const { records } = this.#parts;
    const [needs, handoff, verdicts] = await Promise.all([
      readNeedResults(records, task.id),
      readHandoff(records, task.id),
      readVerdicts(records, task.id),
    ]);
    const last = verdicts.at(-1);
    return words.taskText({
      number: task.number,
      title: task.title,
      description: task.description,
      proof: boundAcceptance(task),
      needs,
      handoff: handoff?.record,
      verdict: last && !last.clean ? last.why : undefined,
      folder: undefined,
    });
  }

  /** Does the next thing for a task that is under way, by what the records say (WORK-2). */
  #advance(id: TaskId): Promise<void> {
    return this.#lane(id, async () => {
      const { records } = this.#parts;
      const task = await readTask(records, id);
      const run = task && (await readRun(records, id, task.attempt));
      if (!task || !run) return;
      // What a person says when they hand it in is their result; there is no turn that has one.
      const said = run.turn === null ? task.why : null;
      if (task.state === "verifying") return this.#checks.advance(task, { ...run, result: run.result ?? said });
      if (!["claimed", "running", "waiting"].includes(task.state)) return;
      // It waits for a person's decision, not for a turn.
      if (task.state === "waiting" && readAbout(task) !== words.ANSWER_QUESTION) return;
      const looking = run.review_turn ?? run.check_turn;
      if (task.state === "waiting" && looking !== null) {
        if ((await this.#parts.standing(looking))?.parked) return;
        return this.#checks.advance(await this.#move(task, "recheck", null), run);
      }
      if (!task.turn || run.turn !== task.turn) return;
      const result = await this.#parts.result(task.turn);
      if (result) return this.#worked(task, run, result);
      const standing = await this.#parts.standing(task.turn);
      if (!standing?.open) await this.#lose(task, words.TURN_GONE);
      else if (standing.parked && task.state !== "waiting") await this.#wait(task, "park", words.ANSWER_QUESTION);
    });
  }

  /** The attempt's turn has ended. */
  async #worked(from: BoardTask, run: AttemptRow, result: TurnResult): Promise<void> {
    const { records, clock, crash } = this.#parts;
    const turn = from.turn!;
    await records.write((tx) => addSpent(tx, turn, spentIn(result)));
    const meaning = readEnd(result, await this.#parts.hasUnknown(turn));
    const why = result.reason ?? result.text.slice(0, 300);
    if (meaning === "unknown") return this.#lose(from, words.EFFECT_UNKNOWN);
    if (meaning === "block") return void (await this.#block(from, why, run));
    if (meaning === "stopped") {
      const task = from.state === "waiting" ? await this.#move(from, "resume", null) : from;
      return void (await this.#wait(task, "park", words.LOOK_AT_IT, words.STOPPED));
    }
    if (meaning === "again") return this.#fail(from, run, why, { isWaiting: true });
    let task = from;
    if (task.state === "claimed") task = await this.#move(task, "start", null);
    if (task.state === "waiting") task = await this.#move(task, "resume", null);
    const handed = (run.result ?? result.text).slice(0, MOST_RESULT);
    const handoff = (await readHandoff(records, task.id))?.attempt === task.attempt ? undefined : plainHandoff(handed);
    crash.at("board.handing");
    const now = await this.#move(task, "hand_in", null, (tx) => {
      setResult(tx, { task: task.id, attempt: task.attempt, result: handed, print: printFor(handed) });
      if (handoff) putHandoff(tx, task.id, task.attempt, handoff, clock.now());
    });
    const fresh = await readRun(records, task.id, now.attempt);
    if (fresh) await this.#checks.advance(now, fresh);
  }

  /** An attempt failed or wasn't accepted: it is tried again, or a person has to look at it (WORK-4). */
  async #fail(
    task: BoardTask,
    run: AttemptRow,
    why: string,
    how: { isWaiting?: boolean; record?: (tx: Tx) => void } = {},
  ): Promise<void> {
    const { records, clock } = this.#parts;
    const spent = task.spent_attempts + 1;
    const print = printFor(`${run.result ?? ""}\n${why}`);
    const before = task.attempt > 1 ? await readRun(records, task.id, task.attempt - 1) : undefined;
    // A provider that is down says the same each time; that is no lack of progress.
    const isSame = !how.isWaiting && before?.print === print && spent > 1;
    const record = (tx: Tx) => {
      how.record?.(tx);
      setResult(tx, { task: task.id, attempt: task.attempt, result: run.result, print });
      endRun(tx, { task: task.id, attempt: task.attempt, outcome: "failed", why, at: clock.now() });
    };
    if (isSame) return void (await this.#block(task, words.noProgress(why), run, record));
    if (spent >= task.most_attempts) {
      return void (await this.#block(task, words.attemptsSpent(spent, why), run, record));
    }
    const notBefore = how.isWaiting ? waitAfter(spent, clock.now()) : 0;
    const move = task.state === "verifying" ? "reject" : "release";
    await this.#parts.board.move(task.id, move, LARES, why, {
      record,
      notBefore,
      holder: null,
      turn: null,
      spentAttempts: spent,
    });
  }

  /** A clean verdict: the only way a machine makes a task done. */
  async #finish(task: BoardTask, verdict: Parameters<Board["accept"]>[2]): Promise<void> {
    const { board, clock, crash } = this.#parts;
    crash.at("board.judging");
    await board.accept(task.id, LARES, verdict, {
      record: (tx) =>
        endRun(tx, { task: task.id, attempt: task.attempt, outcome: "done", why: verdict.why, at: clock.now() }),
    });
  }

  async #block(task: BoardTask, why: string, run?: AttemptRow, record?: (tx: Tx) => void): Promise<void> {
    const { board, clock } = this.#parts;
    await board.move(task.id, "block", LARES, why, {
      holder: null,
      waitsFor: waitsForPerson(task, words.UNBLOCK),
      clockAt: this.#clockAt(0),
      record: (tx) => {
        record?.(tx);
        if (run) endRun(tx, { task: task.id, attempt: task.attempt, outcome: "blocked", why, at: clock.now() });
      },
    });
  }

  /** Nobody knows what it did: only a person goes on from here (WORK-3). */
  async #lose(task: BoardTask, why: string): Promise<void> {
    const { board, clock } = this.#parts;
    await board.move(task.id, "lose", LARES, why, {
      holder: null,
      waitsFor: waitsForPerson(task, words.SETTLE),
      clockAt: this.#clockAt(0),
      record: (tx) => endRun(tx, { task: task.id, attempt: task.attempt, outcome: "unknown", why, at: clock.now() }),
    });
  }

  #wait(task: BoardTask, move: "park" | "ask", about: string, why: string | null = null): Promise<BoardTask> {
    const waitsFor = waitsForPerson(task, about);
    return this.#parts.board.move(task.id, move, LARES, why, { waitsFor, clockAt: this.#clockAt(0) });
  }

  #move(
    task: BoardTask,
    move: Exclude<TaskMove, "accept">,
    why: string | null,
    record?: (tx: Tx) => void,
  ): Promise<BoardTask> {
    return this.#parts.board.move(task.id, move, LARES, why, record ? { record } : {});
  }

  /** Brings up what has waited too long; each time the wait doubles, up to a day (WORK-5). */
  async #escalate(): Promise<void> {
    const { records, board, clock } = this.#parts;
    for (const task of await overdueTasks(records, clock.now())) {
      const text = words.escalated(spanInWords(clock.now() - task.state_at), readAbout(task) ?? "");
      await records.write((tx) => markEscalated(tx, task.id, this.#clockAt(task.escalations + 1)));
      await board.comment(task.id, text, LARES);
      await this.#report(task, eventKeys.taskWaits(task.id, task.change, task.escalations + 1), text, () => {});
    }
  }

  #clockAt(escalations: number): number {
    const first = this.#parts.config().escalateMinutes * 60_000;
    return this.#parts.clock.now() + Math.min(first * 2 ** escalations, DAY_MS);
  }

  /** What follows from a move, once it is durable. */
  #moved(task: BoardTask, move: TaskMove): void {
    if (!this.#isOpen) return;
    this.#parts.crash.at("board.moved");
    if (["cancel", "release", "block", "accept", "reject"].includes(move)) this.#aside(this.#callOff(task));
    if (move === "hand_in" || move === "recheck") this.#aside(this.#advance(task.id));
    if (move === "cancel") this.#aside(this.#blockDependants(task));
    if (TOLD.has(task.state)) this.#aside(this.#tell(task));
    if (!["claim", "start", "resume"].includes(move)) this.#aside(this.dispatch());
  }

  /** The turns of an attempt that is over are stopped. */
  async #callOff(task: BoardTask): Promise<void> {
    const { records } = this.#parts;
    const run = await readRun(records, task.id, task.attempt);
    for (const turn of [run?.turn, run?.check_turn, run?.review_turn]) {
      if (turn && (await this.#parts.standing(turn))?.open) await this.#parts.stop(turn, words.TAKEN_AWAY);
    }
    const { id, attempt, state, why } = task;
    const { clock } = this.#parts;
    if (run && run.ended_at === null)
      await records.write((tx) => endRun(tx, { task: id, attempt, outcome: state, why, at: clock.now() }));
  }

  async #blockDependants(task: BoardTask): Promise<void> {
    for (const one of await readDependants(this.#parts.records, task.id)) {
      if (one.state === "ready") await this.#block(one, words.needCancelled(task.number));
    }
  }

  /** Tells the one that asked, once for each state it cares about (WORK-6). */
  async #tell(task: BoardTask): Promise<void> {
    if (task.made_session === null || task.told >= task.change) return;
    const run = await readRun(this.#parts.records, task.id, task.attempt);
    const { label, body } = words.taskReport({ ...task, result: task.state === "done" ? (run?.result ?? null) : null });
    await this.#report(
      task,
      eventKeys.task(task.id, task.change),
      body,
      (tx) => markTold(tx, task.id, task.change),
      label,
    );
  }

  async #report(task: BoardTask, key: string, body: string, record: (tx: Tx) => void, label?: string): Promise<void> {
    const { made_session: session, made_agent: agent, route } = task;
    if (session === null || agent === null || route === null) return;
    await this.#parts.tell(
      {
        key,
        task: task.id,
        session,
        agent: asId<AgentId>(agent),
        route: JSON.parse(route) as ReplyRoute,
        label: label ?? words.taskReport({ ...task, result: null }).label,
        body,
        authority: await this.#parts.authorityIn(session),
        // A result is another agent's words, and that agent may have read anything.
        outside: true,
      },
      record,
    );
  }

  /** The task this turn is at work for, checks or reviews, as long as that attempt is the current one. */
  async #in(turn: TurnId, work: (task: BoardTask, run: AttemptRow) => Promise<void>): Promise<void> {
    const { records } = this.#parts;
    const run = await runOfTurn(records, turn);
    if (!run) return;
    await this.#lane(run.task, async () => {
      const [task, fresh] = [await readTask(records, run.task), await readRun(records, run.task, run.attempt)];
      if (task && fresh && task.attempt === run.attempt) await work(task, fresh);
    });
  }

  #lane(id: string, work: () => Promise<void>): Promise<void> {
    const next = (this.#lanes.get(id) ?? Promise.resolve()).then(work).catch((error: unknown) => this.#note(error));
    this.#lanes.set(id, next);
    void next.finally(() => {
      if (this.#lanes.get(id) === next) this.#lanes.delete(id);
    });
    return next;
  }

  #aside(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#note(error));
  }

  /** Somebody else was first, or Lares stops: the next look sees what there is. */
  #note(error: unknown): void {
    if (isOver(error)) return;
    const isFenced = error instanceof AppError && error.code === "CONFLICT";
    this.#parts.log[isFenced ? "debug" : "warn"]("a task could not be moved on", { error: String(error) });
  }
}

/** States in which the one that asked hears of its task. */
const TOLD: ReadonlySet<string> = new Set(["done", "blocked", "unknown", "cancelled"]);

/** What a task waits for, in words. */
function readAbout({ waits_for }: BoardTask): string | undefined {
  return waits_for === null ? undefined : (JSON.parse(waits_for) as words.WaitsFor).about;
}

function overBudget(
  { most_dollars, most_tokens }: BoardTask,
  spent: { dollars: number; tokens: number },
): string | undefined {
  if (most_dollars !== null && spent.dollars >= most_dollars) return `$${spent.dollars.toFixed(4)} of $${most_dollars}`;
  if (most_tokens !== null && spent.tokens >= most_tokens) return `${spent.tokens} of ${most_tokens} tokens`;
  return undefined;
}

function spentIn({ usage }: TurnResult): { dollars: number; tokens: number } {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, cost } = usage;
  return { dollars: cost ?? 0, tokens: inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens };
}

function plainHandoff(said: string): Handoff {
  return { done: [said.slice(0, 2000)], open: [], next: [], commands: [], evidence: [], warnings: [] };
}

function printFor(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function spanInWords(ms: number): string {
  const hours = Math.floor(ms / HOUR_MS);
  return hours >= 1 ? `${hours} h` : `${Math.max(Math.floor(ms / 60_000), 1)} min`;
}
