/**
 * Approvals: ask, park, answer once, expire to a denial. An approval is a row; the parked turn is a row; nothing waits in memory.
 *
 * APPROVALS-1: the row is written with the park, so nobody can answer before the turn is waiting.
 * APPROVALS-2: the first answer wins, from any interface; later ones learn who answered.
 * APPROVALS-3: an expired approval is a denial.
 * APPROVALS-4: "allow always" also answers every waiting approval of exactly the same action, whenever Lares dies.
 */
import type { EngineEvent, HookLog, Records, Tx } from "../../core/contracts/index.ts";
import {
  AppError,
  type ApprovalDecision,
  type ApprovalId,
  type ApprovalState,
  type ApprovalView,
  hasWords,
  type JsonObject,
  type ReplyRoute,
  readFormAnswer,
  resumeIds,
  type TurnId,
  waitNames,
} from "../../core/domain/index.ts";
import { type Bus, type Clock, countAll, defined } from "../../core/kit/index.ts";
import type { Reminders } from "./reminders.ts";
import {
  type ApprovalQuery,
  answerApproval,
  askedByTools,
  byEnding,
  countApprovals,
  countUse,
  forgetRule,
  hideQuestion,
  insertApproval,
  type KeptRule,
  leftByRules,
  listApprovals,
  listRules,
  type NewApproval,
  pendingIn,
  readApproval,
  rememberedRules,
  rememberRule,
  sameAs,
} from "./store.ts";
import { ALLOWED_ALONGSIDE, formIn, IT_WAS_FORGOTTEN, tooLate, WAS_FORGOTTEN } from "./words.ts";

export interface ApprovalParts {
  records: Records;
  clock: Clock;
  bus: Bus;
  hooks: HookLog;
  resume: (turn: TurnId, event: EngineEvent, record: (tx: Tx) => void) => Promise<"taken" | "late" | "unknown">;
  /** Ends a turn. `record` is written with the request, unless it was already made. */
  stop: (turn: TurnId, why: string, record: (tx: Tx) => void) => Promise<void>;
  reminders: Pick<Reminders, "firstAt" | "expect">;
  /** What else to write when an approval is answered. Looked up beforehand, so that it shares the answer's transaction. */
  answered?: (asked: ApprovalView, answer: ApprovalAnswer) => Promise<((tx: Tx) => void) | undefined>;
  /** Nothing is pushed on this route: the caller fetches answers and gets no reminders. */
  isPulled: (route: ReplyRoute) => boolean;
}

export interface ApprovalAnswer {
  decision: ApprovalDecision;
  by: string;
  reason?: string;
  /** To a question with fields: as one typed text, or field by field. */
  answers?: string | JsonObject;
}

/** More than ever wait at once. */
const MOST_WITHDRAWN = 10_000;

export class Approvals {
  private readonly parts: ApprovalParts;

  constructor(parts: ApprovalParts) {
    this.parts = parts;
  }

  /** Writes the question inside the park's transaction. */
  ask(tx: Tx, { route, ...approval }: Omit<NewApproval, "remindAt"> & { route: ReplyRoute }): void {
    const { reminders, isPulled, hooks } = this.parts;
    const remindAt = isPulled(route) ? null : reminders.firstAt(approval.askedAt, approval.deadline);
    insertApproval(tx, { ...approval, remindAt });
    const { id, session, turn, shown } = approval;
    hooks.record(tx, "approval.changed", `${id}/asked`, () => ({
      session,
      turn,
      approval: id,
      state: "pending",
      shown,
    }));
    reminders.expect(remindAt);
  }

  /** Closes questions that nobody answered, inside the turn's transaction. */
  close(tx: Tx, id: ApprovalId, state: Extract<ApprovalState, "expired" | "withdrawn">): void {
    answerApproval(tx, { id, state, by: "Lares", at: this.parts.clock.now() });
  }

  async resolve(id: string, answer: ApprovalAnswer): Promise<ApprovalView> {
    const answered = await this.answer(id, answer);
    if (answer.decision === "allow-always") {
      await this.settleSame(await sameAs(this.parts.records, answered.id), answer.by);
    }
    return answered;
  }

  /** After a start: finishes what an "allow always" didn't get to before Lares died. */
  async settle(): Promise<void> {
    for (const { id, by } of await leftByRules(this.parts.records)) await this.settleSame([id], by);
  }

  /**
   * Answers waiting approvals of an action that is now always allowed. If somebody answers one at the same moment, that answer
   * stands.
   */
  private async settleSame(ids: readonly ApprovalId[], by: string): Promise<void> {
    for (const id of ids) {
      await unlessAnswered(
        this.answer(id, { decision: "allow-once", by }, { because: ALLOWED_ALONGSIDE, isAlways: true }),
      );
    }
  }

  /** `own`: Lares itself gives this answer, so its reason is nobody's words. */
  private async answer(
    id: string,
    given: ApprovalAnswer,
    own?: { because: string; isAlways?: true },
  ): Promise<ApprovalView> {
    const { records, clock, hooks } = this.parts;
    // A reason of blanks is none: the model would read that a person said nothing.
    const { reason, ...rest } = given;
    const answer: ApprovalAnswer = { ...rest, ...(reason !== undefined && hasWords(reason) ? { reason } : {}) };
    const asked = await readApproval(records, id);
    if (!asked) {
      throw new AppError("NOT_FOUND", {
        message: `There is no approval "${id}".`,
        hint: "See what's waiting: lares approvals list",
      });
    }
    const state: ApprovalState = answer.decision === "deny" ? "denied" : "allowed";
    if (asked.state !== "pending") throw alreadyAnswered(asked);
    if (answer.decision === "allow-always" && !canBeKept(asked)) {
      throw new AppError("BAD_REQUEST", {
        ...(formIn(asked.action)
          ? { message: "This is a question, which can only be answered once.", hint: "Answer it, or deny it." }
          : {
              message: "This can only be allowed once: it runs code in the workspace, which can change.",
              hint: "Allow it once, or write a rule for it: policy.allow.exec in lares.yaml.",
            }),
      });
    }
    const content = readContent(asked, answer);
    const at = clock.now();
    // Past its deadline the turn is already being denied (APPROVALS-3), even if the row still says pending.
    if (at >= asked.deadline) throw alreadyAnswered({ ...asked, state: "expired" });
    const more = await this.parts.answered?.(asked, answer);
    const taken = await this.parts.resume(
      asked.turn,
      {
        id: resumeIds.answered(asked.id, answer.decision, answer.by),
        name: waitNames.approval(asked.id),
        value: {
          approval: asked.id,
          // The turn reads that it is allowed from now on; the rule itself belongs to the approval that was answered.
          decision: own?.isAlways ? "allow-always" : answer.decision,
          by: answer.by,
          reason: answer.reason ?? null,
          ...defined({ because: own?.isAlways ? undefined : own?.because }),
          ...content,
        },
      },
      (tx) => {
        answerApproval(tx, { id: asked.id, state, at, ...answer, ...defined({ reason: own?.because }) });
        hooks.record(tx, "approval.changed", `${asked.id}/answered`, () => {
          const { session, turn, shown } = asked;
          return { session, turn, approval: asked.id, state, shown, by: answer.by };
        });
        more?.(tx);
        const rule = asked.action.rule;
        if (answer.decision === "allow-always" && typeof rule === "string") {
          rememberRule(tx, { agent: asked.agent, rule, approval: asked.id, by: answer.by, at });
        }
      },
    );
    const now = (await readApproval(records, id))!;
    if (taken !== "taken") throw alreadyAnswered(now);
    this.parts.bus.emit({
      event: "approval.answered",
      session: asked.session,
      turn: asked.turn,
      approval: asked.id,
      state: now.state,
      by: answer.by,
    });
    return now;
  }

  /** What a person typed: the whole id or its last characters. */
  async find(typed: string): Promise<ApprovalView> {
    const whole = await readApproval(this.parts.records, typed);
    if (whole) return whole;
    const near = /^[a-z0-9]{4,}$/.test(typed) ? await byEnding(this.parts.records, typed) : [];
    if (near.length === 1) return near[0]!;
    throw new AppError("NOT_FOUND", {
      message: near.length ? `"${typed}" fits more than one approval.` : `There is no open approval "${typed}".`,
      hint: near.length ? "Give more of the code." : "See what's waiting: lares approvals list",
    });
  }

  /** Whether this is the code of a waiting approval. */
  async isOpen(code: string): Promise<boolean> {
    return (await byEnding(this.parts.records, code)).some((one) => one.state === "pending");
  }

  /** Waiting approvals that were asked in this chat, oldest first. */
  pendingIn(route: ReplyRoute): Promise<ApprovalView[]> {
    return pendingIn(this.parts.records, route);
  }

  get(id: string): Promise<ApprovalView | undefined> {
    return readApproval(this.parts.records.committed, id);
  }

  list(q: ApprovalQuery & { limit: number; keeps?: "newest" }): Promise<ApprovalView[]> {
    return listApprovals(this.parts.records.committed, q);
  }

  /** The newest, oldest first; how many there are without the limit, and how many of those wait. */
  async page(q: ApprovalQuery & { limit: number }): Promise<{ found: ApprovalView[]; total: number; waiting: number }> {
    const count = (asked: ApprovalQuery) => countApprovals(this.parts.records.committed, asked);
    const found = await this.list({ ...q, keeps: "newest" });
    const total = await countAll(found, q.limit, () => count(q));
    return { found, total, waiting: q.pendingOnly ? total : await count({ ...q, pendingOnly: true }) };
  }

  /**
   * What these tools asked about something that was forgotten is asked no more, and the questions no longer show it. A question
   * that is also about something else stays open. The turn that had it forgotten keeps waiting for nothing here: its own
   * question was answered.
   */
  async forgetMentions(of: {
    tools: readonly string[];
    sessions: ReadonlySet<string>;
    mentions: (text: string) => boolean;
    /** Whether nothing is left of what a question is about. */
    isAllGone: (shown: string) => boolean;
  }): Promise<void> {
    const { records } = this.parts;
    const asked = (await askedByTools(records, of.tools)).filter(
      (one) => of.sessions.has(one.session) && of.mentions(one.shown),
    );
    for (const { id } of asked.filter((one) => one.state === "pending" && of.isAllGone(one.shown))) {
      await unlessAnswered(this.answer(id, { decision: "deny", by: "Lares" }, { because: IT_WAS_FORGOTTEN }));
    }
    if (asked.length > 0)
      await records.write((tx) => {
        for (const { id } of asked) hideQuestion(tx, id, WAS_FORGOTTEN);
      });
  }

  /**
   * Ends the turns that wait for these questions. The questions close with the request, so nobody can answer in between, and a late
   * answer reads why. Returns the questions.
   */
  async withdraw(isMeant: (asked: ApprovalView) => Promise<boolean>, because: string): Promise<ApprovalView[]> {
    const { records, clock, bus, hooks, stop } = this.parts;
    const meant: ApprovalView[] = [];
    for (const asked of await listApprovals(records, { pendingOnly: true, limit: MOST_WITHDRAWN })) {
      if (await isMeant(asked)) meant.push(asked);
    }
    const by = "Lares";
    for (const turn of new Set(meant.map((asked) => asked.turn))) {
      const own = meant.filter((asked) => asked.turn === turn);
      await stop(turn, because, (tx) => {
        for (const { id, session, shown } of own) {
          answerApproval(tx, { id, state: "withdrawn", by, reason: because, at: clock.now() });
          const state = "withdrawn" as const;
          hooks.record(tx, "approval.changed", `${id}/answered`, () => ({
            session,
            turn,
            approval: id,
            state,
            shown,
            by,
          }));
        }
      });
      for (const { id, session } of own)
        bus.emit({ event: "approval.answered", session, turn, approval: id, state: "withdrawn", by });
    }
    return meant;
  }

  /** Rules saved by "allow always" for this agent. */
  remembered(agent: string): Promise<Set<string>> {
    return rememberedRules(this.parts.records, agent);
  }

  /** The same with who saved them and when, newest first; for all agents unless one is named. */
  rules(agent?: string): Promise<KeptRule[]> {
    return listRules(this.parts.records.committed, agent);
  }

  /** Counts a use of a rule. Not awaited: losing a count in a crash does no harm. */
  used(agent: string, rule: string): void {
    const { records, clock } = this.parts;
    void records.write((tx) => countUse(tx, agent, rule, clock.now())).catch(() => {});
  }

  /** Removes a rule, so that its action asks again. False if there was no such rule. */
  async forget(agent: string, rule: string): Promise<boolean> {
    const { records } = this.parts;
    const known = (await rememberedRules(records, agent)).has(rule);
    if (known) await records.write((tx) => forgetRule(tx, agent, rule));
    return known;
  }
}

/** What was filled in, for the turn. Throws BAD_REQUEST where that doesn't fit what was asked. */
function readContent({ action }: ApprovalView, { decision, answers }: ApprovalAnswer): { content?: JsonObject } {
  if (decision === "deny") return {};
  const form = formIn(action);
  if (form) return { content: readFormAnswer(form, answers) };
  if (answers === undefined) return {};
  throw new AppError("BAD_REQUEST", {
    message: "This wants a yes or a no, nothing else.",
    hint: "Approve it or deny it.",
  });
}

/** Whether "allow always" is offered, i.e. there is a rule to save. */
function canBeKept({ action }: Pick<ApprovalView, "action">): boolean {
  return typeof action.rule === "string" && action.rule !== "";
}

async function unlessAnswered(answering: Promise<unknown>): Promise<void> {
  try {
    await answering;
  } catch (error) {
    if (!(error instanceof AppError && error.code === "ALREADY_ANSWERED")) throw error;
  }
}

function alreadyAnswered(a: ApprovalView): AppError {
  return new AppError("ALREADY_ANSWERED", {
    message: tooLate(a),
    hint: "Ask the agent again if the action is still wanted.",
    details: { state: a.state },
  });
}
