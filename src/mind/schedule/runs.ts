/**
 * From a due slot to its end.
 *
 * SCHEDULE-1: (job, due) is unique and the engine accepts it once: a slot never fires twice, across restarts and clock changes.
 * SCHEDULE-2: firing is a small separate turn in the job's lane: it decides, creates the next slot, and admits the job's message
 * through the inbox under the slot's key. Wherever it is killed, it continues and admits once.
 * SCHEDULE-3: a slot that doesn't run is recorded with the reason.
 * SCHEDULE-4: a decision is recorded before it is acted on, so changing the job in the meantime can't change a replay.
 * SCHEDULE-5: people are notified once per kind of failure, then not until it changes. A run whose outcome isn't known is not
 * repeated.
 * SCHEDULE-6: an answer that reached nobody marks its slot as failed, whenever Lares dies: immediately, at the slot's end, or at
 * the next start.
 * SCHEDULE-7: a job has at most one open approval: while a run is waiting for one, or may still ask, later slots are skipped with
 * that reason, and nobody can start another run.
 * SCHEDULE-17: removing a job withdraws the approvals its runs wait for, so that none of them can run any more.
 * SCHEDULE-18: a single run is tried again only after a failure that may pass. A script's exit code is its result, and so is a
 * person's no.
 */
import type { Ctx, Outcome, Tx } from "../../core/contracts/index.ts";
import {
  answerIds,
  asId,
  type EventLabel,
  type Happening,
  type InboundMessage,
  idempotencyKeys,
  type Json,
  readRunSession,
  type ScheduleId,
  type SessionKey,
  sessionKeys,
  sourceKeys,
  stepNames,
  type Terms,
  type TurnId,
  type TurnResult,
  toJson,
} from "../../core/domain/index.ts";
import { defined, roughly, truthy } from "../../core/kit/index.ts";
import { isTold, type JobFailure, makeSignature } from "./alert.ts";
import { afterFailure, type Catch, catchUp, isTriedAgain, type Job, LATE_MS, MOST_FAILURES } from "./job.ts";
import type { ScheduleParts } from "./ports.ts";
import {
  clearFailures,
  closeSlot,
  countFailure,
  deleteJob,
  dropPending,
  findSlot,
  findTold,
  forgetSession,
  keepSession,
  lastOutput,
  listRunningSlots,
  makeSlot,
  pruneSlots,
  readJob,
  runningSlots,
  type Slot,
  seenBy,
  sessionsKeptUntil,
  setHealth,
  spoilSlot,
  startSlot,
} from "./store.ts";
import { nextDue } from "./when.ts";
import {
  alertText,
  backingOff,
  beatLabel,
  IT_FAILED,
  JOB_PAUSED,
  NO_HEARTBEATS,
  NOT_STARTED,
  noFile,
  noOutputYet,
  notChanged,
  notDelivered,
  outputLabel,
  runLabel,
  STILL_RUNNING,
  waitingForApproval,
} from "./words.ts";
import { wallWords } from "./zone.ts";

/** The body a slot's turn is started with. */
export type SlotBody = { kind: "slot"; job: string; due: number };

/** `parked`: the run waits for the approval with this code. */
export type ShownSlot = Slot | (Omit<Slot, "state"> & { state: "parked"; approval: string });

type Decision =
  | { go: true; seen: string | null; say?: string; given?: Json; note?: Json }
  | { go: false; skip: string }
  | { go: false; fail: string };

/** Characters of an answer stored for other jobs, and for people after the session is gone. */
const KEPT_OUTPUT = 16_000;
/** Sessions removed in one go. */
const SWEPT_AT_ONCE = 200;
/** A session whose run is still going is checked again after this long. */
const SWEEP_LATER_MS = 3_600_000;
/** How long finished slots are kept; heartbeats that found nothing are many and say little. */
const KEPT_SLOTS_MS = 90 * 86_400_000;
const KEPT_QUIET_BEATS_MS = 2 * 86_400_000;

/** `off`: the job was paused or deleted before its time came. */
type SlotPlan = { now: number; off: true } | ({ now: number; off?: never } & Catch);

export class ScheduleRuns {
  private readonly parts: ScheduleParts;

  constructor(parts: ScheduleParts) {
    this.parts = parts;
  }

  /** The turn a due slot becomes. */
  async fire(ctx: Ctx, body: SlotBody): Promise<Outcome> {
    const { records, clock, crash } = this.parts;
    const id = asId<ScheduleId>(body.job);
    const job = await readJob(records, id);
    const plan = await ctx.step<SlotPlan>("plan", async () => {
      const now = clock.now();
      if (!job?.enabled) return { now, off: true };
      return { now, ...catchUp(job.when, body.due, now, job.catchUp) };
    });
    if (plan.off || !job) {
      const end = { state: "skipped" as const, reason: JOB_PAUSED, at: plan.now };
      return { end: null, record: (tx) => job && closeSlot(tx, { job: id, due: body.due }, end) };
    }
    // Not awaited: it shares a commit with what follows, and a replay repeats it.
    const planned = this.planNext(job, plan);
    planned.catch(() => {});
    crash.at("slot.planned");
    for (const due of plan.run) {
      const decided = await ctx.step(stepNames.decide(due), () => this.decide(job, plan.run.length > 1));
      if (!decided.go) {
        await this.turnAway(job, due, decided, ctx.turn);
        continue;
      }
      // The inbox recognises the slot's key, so a second attempt is the same turn and no intent needs to be durable first.
      const isAdmitted = await ctx.step(stepNames.admit(due), () =>
        this.start(job, due, decided).then(
          () => true,
          (error: unknown) => {
            if (ctx.signal.aborted) throw error;
            this.parts.log.error("a slot could not be started", { job: job.name, error: String(error) });
            return false;
          },
        ),
      );
      if (!isAdmitted) await this.turnAway(job, due, { go: false, fail: NOT_STARTED }, ctx.turn);
    }
    await planned;
    return { end: null };
  }

  /** Firing this slot stopped Lares twice: it is marked failed and not tried again. */
  async giveUp(ctx: Ctx, body: SlotBody, reason: string): Promise<Outcome> {
    const job = await readJob(this.parts.records, asId<ScheduleId>(body.job));
    if (job) await this.failed(job, { job: job.id, due: body.due }, { failure: "stopped-lares", reason, by: ctx.turn });
    return { end: null };
  }

  /** Passes the job's message to the inbox under the slot's key, and records the turn. Idempotent. */
  async start(job: Job, due: number, how: Extract<Decision, { go: true }>): Promise<{ turn: TurnId }> {
    const { clock, records, crash, hooks } = this.parts;
    const isolated = job.session === "isolated";
    const ongoing = job.session === "main" ? sessionKeys.main(job.agent) : (job.session as SessionKey);
    const session = isolated ? sessionKeys.run(job.id, due) : ongoing;
    const { turn } = await this.parts.admit(await this.message(job, due, session, how));
    crash.at("slot.admitted");
    const now = clock.now();
    const until = isolated ? now + job.timeoutS * 1000 + job.keepHours * 3_600_000 : null;
    await records.write((tx) => {
      startSlot(tx, { job: job.id, due }, { turn, at: now, session, until, seen: how.seen });
      if (how.note !== undefined) this.parts.beats?.began(tx, job.agent, how.note, now);
      hooks.record(tx, "schedule.fired", `${job.id}/${due}`, () => ({ schedule: job.id, session, turn }));
    });
    crash.at("slot.started");
    this.parts.bus.emit({ event: "schedule.fired", schedule: job.id, session, turn });
    // Admitted before a restart, it may have ended before its slot was updated, and there won't be another event for that.
    if ((await this.parts.turn(turn))?.result) await this.ended(turn);
    return { turn };
  }

  /** A turn ended: if it was a slot's, the slot ends with it. */
  async ended(turn: TurnId): Promise<void> {
    const { records, clock, crash } = this.parts;
    const slot = await findSlot(records, turn);
    if (slot?.state !== "running") return;
    const result = (await this.parts.turn(turn))?.result;
    if (!result) return;
    const job = await readJob(records, slot.job);
    const now = clock.now();
    crash.at("slot.ending");
    if (job && this.isFailure(result)) {
      return this.failed(job, slot, { failure: result.failure ?? "unknown", reason: readReason(result), by: turn });
    }
    const session = sessionKeys.run(slot.job, slot.due);
    const beat =
      job?.kind === "beat"
        ? await this.parts.beats?.ended(job.agent, { turn, session, due: slot.due, route: job.route, result, now })
        : undefined;
    const skipped = result.state === "stopped" || (result.state === "silent" && result.reason !== undefined);
    const reason = beat ? beat.reason : (result.reason ?? null);
    const isDeleted = job?.deleteAfterRun === true && !skipped;
    const write = (tx: Tx) => {
      const output = result.text ? result.text.slice(0, KEPT_OUTPUT) : null;
      closeSlot(tx, slot, { state: skipped ? "skipped" : "done", reason, output, at: now });
      if (!job) return;
      if (job.failures && !skipped) clearFailures(tx, job.id);
      if (job.session === "isolated") {
        keepSession(tx, { session, job: job.id, until: now + job.keepHours * 3_600_000 });
      }
      beat?.record(tx);
      if (isDeleted) deleteJob(tx, job.id);
    };
    await (isDeleted ? this.commit(slot.job, null, write) : records.write(write));
    crash.at("slot.ended");
    if (beat) this.parts.wake(turn);
    // Its delivery may have been abandoned before the slot was done, and there won't be another event for that.
    for (const { error } of await this.parts.lost({ turn })) await this.undelivered(turn, error);
  }

  /** An answer couldn't be delivered. */
  async undelivered(turn: TurnId, error: string): Promise<void> {
    const { records } = this.parts;
    const slot = await findSlot(records, turn);
    if (slot?.state !== "done" || slot.reason !== null) return;
    const job = await readJob(records, slot.job);
    const reason = notDelivered(error);
    if (!job || job.bestEffort || job.kind === "beat") {
      return records.write((tx) => spoilSlot(tx, slot, "done", reason));
    }
    return this.failed(job, slot, { failure: "delivery", reason, by: turn });
  }

  /** After a start: picks up outcomes that nothing was running to notice. */
  async settle(): Promise<void> {
    const { records, clock } = this.parts;
    for (const slot of await runningSlots(records)) if (slot.turn) await this.ended(slot.turn);
    const since = clock.now() - KEPT_SLOTS_MS;
    for (const { turn, error } of await this.parts.lost({ since })) await this.undelivered(turn, error);
  }

  /** Removes sessions of expired runs and old slots. Returns how many sessions. */
  async sweep(): Promise<number> {
    const { records, clock } = this.parts;
    const now = clock.now();
    let removed = 0;
    for (const session of await sessionsKeptUntil(records, now, SWEPT_AT_ONCE)) {
      const gone = await this.parts.removeSession(session);
      if (gone) removed++;
      await records.write((tx) =>
        gone
          ? forgetSession(tx, session)
          : keepSession(tx, { session, job: readJobId(session), until: now + SWEEP_LATER_MS }),
      );
    }
    await records.write((tx) => pruneSlots(tx, { any: now - KEPT_SLOTS_MS, quietBeats: now - KEPT_QUIET_BEATS_MS }));
    return removed;
  }

  slot(id: ScheduleId, due: number): { due: number; session: SessionKey; body: Json } {
    const body: SlotBody = { kind: "slot", job: id, due };
    return { due, session: sessionKeys.job(id), body };
  }

  /** Records what is known before anything runs: missed slots, and the next one. Idempotent. */
  private async planNext(job: Job, plan: Catch & { now: number }): Promise<void> {
    const { records } = this.parts;
    const { missed, next, now } = plan;
    if (!missed.length && next === undefined) return;
    const current = await readJob(records, job.id);
    // The job was changed at this very moment, and the change created its own next slot.
    const isSame = current?.enabled && JSON.stringify(current.when) === JSON.stringify(job.when);
    const write = (tx: Tx) => {
      for (const m of missed)
        closeSlot(tx, { job: job.id, due: m.due }, { state: "missed", reason: m.reason, at: now });
      if (next !== undefined && isSame) makeSlot(tx, job.id, next);
    };
    await (next !== undefined && isSame ? this.commit(job.id, next, write) : records.write(write));
  }

  /** Decides whether a slot runs, without calling a model. */
  private async decide(job: Job, isOneOfMany: boolean): Promise<Decision> {
    const { clock } = this.parts;
    const busy = await this.busy(job, isOneOfMany);
    if (busy) return { go: false, skip: busy };
    if (job.kind === "beat") {
      const found = await this.parts.beats?.check(job.agent, clock.now());
      if (!found || "quiet" in found) return { go: false, skip: found?.quiet ?? NO_HEARTBEATS };
      const obstacle = this.obstacle(job);
      if (obstacle) return { go: false, fail: obstacle };
      return { go: true, seen: null, say: found.text, given: toJson(found.given), note: found.note };
    }
    const obstacle = this.obstacle(job);
    if (obstacle) return { go: false, fail: obstacle };
    return this.look(job);
  }

  /** Why an earlier run keeps this one from starting (SCHEDULE-7). Runs caught up together don't wait for each other. */
  private async busy(job: Job, isOneOfMany: boolean): Promise<string | undefined> {
    const open = await this.open(job.id);
    if (open?.code) return waitingForApproval(open.code);
    return open && !isOneOfMany ? STILL_RUNNING : undefined;
  }

  /** A run of this job that is still open, preferring one that is waiting for an approval, with the approval's code. */
  async open(id: ScheduleId): Promise<{ turn: TurnId; code?: string } | undefined> {
    let found: { turn: TurnId } | undefined;
    for (const { turn } of await listRunningSlots(this.parts.records, id)) {
      const state = turn && (await this.parts.turn(turn))?.state;
      if (state !== "queued" && state !== "running" && state !== "parked") continue;
      const code = state === "parked" ? await this.parts.question(turn!) : undefined;
      if (code) return { turn: turn!, code };
      found ??= { turn: turn! };
    }
    return found;
  }

  /** The slot as people see it: a run waiting for an approval says so, with the approval's code. */
  async shown(slot: Slot): Promise<ShownSlot> {
    if (slot.state !== "running" || !slot.turn) return slot;
    const isParked = (await this.parts.turn(slot.turn))?.state === "parked";
    const approval = isParked ? await this.parts.question(slot.turn) : undefined;
    return approval ? { ...slot, state: "parked", approval } : slot;
  }

  /** Checks the cheap conditions; a script condition runs inside the run itself, where it goes through the gate. */
  private async look(job: Job): Promise<Decision> {
    const { condition } = job;
    if (!condition || "script" in condition) return { go: true, seen: null };
    const path = "changed" in condition ? condition.changed : condition.exists;
    const mark = await this.parts.files.mark(job.agent, path).catch(() => null);
    if ("exists" in condition) {
      return mark === null ? { go: false, skip: noFile(path) } : { go: true, seen: null };
    }
    const before = await seenBy(this.parts.records, job.id);
    if (mark === before) return { go: false, skip: notChanged(path) };
    return { go: true, seen: mark ?? "" };
  }

  private obstacle(job: Job): string | undefined {
    const { agent, route, model } = job;
    const found = this.parts.obstacle({ agent, route, ...(job.script === null ? { model } : {}) });
    return found && [found.message, found.hint].filter(Boolean).join(" ");
  }

  private async turnAway(job: Job, due: number, why: Extract<Decision, { go: false }>, by: TurnId): Promise<void> {
    const slot = { job: job.id, due };
    if ("fail" in why) return this.failed(job, slot, { failure: "preflight", reason: why.fail, by });
    const at = this.parts.clock.now();
    await this.parts.records.write((tx) => closeSlot(tx, slot, { state: "skipped", reason: why.skip, at }));
  }

  private isFailure(result: TurnResult): boolean {
    return result.state === "failed" || result.state === "attention" || result.state === "declined";
  }

  private async failed(
    job: Job,
    slot: Pick<Slot, "job" | "due">,
    f: { failure: JobFailure; reason: string; by: TurnId },
  ): Promise<void> {
    const { records, clock, log } = this.parts;
    const now = clock.now();
    const failures = job.failures + 1;
    // Trying again would only stop Lares again (I13).
    const isPaused = failures >= MOST_FAILURES || f.failure === "stopped-lares";
    const isRetried = job.enabled && f.failure !== "stopped-lares" && isTriedAgain(job, f.failure);
    const again = isRetried ? afterFailure(job.when, failures, now) : undefined;
    // Nothing else would tell: a second failure doesn't come. An answer that didn't arrive there is not told there either.
    const isOver = job.when.kind === "at" && again === undefined && f.failure !== "delivery";
    const signature = makeSignature(f.failure, f.reason);
    const told = await findTold(records, job.id);
    const tells = isTold({ ...f, signature, failures, alertAfter: job.alertAfter, told, isLast: isPaused || isOver });
    const write = (tx: Tx) => {
      countFailure(tx, slot);
      if (f.failure === "delivery") spoilSlot(tx, slot, "failed", f.reason);
      else closeSlot(tx, slot, { state: "failed", reason: f.reason, at: now });
      setHealth(tx, job.id, { told: tells ? signature : told, enabled: job.enabled && !isPaused });
      if (job.session === "isolated") {
        const session = sessionKeys.run(job.id, slot.due);
        keepSession(tx, { session, job: job.id, until: now + job.keepHours * 3_600_000 });
      }
      if (tells && job.route) {
        const text = alertText({ name: job.name, reason: f.reason, failures, isPaused, isOver });
        const session = sessionKeys.job(job.id);
        this.parts.tell(tx, { key: answerIds.alert(job.id, slot.due), turn: f.by, session, route: job.route, text });
      }
      if (again === undefined && !isPaused) return;
      dropPending(tx, job.id);
      if (again === undefined) return;
      // Times that pass while it waits are recorded too, in one row that says how far it goes.
      const passed = nextDue(job.when, Math.max(slot.due, now));
      if (job.when.kind !== "at" && passed !== undefined && passed < again) {
        const reason = backingOff(again);
        closeSlot(tx, { job: job.id, due: passed }, { state: "skipped", reason, at: now });
      }
      makeSlot(tx, job.id, again);
    };
    await (again !== undefined || isPaused ? this.commit(job.id, again ?? null, write) : records.write(write));
    if (tells) {
      this.parts.wake(f.by);
      const { failure, reason } = f;
      log.warn(isPaused ? "job paused after failures in a row" : "job failed", { job: job.name, failure, reason });
    }
  }

  /**
   * Makes a change and sets its timer. Both are requested without an await in between, so they share a transaction: a job with a
   * pending slot always has its timer, whenever the process dies.
   */
  async commit(id: ScheduleId, due: number | null, change: (tx: Tx) => void): Promise<void> {
    const timer = due === null ? null : this.slot(id, due);
    await Promise.all([this.parts.records.write(change), this.parts.timer(id, timer)]);
  }

  private async message(
    job: Job,
    due: number,
    session: SessionKey,
    how: Extract<Decision, { go: true }>,
  ): Promise<InboundMessage> {
    const input = await this.input(job);
    const { script } = job;
    const terms: Terms = {
      job: job.id,
      timeoutMs: job.timeoutS * 1000,
      keeps: job.kind === "beat" ? "all" : "failures",
      ...truthy({ budget: job.budget, thinking: job.thinking }),
      ...(job.condition && "script" in job.condition && !how.say ? { condition: job.condition.script } : {}),
      ...defined({ script: script ?? undefined }),
    };
    return {
      route: job.route ?? { channel: "none", account: "schedule", chat: job.id },
      sender: { id: sourceKeys.job(job.name) },
      idempotencyKey: idempotencyKeys.slot(job.id, due),
      text: how.say ?? (script === null ? job.prompt : `$ ${script}`),
      about: { label: await this.label(job, due), zone: job.zone },
      ...(input && how.say === undefined ? { more: [input] } : {}),
      agent: job.agent,
      session,
      lane: "scheduled",
      mode: "followup",
      origin: "event",
      // The job was made by the owner or with a person's approval, but another job's output, and news, may contain anyone's
      // words.
      authority: "owner",
      ...(input || how.say ? { outside: true } : {}),
      terms,
      ...(how.given ? { given: how.given as NonNullable<InboundMessage["given"]> } : {}),
      ...truthy({ model: job.model }),
    };
  }

  /** Which run it is, how late, and who reads the result: all that the run's model knows about its place. */
  private async label(job: Job, due: number): Promise<EventLabel> {
    const { name, route } = job;
    const lateMs = this.parts.clock.now() - due;
    const late = lateMs > LATE_MS ? roughly(lateMs) : undefined;
    const recipient = (route && (await this.parts.recipient(job.agent, route))) || undefined;
    if (job.kind === "beat") return { kind: "heartbeat", text: beatLabel(late, recipient), of: name };
    const text = runLabel({ name, due: wallWords(due, job.zone), late, isInChat: isInChat(job), recipient });
    return { kind: "schedule", text, of: name, ...(job.when.kind === "at" ? { once: true } : {}) };
  }

  /** Another job's last output: as text for a prompt, as a file for a script. */
  private async input(job: Job): Promise<Happening | undefined> {
    if (!job.input) return undefined;
    const { records, files } = this.parts;
    const from = await readJob(records, job.input);
    const last = from && (await lastOutput(records, from.id));
    if (job.script !== null) {
      await files.leave(job.agent, `${job.name}.input`, last?.output ?? "");
      return undefined;
    }
    const label = (text: string): EventLabel => ({ kind: "schedule", text, of: job.input! });
    if (!last)
      return {
        label: label(noOutputYet(job.input)),
        at: this.parts.clock.now(),
        text: "",
      };
    return {
      label: label(outputLabel(job.input)),
      at: last.ended_at,
      text: last.output,
      isMaterial: true,
    };
  }
}

/** It runs in a conversation whose prompt doesn't mention job runs. */
function isInChat({ session }: Job): boolean {
  return session !== "isolated";
}

function readReason(result: TurnResult): string {
  return result.reason ?? (result.text || IT_FAILED);
}

function readJobId(session: SessionKey): ScheduleId {
  return asId<ScheduleId>(readRunSession(session)?.job ?? "");
}
