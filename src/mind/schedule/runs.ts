/**
 * From a due slot to its end.
 *
 * SCHEDULE-1: (job, due) is unique and the engine accepts it once: a slot never fires twice, over restarts and clock jumps.
 * SCHEDULE-2: firing is a small turn of its own in the job's lane: it decides, makes the next slot, and admits the job's message through
 *     the inbox under the slot's key. Killed anywhere, it goes on and admits once.
 * SCHEDULE-3: whatever does not run is recorded with the reason.
 * SCHEDULE-4: what is decided is recorded before it is acted on, so a job that is changed meanwhile cannot change a replay.
 * SCHEDULE-5: a failure is told once a kind, then it is quiet until it changes. A run whose outcome is not known is not run again.
 * SCHEDULE-6: an answer that reached nobody makes its slot a failed one, whenever Lares dies: told at once, at the slot's end, or at the
 *     next start.
 * SCHEDULE-7: a job has one open question at most: while a run waits for an approval, or may still come to ask, later slots are skipped
 *     and say so, and nobody can start another run beside it.
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
  type Terms,
  type TurnId,
  type TurnResult,
} from "../../core/domain/index.ts";
import { defined, quotedName, roughly, truthy } from "../../core/kit/index.ts";
import { alertText, isTold, type JobFailure, makeSignature } from "./alert.ts";
import { afterFailure, type Catch, catchUp, type Job, LATE_MS, MOST_FAILURES } from "./job.ts";
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
import { wallWords } from "./zone.ts";

/** What a slot's turn is started with. */
export type SlotBody = { kind: "slot"; job: string; due: number };

/** `parked`: the run waits for the approval with this code. */
export type ShownSlot = Slot | (Omit<Slot, "state"> & { state: "parked"; approval: string });

type Decision =
  | { go: true; seen: string | null; say?: string; given?: Json; note?: Json }
  | { go: false; skip: string }
  | { go: false; fail: string };

/** What of an answer is kept for another job, and for people when the session is gone. */
const KEPT_OUTPUT = 16_000;
/** Sessions removed in one go. */
const SWEPT_AT_ONCE = 200;
/** A session whose run is not over is looked at again after this long. */
const SWEEP_LATER_MS = 3_600_000;
/** How long the ends of slots are kept; those of heartbeats that found nothing are many and say little. */
const KEPT_SLOTS_MS = 90 * 86_400_000;
const KEPT_QUIET_BEATS_MS = 2 * 86_400_000;

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
    const plan = (await ctx.step("plan", async () => {
      const now = clock.now();
      if (!job?.enabled) return { now, off: true };
      return { now, ...catchUp(job.when, body.due, now, job.catchUp) } as unknown as Json;
    })) as unknown as { now: number; off?: true } & Catch;
    if (plan.off || !job) {
      const end = { state: "skipped" as const, reason: "The job is paused.", at: plan.now };
      return { end: null, record: (tx) => job && closeSlot(tx, { job: id, due: body.due }, end) };
    }
    // Not waited for: it shares a commit with what follows, and a replay does it again.
    const planned = this.planNext(job, plan);
    planned.catch(() => {});
    crash.at("slot.planned");
    for (const due of plan.run) {
      const decided = (await ctx.step(`decide:${due}`, async () => {
        return (await this.decide(job, plan.run.length > 1)) as unknown as Json;
      })) as unknown as Decision;
      if (!decided.go) {
        await this.turnAway(job, due, decided, ctx.turn);
        continue;
      }
      // The inbox knows the slot's key again, so a second try is the same turn: no intent needs to be durable first.
      const isAdmitted = await ctx.step(`admit:${due}`, () =>
        this.start(job, due, decided).then(
          () => true,
          (error: unknown) => {
            if (ctx.signal.aborted) throw error;
            this.parts.log.error("a slot could not be started", { job: job.name, error: String(error) });
            return false;
          },
        ),
      );
      if (!isAdmitted) await this.turnAway(job, due, { go: false, fail: "It could not be started." }, ctx.turn);
    }
    await planned;
    return { end: null };
  }

  /** Firing this slot stopped Lares twice: it failed, and nothing more of it is done. */
  async giveUp(ctx: Ctx, body: SlotBody, reason: string): Promise<Outcome> {
    const job = await readJob(this.parts.records, asId<ScheduleId>(body.job));
    if (job) await this.failed(job, { job: job.id, due: body.due }, { failure: "stopped-lares", reason, by: ctx.turn });
    return { end: null };
  }

  /** Gives the job's message to the inbox under the slot's key, and notes the turn. Repeating it changes nothing. */
  async start(job: Job, due: number, how: Extract<Decision, { go: true }>): Promise<{ turn: TurnId }> {
    const { clock, records, crash } = this.parts;
    const isolated = job.session === "isolated";
    const session = isolated
      ? sessionKeys.run(job.id, due)
      : job.session === "main"
        ? sessionKeys.main(job.agent)
        : (job.session as SessionKey);
    const { turn } = await this.parts.admit(await this.message(job, due, session, how));
    crash.at("slot.admitted");
    const now = clock.now();
    const until = isolated ? now + job.timeoutS * 1000 + job.keepHours * 3_600_000 : null;
    await records.write((tx) => {
      startSlot(tx, { job: job.id, due }, { turn, at: now, session, until, seen: how.seen });
      if (how.note !== undefined) this.parts.beats?.began(tx, job.agent, how.note, now);
    });
    crash.at("slot.started");
    this.parts.bus.emit({ event: "schedule.fired", schedule: job.id, session, turn });
    // Admitted in an earlier life, it may have ended before its slot knew it: nobody will say so again.
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
    // It may have been given up before the slot was done: nobody will say so again.
    for (const { error } of await this.parts.lost({ turn })) await this.undelivered(turn, error);
  }

  /** An answer that should have reached somebody did not. */
  async undelivered(turn: TurnId, error: string): Promise<void> {
    const { records } = this.parts;
    const slot = await findSlot(records, turn);
    if (slot?.state !== "done" || slot.reason !== null) return;
    const job = await readJob(records, slot.job);
    const reason = `Done, but the answer could not be delivered: ${error}`;
    if (!job || job.bestEffort || job.kind === "beat") {
      return records.write((tx) => spoilSlot(tx, slot, "done", reason));
    }
    return this.failed(job, slot, { failure: "delivery", reason, by: turn });
  }

  /** After a start: outcomes that were reached while nobody looked. */
  async settle(): Promise<void> {
    const { records, clock } = this.parts;
    for (const slot of await runningSlots(records)) if (slot.turn) await this.ended(slot.turn);
    const since = clock.now() - KEPT_SLOTS_MS;
    for (const { turn, error } of await this.parts.lost({ since })) await this.undelivered(turn, error);
  }

  /** Removes sessions of runs whose time is over, and ends of slots nobody will look at. Returns how many sessions. */
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

  /** Whatever is known before anything runs: what was missed, and the next slot. Repeating it changes nothing. */
  private async planNext(job: Job, plan: Catch & { now: number }): Promise<void> {
    const { records } = this.parts;
    const { missed, next, now } = plan;
    if (!missed.length && next === undefined) return;
    const current = await readJob(records, job.id);
    // Changed in this very moment: the change made its own next slot.
    const isSame = current?.enabled && JSON.stringify(current.when) === JSON.stringify(job.when);
    const write = (tx: Tx) => {
      for (const m of missed)
        closeSlot(tx, { job: job.id, due: m.due }, { state: "missed", reason: m.reason, at: now });
      if (next !== undefined && isSame) makeSlot(tx, job.id, next);
    };
    await (next !== undefined && isSame ? this.commit(job.id, next, write) : records.write(write));
  }

  /** Whether a slot runs. No model is asked. */
  private async decide(job: Job, isOneOfMany: boolean): Promise<Decision> {
    const { clock } = this.parts;
    const busy = await this.busy(job, isOneOfMany);
    if (busy) return { go: false, skip: busy };
    if (job.kind === "beat") {
      const found = await this.parts.beats?.check(job.agent, clock.now());
      if (!found || "quiet" in found) return { go: false, skip: found?.quiet ?? "Heartbeats are not set up." };
      const obstacle = this.obstacle(job);
      if (obstacle) return { go: false, fail: obstacle };
      return { go: true, seen: null, say: found.text, given: found.given as unknown as Json, note: found.note };
    }
    const obstacle = this.obstacle(job);
    if (obstacle) return { go: false, fail: obstacle };
    return this.look(job);
  }

  /** Why an earlier run keeps this one from starting (SCHEDULE-7). Runs that are made up for together do not wait for each other. */
  private async busy(job: Job, isOneOfMany: boolean): Promise<string | undefined> {
    const open = await this.open(job.id);
    if (open?.code) return `The previous run is still waiting for approval (${open.code}).`;
    return open && !isOneOfMany ? "The previous run was still going." : undefined;
  }

  /** A run of this job that is not over; one that waits for an approval before any other, with the approval's code. */
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

  /** The slot as people see it: a run that waits for an approval says so, and for which. */
  async shown(slot: Slot): Promise<ShownSlot> {
    if (slot.state !== "running" || !slot.turn) return slot;
    const isParked = (await this.parts.turn(slot.turn))?.state === "parked";
    const approval = isParked ? await this.parts.question(slot.turn) : undefined;
    return approval ? { ...slot, state: "parked", approval } : slot;
  }

  /** The cheap conditions; a script is asked in the run itself, where it passes the gate. */
  private async look(job: Job): Promise<Decision> {
    const { condition } = job;
    if (!condition || "script" in condition) return { go: true, seen: null };
    const path = "changed" in condition ? condition.changed : condition.exists;
    const mark = await this.parts.files.mark(job.agent, path).catch(() => null);
    if ("exists" in condition) {
      return mark === null ? { go: false, skip: `There is no ${path}.` } : { go: true, seen: null };
    }
    const before = await seenBy(this.parts.records, job.id);
    if (mark === before) return { go: false, skip: `${path} did not change.` };
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
    // Tried again, it would only stop Lares again (I13).
    const isPaused = failures >= MOST_FAILURES || f.failure === "stopped-lares";
    // What was delivered nowhere was still done; what may have been done is not done again.
    const isRetried = f.failure !== "delivery" && !(f.failure === "unknown-outcome" && job.when.kind === "at");
    const again =
      job.enabled && isRetried && f.failure !== "stopped-lares" ? afterFailure(job.when, failures, now) : undefined;
    const signature = makeSignature(f.failure, f.reason);
    const told = await findTold(records, job.id);
    const tells = isTold({ ...f, signature, failures, alertAfter: job.alertAfter, told, isPaused });
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
        const text = alertText({ name: job.name, reason: f.reason, failures, isPaused });
        const session = sessionKeys.job(job.id);
        this.parts.tell(tx, { key: answerIds.alert(job.id, slot.due), turn: f.by, session, route: job.route, text });
      }
      if (again === undefined && !isPaused) return;
      dropPending(tx, job.id);
      if (again === undefined) return;
      // Times that pass while it waits have a record too: one, which says how far it goes.
      const passed = nextDue(job.when, Math.max(slot.due, now));
      if (job.when.kind !== "at" && passed !== undefined && passed < again) {
        const reason = `Backing off after a failure: no runs until ${new Date(again).toISOString()}.`;
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
   * A change and the timer that goes with it. Asked for in one breath, so both are in one transaction: a job that waits for a
   * slot has its timer, whenever the process dies.
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
      // Made by the owner, or with a person's yes; another job's output, and news, may carry anybody's words.
      authority: "owner",
      ...(input || how.say ? { outside: true } : {}),
      terms,
      ...(how.given ? { given: how.given as NonNullable<InboundMessage["given"]> } : {}),
      ...truthy({ model: job.model }),
    };
  }

  /** Which run it is, how late, and who reads what comes of it: the run's model knows nothing else about its place. */
  private async label(job: Job, due: number): Promise<EventLabel> {
    const late = this.parts.clock.now() - due;
    const isLate = late > LATE_MS ? `, ${roughly(late)} late` : "";
    const whom = job.route && (await this.parts.recipient(job.agent, job.route));
    const where = whom ? `your answer is sent to ${whom}` : "your answer is kept and sent to nobody";
    if (job.kind === "beat") {
      const told = whom ? `what you tell is sent to ${whom}` : "what you tell is kept and sent to nobody";
      return { kind: "heartbeat", text: `Heartbeat${isLate}; ${told}`, of: job.name };
    }
    const text = `Scheduled: ${quotedName(job.name)}, due ${wallWords(due, job.zone)}${isLate}; ${isInChat(job) ? "do it now, " : ""}${where}`;
    return { kind: "schedule", text, of: job.name };
  }

  /** Another job's last output: for a prompt as words, for a script as a file. */
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
        label: label(`There is no output of ${quotedName(job.input)} yet`),
        at: this.parts.clock.now(),
        text: "",
      };
    return {
      label: label(`Output of ${quotedName(job.input)}`),
      at: last.ended_at,
      text: last.output,
      isMaterial: true,
    };
  }
}

/** It comes into a conversation whose model was told nothing about runs of jobs. */
function isInChat({ session }: Job): boolean {
  return session !== "isolated";
}

function readReason(result: TurnResult): string {
  return result.reason ?? (result.text || "It failed.");
}

function readJobId(session: SessionKey): ScheduleId {
  return asId<ScheduleId>(readRunSession(session)?.job ?? "");
}
