/**
 * Jobs and their slots. A slot is a row made ahead of time and ends as done, failed, skipped or missed with a reason.
 *
 * D1: (job, due) is unique and the engine accepts it once: a slot never fires twice, over restarts and clock jumps.
 * D2: firing is a small turn of its own in the job's lane: it decides, makes the next slot, and admits the job's message through
 *     the inbox under the slot's key. Killed anywhere, it goes on and admits once.
 * D3: whatever does not run is recorded with the reason.
 */
import type { Ctx, Outcome, Records } from "../../core/contracts/index.ts";
import {
  type AgentId,
  AppError,
  asId,
  type InboundMessage,
  type Json,
  type ReplyRoute,
  type ScheduleId,
  type SessionKey,
  type TurnId,
  type TurnResult,
} from "../../core/domain/index.ts";
import type { Bus, Clock, IdMaker, Log } from "../../core/kit/index.ts";
import type { DeclaredJob } from "./config.ts";
import { afterFailure, type CatchUp, catchUp, type Job, MOST_FAILURES } from "./job.ts";
import {
  closeSlot,
  deleteJob,
  dropPending,
  listJobs,
  makeSlot,
  pendingDue,
  readJob,
  runningSlots,
  type Slot,
  saveJob,
  setFailures,
  signatureOf,
  slotOf,
  slotsOf,
  startSlot,
} from "./store.ts";
import { inWords, nextDue, parseWhen, type When } from "./when.ts";

export interface ScheduleParts {
  records: Records;
  clock: Clock;
  ids: IdMaker;
  bus: Bus;
  log: Log;
  /** The person's zone. */
  zone: () => string;
  timer: (id: ScheduleId, slot: { due: number; session: SessionKey; body: Json } | null) => Promise<void>;
  admit: (message: InboundMessage) => Promise<{ turn: TurnId }>;
  agentExists: (agent: AgentId) => boolean;
  routeExists: (route: ReplyRoute) => boolean;
  /** A turn's result, if it ended. */
  result: (turn: TurnId) => Promise<TurnResult | undefined>;
}

export interface NewJob {
  name?: string;
  at?: string | number;
  in?: string;
  every?: string;
  cron?: string;
  zone?: string;
  agent?: string;
  prompt: string;
  session?: string;
  route?: ReplyRoute | null;
  model?: string;
  catchUp?: CatchUp;
  enabled?: boolean;
  createdBy: string;
}

export interface JobView extends Job {
  next?: number;
  last?: Slot;
  /** The last slots that came, newest first. */
  recent: Slot[];
}

/** As many as a row of a list has room for. */
const SHOWN_SLOTS = 10;

/** What a slot's turn is started with. */
export type SlotBody = { kind: "slot"; job: string; due: number };

export class Schedules {
  private readonly parts: ScheduleParts;

  constructor(parts: ScheduleParts) {
    this.parts = parts;
  }

  async add(given: NewJob, declared = false): Promise<JobView> {
    const { clock, ids } = this.parts;
    const now = clock.now();
    const zone = given.zone ?? this.parts.zone();
    const when = parseWhen(given, now, zone);
    const agent = asId<AgentId>(given.agent ?? "main");
    this.check(agent, given.route ?? null);
    const name = given.name ?? nameFrom(given.prompt, ids);
    const known = await readJob(this.parts.records, name);
    if (known && !declared) {
      throw new AppError("CONFLICT", {
        message: `There is already a job "${name}".`,
        hint: "Choose another name, or update it.",
      });
    }
    const job: Job = {
      id: known?.id ?? asId<ScheduleId>(ids.next("job")),
      name,
      when,
      agent,
      prompt: given.prompt,
      session: (given.session ?? "isolated") as Job["session"],
      route: given.route ?? null,
      model: given.model ?? null,
      catchUp: given.catchUp ?? "once",
      deleteAfterRun: false,
      zone,
      enabled: given.enabled ?? true,
      declared,
      createdBy: given.createdBy,
      failures: 0,
    };
    await this.keep(job, firstDue(when, now));
    return this.view(job);
  }

  async update(
    idOrName: string,
    change: Partial<
      Pick<
        NewJob,
        "prompt" | "at" | "in" | "every" | "cron" | "zone" | "model" | "catchUp" | "enabled" | "route" | "name"
      >
    >,
  ): Promise<JobView> {
    const job = await this.must(idOrName);
    const now = this.parts.clock.now();
    const timed = ["at", "in", "every", "cron"].some((key) => change[key as "at"] !== undefined);
    const { at: _at, in: _in, every: _every, cron: _cron, ...rest } = change;
    const next: Job = {
      ...job,
      ...(rest as Partial<Job>),
      ...(timed ? { when: parseWhen(change, now, change.zone ?? job.zone) } : {}),
      failures: change.enabled ? 0 : job.failures,
    };
    this.check(next.agent, next.route);
    const pending = await pendingDue(this.parts.records, job.id);
    const due = timed || !pending ? firstDue(next.when, now) : pending;
    await this.keep(next, due);
    return this.view(next);
  }

  async remove(idOrName: string): Promise<void> {
    const job = await this.must(idOrName);
    await Promise.all([this.parts.records.write((tx) => deleteJob(tx, job.id)), this.parts.timer(job.id, null)]);
  }

  /** Runs it now, beside its schedule. */
  async run(idOrName: string): Promise<{ turn: TurnId }> {
    const job = await this.must(idOrName);
    return this.start(job, this.parts.clock.now());
  }

  /** What a schedule would be. Throws as `add` does; makes nothing. */
  preview(given: Pick<NewJob, "at" | "in" | "every" | "cron" | "zone">, count: number) {
    const { clock } = this.parts;
    const zone = given.zone ?? this.parts.zone();
    const when = parseWhen(given, clock.now(), zone);
    const next: number[] = [];
    for (let due = firstDue(when, clock.now()); due !== undefined && next.length < count; due = nextDue(when, due)) {
      next.push(due);
    }
    return { words: inWords(when, zone), next };
  }

  async list(): Promise<JobView[]> {
    return Promise.all((await listJobs(this.parts.records.committed)).map((job) => this.view(job)));
  }

  async history(idOrName: string, limit: number): Promise<Slot[]> {
    const job = await this.must(idOrName);
    return slotsOf(this.parts.records.committed, job.id, limit);
  }

  /** Declared jobs follow the file: changed ones change, missing ones go. */
  async declare(jobs: readonly DeclaredJob[]): Promise<void> {
    const known = (await listJobs(this.parts.records)).filter((job) => job.declared);
    for (const job of known) if (!jobs.some((d) => d.name === job.name)) await this.remove(job.id);
    for (const { deliver, ...given } of jobs) {
      const before = known.find((job) => job.name === given.name);
      const print = JSON.stringify([given, deliver ?? null]);
      if (before?.createdBy === `lares.yaml ${print}`) continue;
      await this.add({ ...(given as NewJob), route: deliver ?? null, createdBy: `lares.yaml ${print}` }, true);
    }
  }

  /** After a start: outcomes that were reached while nobody looked. */
  async settle(): Promise<void> {
    for (const slot of await runningSlots(this.parts.records)) if (slot.turn) await this.ended(slot.turn);
  }

  /** The turn a due slot becomes. */
  async fire(ctx: Ctx, body: SlotBody): Promise<Outcome> {
    const id = asId<ScheduleId>(body.job);
    const now = await ctx.step("now", async () => this.parts.clock.now());
    const job = await readJob(this.parts.records, id);
    if (!job?.enabled) {
      return this.quiet((tx) => job && closeSlot(tx, id, body.due, "skipped", "The job is paused.", now));
    }
    const { run, missed, next } = catchUp(job.when, body.due, now, job.catchUp);
    for (const due of run) {
      await ctx.effect(
        `admit:${due}`,
        async () => {
          const { turn } = await this.start(job, due);
          return turn as string;
        },
        // The inbox knows the slot's key again, so a second try is the same turn.
        { repeat: "with-key" },
      );
    }
    if (next !== undefined) await this.parts.timer(id, this.slot(id, next));
    return this.quiet((tx) => {
      for (const m of missed) closeSlot(tx, id, m.due, "missed", m.reason, now);
      if (next !== undefined) makeSlot(tx, id, next);
    });
  }

  /** A turn ended: if it was a slot's, the slot ends with it. */
  async ended(turn: TurnId): Promise<void> {
    const slot = await slotOf(this.parts.records, turn);
    if (slot?.state !== "running") return;
    const result = await this.parts.result(turn);
    if (!result) return;
    const job = await readJob(this.parts.records, slot.job);
    const now = this.parts.clock.now();
    const failed = result.state === "failed" || result.state === "attention";
    if (!failed) {
      await this.parts.records.write((tx) => {
        closeSlot(tx, slot.job, slot.due, "done", null, now);
        if (job?.failures) setFailures(tx, slot.job, 0, null, job.enabled);
      });
      return;
    }
    await this.failed(slot, job, result.reason ?? "It failed.", now);
  }

  private async failed(slot: Slot, job: Job | undefined, reason: string, now: number): Promise<void> {
    const failures = (job?.failures ?? 0) + 1;
    const again = job?.enabled ? afterFailure(job.when, failures, now) : undefined;
    const paused = failures >= MOST_FAILURES;
    const known = await signatureOf(this.parts.records, slot.job);
    await this.parts.records.write((tx) => {
      closeSlot(tx, slot.job, slot.due, "failed", reason, now);
      setFailures(tx, slot.job, failures, reason, Boolean(job?.enabled) && !paused);
      if (again === undefined && !paused) return;
      dropPending(tx, slot.job);
      if (again !== undefined) makeSlot(tx, slot.job, again);
    });
    if (again !== undefined) await this.parts.timer(slot.job, this.slot(slot.job, again));
    else if (paused) await this.parts.timer(slot.job, null);
    // One alert per error, then quiet until it changes.
    if (known !== reason || paused) {
      this.parts.log.warn(paused ? "job paused after failures in a row" : "job failed", {
        job: job?.name ?? slot.job,
        reason,
      });
    }
  }

  /** Gives the job's message to the inbox under the slot's key, and notes the turn. Repeating it changes nothing. */
  private async start(job: Job, due: number): Promise<{ turn: TurnId }> {
    const session =
      job.session === "isolated"
        ? asId<SessionKey>(`cron:${job.id}:run:${due}`)
        : job.session === "main"
          ? asId<SessionKey>(`agent:${job.agent}:main`)
          : job.session;
    const { turn } = await this.parts.admit({
      route: job.route ?? { channel: "none", account: "schedule", chat: job.id },
      sender: { id: `schedule:${job.name}` },
      idempotencyKey: `slot:${job.id}:${due}`,
      text: `[Scheduled: ${job.name}] ${job.prompt}`,
      agent: job.agent,
      session,
      lane: "scheduled",
      mode: "followup",
      origin: "event",
      // Made by the owner, or with a person's yes.
      authority: "owner",
      ...(job.model ? { model: job.model } : {}),
    });
    await this.parts.records.write((tx) => startSlot(tx, job.id, due, turn, this.parts.clock.now()));
    this.parts.bus.emit({ event: "schedule.fired", schedule: job.id, session, turn });
    return { turn };
  }

  private async keep(job: Job, due: number | undefined): Promise<void> {
    const armed = job.enabled && due !== undefined;
    await this.parts.records.write((tx) => {
      saveJob(tx, job, this.parts.clock.now());
      dropPending(tx, job.id);
      if (armed) makeSlot(tx, job.id, due);
    });
    await this.parts.timer(job.id, armed ? this.slot(job.id, due) : null);
  }

  private slot(id: ScheduleId, due: number): { due: number; session: SessionKey; body: Json } {
    const body: SlotBody = { kind: "slot", job: id, due };
    return { due, session: asId<SessionKey>(`cron:${id}`), body };
  }

  private quiet(record: Outcome["record"]): Outcome {
    return { end: null, ...(record ? { record } : {}) };
  }

  private check(agent: AgentId, route: ReplyRoute | null): void {
    if (!this.parts.agentExists(agent)) {
      throw new AppError("AGENT_UNKNOWN", { message: `There is no agent "${agent}".`, hint: "See: lares agents list" });
    }
    if (route && !this.parts.routeExists(route)) {
      throw new AppError("CHANNEL_UNKNOWN", {
        message: `Nothing can be delivered to ${route.channel}/${route.account}.`,
        hint: "Configure that channel first, or leave the delivery out.",
      });
    }
  }

  private async must(idOrName: string): Promise<Job> {
    const job = await readJob(this.parts.records, idOrName);
    if (!job)
      throw new AppError("NOT_FOUND", { message: `There is no job "${idOrName}".`, hint: "See: lares schedule list" });
    return job;
  }

  private async view(job: Job): Promise<JobView> {
    const next = await pendingDue(this.parts.records, job.id);
    // One more, for the one that is still to come.
    const slots = await slotsOf(this.parts.records, job.id, SHOWN_SLOTS + 1);
    const recent = slots.filter((slot) => slot.state !== "pending").slice(0, SHOWN_SLOTS);
    const last = recent[0];
    return { ...job, recent, ...(next === undefined ? {} : { next }), ...(last ? { last } : {}) };
  }
}

/** A time that is now is due now; a repeating job begins one step ahead. */
function firstDue(when: When, now: number): number | undefined {
  return when.kind === "at" ? when.at : nextDue(when, now);
}

function nameFrom(prompt: string, ids: IdMaker): string {
  const words = prompt
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "")
    .slice(0, 40);
  return `${words || "job"}-${ids.next("n").slice(-4)}`;
}
