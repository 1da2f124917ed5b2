/**
 * Standing goals: an outcome, its proof and when to stop. The agent works on one turn by turn; after each turn a judge, a small
 * model call with a structured answer, says done, go on or blocked.
 *
 * GOALS-1: each turn of a goal is admitted through the inbox under the goal's id and its number, so it runs once wherever Lares
 * is killed.
 * GOALS-2: judging is a small separate turn in the goal's lane. Its model call is a recorded step, and its verdict takes effect
 * once.
 * GOALS-3: turns, tokens and money are limited; running out ends the goal as `limit`, never silently.
 * GOALS-4: while a process or sub-agent in its session is running, nothing is judged and nothing is spent: the goal is parked and
 * checked again after the session's next turn, or after a while.
 * GOALS-5: however a goal ends, the chat where it was set gets a message.
 */
import type { Ctx, ModelReply, ModelRequest, Outcome, Records, Tx } from "../../core/contracts/index.ts";
import {
  type AgentId,
  AppError,
  answerIds,
  asId,
  type InboundMessage,
  idempotencyKeys,
  type Json,
  type ReplyRoute,
  type ScheduleId,
  type SessionKey,
  sessionKeys,
  sourceKeys,
  type TurnId,
  type TurnResult,
  timerIds,
  type Usage,
  unknownAgent,
} from "../../core/domain/index.ts";
import type { Clock, IdMaker, Log } from "../../core/kit/index.ts";
import type { GoalsConfig } from "./config.ts";
import {
  activeGoals,
  addSpent,
  beginRound,
  findGoalByTurn,
  type Goal,
  goalIn,
  insertGoal,
  listGoals,
  readGoal,
  renew,
  setState,
  setWaiting,
  setWhy,
  waitingIn,
} from "./store.ts";
import { type GoalVerdict, judgeRequest, readVerdict } from "./verdict.ts";
import {
  cancelledBy,
  dollarsUsed,
  endText,
  FIRST_TURN,
  JUDGING_FAILED,
  judgeUnreachable,
  NO_JUDGE,
  notReached,
  PRICE_UNKNOWN,
  pausedBy,
  RESUMED,
  TURN_STOPPED,
  tokensUsed,
  turnEnded,
  turnLabel,
  turnText,
  VERDICT_UNREADABLE,
  waitingFor,
} from "./words.ts";

export interface GoalParts {
  records: Records;
  clock: Clock;
  ids: IdMaker;
  log: Log;
  config: () => GoalsConfig;
  agentExists: (agent: AgentId) => boolean;
  admit: (message: InboundMessage, record: (tx: Tx, turn: TurnId) => void) => Promise<{ turn: TurnId }>;
  stop: (turn: TurnId, why: string) => Promise<void>;
  timer: (id: ScheduleId, slot: { due: number; session: SessionKey; body: Json } | null) => Promise<void>;
  result: (turn: TurnId) => Promise<TurnResult | undefined>;
  /** What happened in a turn, as text for a judge. */
  readRecord: (turn: TurnId) => Promise<string>;
  /** How many processes and sub-agents of this session are still running. */
  atWork: (session: SessionKey) => Promise<number>;
  /** One call within the budgets. `record` belongs in the transaction that stores the answer. */
  ask: (
    call: { turn: TurnId; session: SessionKey; agent: AgentId; request: ModelRequest },
    signal: AbortSignal,
  ) => Promise<{ reply: ModelReply; record: (tx: Tx) => void } | { refused: string }>;
  /** The model that judges for this agent; undefined if only the practice model is connected, which can't judge. */
  judgeFor: (agent: string) => string | undefined;
  /** Sends a message on a route once this turn has ended. Idempotent per id. */
  say: (tx: Tx, m: { id: string; turn: TurnId; session: SessionKey; route: ReplyRoute; text: string }) => void;
}

export interface NewGoal {
  outcome: string;
  proof?: string;
  stop?: string;
  session?: string;
  agent?: string;
  route?: ReplyRoute;
  turns?: number;
  dollars?: number;
  tokens?: number;
  madeBy: string;
  /** Idempotency key: adding a goal under the same key returns the existing one. */
  key?: string;
}

/** The body a judging turn is started with. */
export type GoalBody = { kind: "goal"; goal: string; round: number };

/** A waiting goal is checked again after this long, because some things end without an event. */
const LOOK_AGAIN_MS = 600_000;
const OPEN = ["active", "paused", "blocked", "limit"] as const;

/** What the judge said, or why there is no verdict. */
type Judged = (GoalVerdict & { spent: Spent }) | { failed: string };

export class Goals {
  private readonly parts: GoalParts;
  /** Sessions with active goals, in memory because every ending turn asks. */
  private readonly busy = new Set<SessionKey>();

  constructor(parts: GoalParts) {
    this.parts = parts;
  }

  async add(given: NewGoal): Promise<Goal> {
    const { records, clock, ids } = this.parts;
    const agent = asId<AgentId>(given.agent ?? "main");
    if (!this.parts.agentExists(agent)) {
      throw unknownAgent(agent);
    }
    const id = given.key ? `goal_${given.key}` : ids.next("goal");
    const known = await readGoal(records, id);
    if (known) return known;
    const { turns, atOnce } = this.parts.config();
    if ((await activeGoals(records)).length >= atOnce) {
      throw new AppError("CONFLICT", {
        message: `${atOnce} goals are active already.`,
        hint: "Finish or cancel one (lares goals list), or raise goals.atOnce.",
      });
    }
    const session = given.session === undefined ? sessionKeys.goal(id) : asId<SessionKey>(given.session);
    const goal: Goal = {
      id,
      session,
      agent,
      outcome: given.outcome,
      state: "active",
      why: null,
      turn: null,
      round: 0,
      waiting: 0,
      route: JSON.stringify(given.route ?? { channel: "none", account: "goal", chat: id }),
      proof: given.proof ?? null,
      stop: given.stop ?? null,
      most_turns: given.turns ?? turns,
      most_dollars: given.dollars ?? null,
      most_tokens: given.tokens ?? null,
      dollars: 0,
      tokens: 0,
      unpriced: 0,
      made_by: given.madeBy,
      made_at: clock.now(),
      updated_at: clock.now(),
    };
    await records.write((tx) => insertGoal(tx, goal));
    await this.begin(goal, FIRST_TURN);
    return (await readGoal(records, id))!;
  }

  list(limit: number): Promise<Goal[]> {
    return listGoals(this.parts.records.committed, limit);
  }

  async get(id: string): Promise<Goal> {
    const goal = await readGoal(this.parts.records, id);
    if (!goal) throw new AppError("NOT_FOUND", { message: `There is no goal "${id}".`, hint: "See: lares goals list" });
    return goal;
  }

  /** The newest goal of a session. */
  of(session: SessionKey): Promise<Goal | undefined> {
    return goalIn(this.parts.records, session);
  }

  /** The running turn continues; no other is started. */
  async pause(id: string, by: string): Promise<Goal> {
    await this.move(id, ["active"], "paused", pausedBy(by));
    return this.get(id);
  }

  /** Resumes it, with its limits renewed. */
  async resume(id: string): Promise<Goal> {
    const before = await this.get(id);
    if (before.state === "active") return before;
    await this.move(id, ["paused", "blocked", "limit"], "active", null);
    if (before.state === "limit") await this.parts.records.write((tx) => renew(tx, id, this.parts.config().turns));
    const goal = await this.get(id);
    // The turn it had when it was paused may still be running.
    const isAtWork = goal.turn !== null && !(await this.parts.result(goal.turn));
    if (isAtWork) this.busy.add(goal.session);
    else await this.begin(goal, RESUMED);
    return this.get(id);
  }

  async cancel(id: string, by: string): Promise<Goal> {
    const goal = await this.get(id);
    await this.move(id, OPEN, "cancelled", cancelledBy(by));
    if (goal.turn && !(await this.parts.result(goal.turn))) await this.parts.stop(goal.turn, "its goal was cancelled");
    return this.get(id);
  }

  /** A turn ended: if it was a goal's, it is judged; if it was in a goal's session, what the goal waited for may be over. */
  async ended(turn: TurnId, session: SessionKey): Promise<void> {
    if (!this.busy.has(session)) return;
    const own = await findGoalByTurn(this.parts.records, turn);
    if (own) await this.judgeSoon(own);
    for (const goal of await waitingIn(this.parts.records, session)) await this.judgeSoon(goal);
  }

  /** After a start: handles turns that ended while Lares was down, and goals whose next turn wasn't admitted. */
  async settle(): Promise<void> {
    for (const goal of await activeGoals(this.parts.records)) {
      this.busy.add(goal.session);
      if (!goal.turn) await this.begin(goal, FIRST_TURN);
      else if (goal.waiting || (await this.parts.result(goal.turn))) await this.judgeSoon(goal);
    }
  }

  /** The turn that judges a goal. */
  async judge(ctx: Ctx, body: GoalBody, isBroken = false): Promise<Outcome> {
    const { records, clock } = this.parts;
    const goal = await readGoal(records, body.goal);
    const turn = goal?.turn;
    if (goal?.state !== "active" || goal.round !== body.round || !turn) return { end: null };
    const result = await this.parts.result(turn);
    if (!result) return { end: null };
    if (isBroken) return this.finish(ctx, goal, "blocked", JUDGING_FAILED);
    const work = await ctx.step("at work", () => this.parts.atWork(goal.session));
    if (work > 0) {
      await this.arm(goal, clock.now() + LOOK_AGAIN_MS);
      return { end: null, record: (tx) => setWaiting(tx, goal.id, waitingFor(work), turn, clock.now()) };
    }
    const spent = spentIn(result.usage);
    const ended = findEnd(goal, result, spent);
    const payTurn = (tx: Tx) => addSpent(tx, goal.id, spent);
    if (ended) return this.finish(ctx, goal, ended.state, ended.why, payTurn);
    const model = this.parts.judgeFor(goal.agent);
    if (!model) return this.finish(ctx, goal, "blocked", NO_JUDGE, payTurn);
    const verdict = await this.ask(ctx, goal, turn, model);
    if ("failed" in verdict) return this.finish(ctx, goal, "blocked", verdict.failed, payTurn);
    const pay = (tx: Tx) => {
      payTurn(tx);
      addSpent(tx, goal.id, verdict.spent);
    };
    if (verdict.verdict !== "go on") return this.finish(ctx, goal, verdict.verdict, verdict.why, pay);
    if (goal.round >= goal.most_turns) {
      return this.finish(ctx, goal, "limit", notReached(goal.round, verdict.why), pay);
    }
    await ctx.effect(
      "next",
      async () => {
        await this.begin(goal, [verdict.why, verdict.next].filter(Boolean).join(" "));
        return null;
      },
      // The inbox recognises the round's key, so repeating this is harmless.
      { repeat: "with-key" },
    );
    return {
      end: null,
      record: (tx) => {
        pay(tx);
        setWhy(tx, goal.id, verdict.why, clock.now());
      },
    };
  }

  private async ask(ctx: Ctx, goal: Goal, turn: TurnId, model: string): Promise<Judged> {
    let record: ((tx: Tx) => void) | undefined;
    return ctx.step<Judged>(
      "judge",
      async () => {
        const request = judgeRequest(goal, await this.parts.readRecord(turn), model);
        const signal = ctx.halt;
        const agent = asId<AgentId>(goal.agent);
        const got = await ctx.apart("asks", () =>
          this.parts.ask({ turn: ctx.turn, session: goal.session, agent, request }, signal),
        );
        if ("refused" in got) return { failed: got.refused };
        record = got.record;
        if (!got.reply.ok) return { failed: judgeUnreachable(got.reply.message) };
        const verdict = readVerdict(got.reply);
        if (!verdict) return { failed: VERDICT_UNREADABLE };
        return { ...verdict, spent: spentIn(got.reply.usage) };
      },
      (tx) => record?.(tx),
    );
  }

  private finish(
    ctx: Ctx,
    goal: Goal,
    state: "done" | "blocked" | "limit" | "paused",
    why: string,
    also?: (tx: Tx) => void,
  ): Outcome {
    const { clock, log } = this.parts;
    const id = answerIds.goal(goal.id, goal.round, state);
    log.info(`goal ${state}`, { goal: goal.id, why });
    return {
      end: null,
      record: (tx) => {
        also?.(tx);
        setState(tx, { id: goal.id, from: ["active"], state, why, at: clock.now() });
        const route = JSON.parse(goal.route) as ReplyRoute;
        this.parts.say(tx, {
          id,
          turn: ctx.turn,
          session: goal.session,
          route,
          text: endText(state, goal.outcome, why),
        });
      },
    };
  }

  private async begin(goal: Goal, why: string): Promise<void> {
    const { clock } = this.parts;
    const now = await this.get(goal.id);
    if (now.state !== "active") return;
    this.busy.add(goal.session);
    const round = goal.round + 1;
    await this.parts.admit(
      {
        route: JSON.parse(goal.route) as ReplyRoute,
        sender: { id: sourceKeys.goal(goal.id) },
        idempotencyKey: idempotencyKeys.goal(goal.id, round),
        text: turnText(why, goal),
        about: { label: { kind: "goal", text: turnLabel(round, goal.most_turns), of: goal.id } },
        agent: asId<AgentId>(goal.agent),
        session: goal.session,
        lane: "background",
        mode: "followup",
        origin: "event",
        // Only the owner sets goals.
        authority: "owner",
      },
      (tx, turn) => beginRound(tx, goal.id, round, turn, clock.now()),
    );
  }

  private judgeSoon(goal: Goal): Promise<void> {
    return this.arm(goal, this.parts.clock.now());
  }

  private arm(goal: Goal, due: number): Promise<void> {
    const body: GoalBody = { kind: "goal", goal: goal.id, round: goal.round };
    return this.parts.timer(timerIds.goal(goal.id), {
      due,
      session: sessionKeys.goalTimer(goal.id),
      body,
    });
  }

  private async move(id: string, from: readonly Goal["state"][], state: Goal["state"], why: string | null) {
    const goal = await this.get(id);
    if (goal.state === state) return;
    if (!from.includes(goal.state)) {
      throw new AppError("CONFLICT", { message: `The goal is ${goal.state}; it can't become ${state}.` });
    }
    await this.parts.records.write((tx) => setState(tx, { id, from, state, why, at: this.parts.clock.now() }));
  }
}

type Spent = { dollars: number; tokens: number; unpriced: boolean };

function spentIn(usage: Usage): Spent {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, cost } = usage;
  const tokens = inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
  return { dollars: cost ?? 0, tokens, unpriced: cost === null };
}

/** Whether something ends the goal without asking the judge. */
function findEnd(
  goal: Goal,
  result: TurnResult,
  spent: Spent,
): { state: "paused" | "blocked" | "limit"; why: string } | undefined {
  if (result.state === "stopped") return { state: "paused", why: TURN_STOPPED };
  if (result.state !== "answered" && result.state !== "silent") {
    return { state: "blocked", why: result.reason ?? turnEnded(result.state) };
  }
  const { most_dollars, most_tokens } = goal;
  if (most_dollars !== null && (goal.unpriced || spent.unpriced)) {
    return { state: "limit", why: PRICE_UNKNOWN };
  }
  if (most_dollars !== null && goal.dollars + spent.dollars >= most_dollars) {
    return { state: "limit", why: dollarsUsed(goal.dollars + spent.dollars, most_dollars) };
  }
  if (most_tokens !== null && goal.tokens + spent.tokens >= most_tokens) {
    return { state: "limit", why: tokensUsed(goal.tokens + spent.tokens, most_tokens) };
  }
  return undefined;
}
