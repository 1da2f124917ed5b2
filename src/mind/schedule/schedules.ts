/** Jobs as people and agents manage them: add, change, pause, list. runs.ts handles their slots. */
import type { Ctx, Outcome } from "../../core/contracts/index.ts";
import {
  type AgentId,
  AppError,
  asId,
  HEARTBEAT_PREFIX,
  jobBehindSession,
  type ReplyRoute,
  type ScheduleId,
  sessionKeys,
  type TurnId,
  toJson,
} from "../../core/domain/index.ts";
import type { IdMaker } from "../../core/kit/index.ts";
import { defined, truthy } from "../../core/kit/index.ts";
import { type DeclaredJob, inputsFirst, missingInput } from "./config.ts";
import { type CatchUp, type Condition, type Job, type Thinking, USUAL } from "./job.ts";
import type { ScheduleParts } from "./ports.ts";
import { ScheduleRuns, type ShownSlot, type SlotBody } from "./runs.ts";
import {
  countJobs,
  countMadeIn,
  declaredJobs,
  deleteJob,
  dropPending,
  findSlot,
  forgetZone,
  hasSlot,
  isFinished,
  type JobQuery,
  jobMadeBy,
  listJobPage,
  listJobs,
  listSlots,
  type Mark,
  makeSlot,
  makeZoneFinder,
  pendingDue,
  readJob,
  type Slot,
  saveJob,
  setSeen,
  setZone,
} from "./store.ts";
import { endMoment } from "./times/moments.ts";
import { inWords, nextDue, parseWhen, settled, type When } from "./when.ts";
import { jobRemoved } from "./words.ts";
import { checkZone, wallWords } from "./zone.ts";

/** A job's time, as it was given. */
export interface GivenWhen {
  at?: string | number;
  in?: string;
  every?: string;
  /** The moment `every` counts from. */
  anchor?: string | number;
  cron?: string;
  zone?: string;
}

/** The other settings. Null resets one. */
export interface JobSettings {
  name?: string;
  agent?: string;
  prompt?: string;
  script?: string | null;
  condition?: Condition | null;
  input?: string | null;
  session?: string;
  route?: ReplyRoute | null;
  bestEffort?: boolean;
  model?: string | null;
  thinking?: Thinking | null;
  timeoutS?: number;
  budget?: Job["budget"];
  catchUp?: CatchUp;
  deleteAfterRun?: boolean;
  keepHours?: number;
  alertAfter?: number;
  mayPlan?: boolean;
  quiet?: boolean;
  enabled?: boolean;
}

export interface NewJob extends GivenWhen, JobSettings {
  createdBy: string;
  kind?: Job["kind"];
  madeIn?: string;
}

export interface JobView extends Job {
  next?: number;
  last?: ShownSlot;
  /** The last slots that came, newest first. */
  recent: ShownSlot[];
}

/** As many as fit in a list row. */
const SHOWN_SLOTS = 10;
/** A script runs as `exec` does, and no longer. */
const LONGEST_SCRIPT_S = 600;
/** Most times of one job on a calendar; a job that runs more often is described instead. */
const MOST_ON_CALENDAR = 200;
/** Five weeks: a month's page begins and ends in other months. */
const MOST_CALENDAR_MS = 35 * 86_400_000;
/** More rows than anybody reads; the rest is counted. */
const MOST_JOBS_ON_CALENDAR = 500;

/** More open jobs than anyone keeps track of. Agents can't add beyond this; people can. */
export const MOST_OPEN_JOBS = 200;
/** One message asks for a few reminders, not for hundreds. */
export const MOST_JOBS_PER_TURN = 20;

export class Schedules {
  private readonly parts: ScheduleParts;
  private readonly runs: ScheduleRuns;
  readonly findZone: (person?: string) => Promise<string>;
  /** Serialises adds: calls in one turn may run concurrently, and each has to see what the previous one added. */
  private adding: Promise<unknown> = Promise.resolve();
  /** Serialises starts: someone may press twice, and the second has to see the run that the first started. */
  private starting: Promise<unknown> = Promise.resolve();

  constructor(parts: ScheduleParts) {
    this.parts = parts;
    this.runs = new ScheduleRuns(parts);
    this.findZone = makeZoneFinder(parts.records, parts.zone);
  }

  async add(given: NewJob, declared = false, before?: Job): Promise<JobView> {
    const job = await this.imagine(given, declared, before);
    await this.keep(job, firstDue(job.when, this.parts.clock.now()), true);
    return this.view(job);
  }

  /** Like `add`, for an agent in one of its turns, within an agent's limits. */
  async addInTurn(given: NewJob & { agent: string; madeIn: string }): Promise<JobView> {
    const added = this.adding.then(async () => {
      await this.checkRoom(given.agent, given.madeIn);
      return this.add(given);
    });
    this.adding = added.catch(() => {});
    return added;
  }

  /** Throws if the agent has reached its limit of open jobs, or of jobs added in this turn. */
  async checkRoom(agent: string, turn?: string): Promise<void> {
    const { records } = this.parts;
    if ((await countJobs(records, { agent })).total >= MOST_OPEN_JOBS)
      throw wrong(
        `There are already ${MOST_OPEN_JOBS} open jobs, the most an agent may have.`,
        "Remove some with schedule_remove, or use one job that repeats (every, cron).",
      );
    if (turn !== undefined && (await countMadeIn(records, agent, turn)) >= MOST_JOBS_PER_TURN)
      throw wrong(
        `This turn has already added ${MOST_JOBS_PER_TURN} jobs, the most for one turn.`,
        "Use one job that repeats (every, cron), or tell the person what is left and go on after their next message.",
      );
  }

  /** The schedule in words, if `add` would accept it. Throws what `add` would throw; creates nothing. */
  async rehearse(given: NewJob): Promise<string> {
    const { when, zone } = await this.imagine(given, false);
    return inWords(when, zone);
  }

  /** When something ends that is said as a date or in words, and whether that is over. Throws BAD_REQUEST for what is no time. */
  readEnd(text: string, zone: string): { at: number; isOver: boolean } {
    const now = this.parts.clock.now();
    const at = endMoment(text, now, zone);
    return { at, isOver: at <= now };
  }

  /** The absolute time of a one-off job, independent of when it is read; undefined for a repeating one. */
  findMoment(given: Parameters<typeof settled>[0]): string | undefined {
    const at = settled(given, this.parts.clock.now(), given.zone ?? this.parts.zone());
    return "at" in at ? at.at : undefined;
  }

  private async imagine(given: NewJob, declared: boolean, before?: Job): Promise<Job> {
    const { clock, ids, records } = this.parts;
    const now = clock.now();
    const zone = given.zone ?? this.parts.zone();
    const when = parseWhen(given, now, zone);
    const name = given.name ?? nameFrom(given.prompt || given.script || "", ids);
    const known = before ?? (await readJob(records, name));
    // A finished reminder has left the list, so its name is free again; its history stays.
    const isFree = before || (declared && known?.declared) || (known && (await isFinished(records, known.id)));
    if (known && !isFree) {
      throw new AppError("CONFLICT", {
        message: `There is already a job "${name}".`,
        hint: "Choose another name, or update it.",
      });
    }
    if (name.startsWith(HEARTBEAT_PREFIX) && given.kind !== "beat") {
      throw wrong(`"${name}" is the name of a heartbeat.`, "Choose another name.");
    }
    const { at: _at, in: _in, every: _every, anchor: _anchor, cron: _cron, ...changes } = given;
    const job: Job = {
      ...USUAL,
      ...named(changes as Partial<Job>),
      id: known?.id ?? asId<ScheduleId>(ids.next("job")),
      name,
      when,
      agent: asId<AgentId>(given.agent ?? "main"),
      zone,
      enabled: given.enabled ?? true,
      declared,
      createdBy: given.createdBy,
      failures: 0,
    };
    await this.check(job);
    return job;
  }

  async update(idOrName: string, change: GivenWhen & JobSettings): Promise<JobView> {
    const job = await this.must(idOrName);
    const now = this.parts.clock.now();
    const { at: _at, in: _in, every: _every, anchor: _anchor, cron: _cron, zone, ...changes } = change;
    const changed = changedWhen(job, change, now);
    // Prompt and script exclude each other: giving one clears the other.
    const insteadOfScript = changes.prompt ? { script: null } : {};
    const instead = changes.script ? { prompt: "" } : insteadOfScript;
    const next: Job = {
      ...job,
      ...instead,
      ...named(changes as Partial<Job>),
      zone: zone ?? job.zone,
      when: changed ?? job.when,
      failures: change.enabled ? 0 : job.failures,
    };
    if (next.name !== job.name && (await readJob(this.parts.records, next.name))) {
      throw new AppError("CONFLICT", { message: `There is already a job "${next.name}".` });
    }
    await this.check(next);
    const pending = await pendingDue(this.parts.records, job.id);
    const due = changed || !pending ? firstDue(next.when, now) : pending;
    await this.keep(next, due, change.condition !== undefined);
    return this.view(next);
  }

  /**
   * Runs it again later. A one-off job is moved; a repeating one keeps its times and gets one extra run. Idempotent per `key`.
   */
  async snooze(idOrName: string, given: Pick<GivenWhen, "at" | "in" | "zone">, key: string): Promise<JobView> {
    const job = await this.must(idOrName);
    if (job.kind === "beat") throw wrong("A heartbeat can't be snoozed.", "Pause it instead: lares heartbeat pause");
    const zone = given.zone ?? job.zone;
    const when = parseWhen(given, this.parts.clock.now(), zone);
    if (when.kind !== "at") throw wrong("That time repeats.", 'Give a single time: "in 10 minutes" or "tomorrow 9am".');
    await this.checkPutOff(job, given);
    if (job.when.kind === "at" && !job.declared) return this.update(job.id, { at: when.at, zone, enabled: true });
    const createdBy = `snooze ${job.id} ${key}`;
    const known = await this.madeBy(createdBy);
    if (known) return known;
    await this.checkRoom(job.agent);
    const { id: _id, when: _when, enabled: _enabled, failures: _failures, declared: _declared, ...same } = job;
    const name = `${job.name.slice(0, 80)}, again ${this.parts.ids.next("n").slice(-4)}`;
    return this.add({ ...same, name, zone, at: when.at, createdBy });
  }

  /**
   * "1 hour" from now may come before a single run that isn't due yet, and counting from its time would put it off twice when the call
   * is repeated. Hence a time has to be given then. Throws and says which.
   */
  async checkPutOff(job: Pick<Job, "id" | "name" | "when" | "zone">, given: { at?: string | number; in?: string }) {
    const span = given.in ?? (typeof given.at === "string" && /^\s*in\s/i.test(given.at) ? given.at : undefined);
    if (job.when.kind !== "at" || span === undefined) return;
    const due = await pendingDue(this.parts.records, job.id);
    const now = this.parts.clock.now();
    if (due === undefined || due <= now) return;
    const fromNow = parseWhen({ in: span }, now, job.zone);
    if (fromNow.kind === "at" && fromNow.at >= due) return;
    const later = parseWhen({ in: span }, due, job.zone);
    const time = wallWords(later.kind === "at" ? later.at : due, job.zone);
    throw wrong(
      `${job.name} isn't due until ${wallWords(due, job.zone)}, so it can't be snoozed from now.`,
      `Give the new time instead. That much later is "${time}".`,
    );
  }

  /**
   * Its runs that wait for an approval end with it (SCHEDULE-17); one that is at work goes on, because it may be the run that removes
   * its job. Returns the codes of the approvals that were withdrawn.
   */
  async remove(idOrName: string): Promise<string[]> {
    const job = await this.must(idOrName);
    // First: if Lares dies in between, the job is still there, and removing it again finds the rest.
    const withdrawn = await this.parts.withdraw((asked) => this.waitsFor(job.id, asked), jobRemoved(job.name));
    await this.runs.commit(job.id, null, (tx) => deleteJob(tx, job.id));
    return withdrawn;
  }

  private async waitsFor(id: ScheduleId, { turn, session }: { turn: TurnId; session: string }): Promise<boolean> {
    const job = (await findSlot(this.parts.records, turn))?.job ?? jobBehindSession(session);
    return job === id && (await this.parts.turn(turn))?.state === "parked";
  }

  /** Runs it now, outside its schedule and ignoring its condition. Throws while a run of it is open (SCHEDULE-7). */
  run(idOrName: string): Promise<{ turn: TurnId }> {
    const started = this.starting.then(() => this.runNow(idOrName));
    this.starting = started.catch(() => {});
    return started;
  }

  private async runNow(idOrName: string): Promise<{ turn: TurnId }> {
    const job = await this.must(idOrName);
    const open = await this.runs.open(job.id);
    if (open) throw alreadyOpen(job.name, open);
    const { agent, route, model } = job;
    const obstacle = this.parts.obstacle({ agent, route, ...(job.script === null ? { model } : {}) });
    if (obstacle) throw obstacle;
    const now = await this.freeMoment(job.id);
    if (job.kind === "beat") {
      const found = await this.parts.beats?.check(job.agent, now, true);
      if (!found || "quiet" in found)
        throw wrong(found?.quiet ?? "There is no heartbeat.", "Write something in its HEARTBEAT.md first.");
      const { text: say, note, given: brought } = found;
      return this.runs.start(job, now, { go: true, seen: null, say, note, given: toJson(brought) });
    }
    return this.runs.start({ ...job, condition: null }, now, { go: true, seen: null });
  }

  /** Now, or the next free millisecond if a slot exists there: an extra run has its own slot. */
  private async freeMoment(id: ScheduleId): Promise<number> {
    let at = this.parts.clock.now();
    while (await hasSlot(this.parts.records, id, at)) at++;
    return at;
  }

  now(): number {
    return this.parts.clock.now();
  }

  /** Null resets to the default. Throws if it isn't a time zone. Existing schedules keep theirs. */
  async setZone(person: string, zone: string | null): Promise<void> {
    if (zone !== null) checkZone(zone);
    const at = this.parts.clock.now();
    await this.parts.records.write((tx) =>
      zone === null ? forgetZone(tx, person) : setZone(tx, { person, zone, at }),
    );
  }

  /** Previews a schedule. Throws as `add` does; creates nothing. */
  preview(given: GivenWhen, count: number) {
    const { clock } = this.parts;
    const zone = given.zone ?? this.parts.zone();
    const when = parseWhen(given, clock.now(), zone);
    const next: number[] = [];
    for (let due = firstDue(when, clock.now()); due !== undefined && next.length < count; due = nextDue(when, due)) {
      next.push(due);
    }
    return { words: inWords(when, zone), next };
  }

  /** When jobs will run in a span of time. Heartbeats are left out, because they would crowd out everything else. */
  async calendar(
    from: number,
    to: number,
  ): Promise<{ jobs: { job: Job; times: number[]; more: boolean }[]; left: number }> {
    if (!(to > from) || to - from > MOST_CALENDAR_MS) {
      throw new AppError("BAD_REQUEST", {
        message: "A calendar can't show that period.",
        hint: "Give from and to in milliseconds, at most 35 days apart.",
      });
    }
    const now = this.parts.clock.now();
    const planned = await listJobPage(this.parts.records.committed, { limit: MOST_JOBS_ON_CALENDAR });
    const jobs = planned.map(({ job, next }) => {
      const times: number[] = [];
      for (let at = next; at !== undefined && at < to && times.length <= MOST_ON_CALENDAR; ) {
        if (at >= from) times.push(at);
        at = nextDue(job.when, Math.max(at, from - 1, now));
      }
      return { job, times: times.slice(0, MOST_ON_CALENDAR), more: times.length > MOST_ON_CALENDAR };
    });
    const all = await countJobs(this.parts.records.committed, {});
    return { jobs: jobs.filter(({ times }) => times.length > 0), left: Math.max(0, all.planned - planned.length) };
  }

  /**
   * Jobs that people created, next due first. A job that runs while you page may appear again on a later page; none is missed.
   */
  async page(
    q: JobQuery & { cursor?: string | undefined; limit: number },
  ): Promise<{ jobs: JobView[]; total: number; planned: number; cursor?: string }> {
    const db = this.parts.records.committed;
    const after = q.cursor === undefined ? undefined : parseMark(q.cursor);
    // One more, to know whether there are more.
    const found = await listJobPage(db, { ...q, after, limit: q.limit + 1 });
    const shown = found.slice(0, q.limit);
    const jobs = await Promise.all(shown.map(({ job }) => this.view(job)));
    const counts = await countJobs(db, q);
    const last = found.length > q.limit ? shown.at(-1)?.mark : undefined;
    return { jobs, ...counts, ...(last ? { cursor: Buffer.from(JSON.stringify(last)).toString("base64url") } : {}) };
  }

  async list(of: { kind?: Job["kind"] } = {}): Promise<JobView[]> {
    const jobs = await listJobs(this.parts.records.committed, of.kind ?? "work");
    return Promise.all(jobs.map((job) => this.view(job)));
  }

  /** What another job may name as its input: names and ids of those that aren't in the file. */
  async names(): Promise<string[]> {
    const jobs = await listJobs(this.parts.records.committed, "work");
    return jobs.filter((job) => !job.declared).flatMap(({ name, id }) => [name, id]);
  }

  async get(idOrName: string): Promise<JobView> {
    return this.view(await this.must(idOrName));
  }

  /** The job that this creator made earlier. */
  async madeBy(createdBy: string): Promise<JobView | undefined> {
    const job = await jobMadeBy(this.parts.records, createdBy);
    return job && this.view(job);
  }

  /** The job this turn belongs to: everything in a run's own session, and in its sub-agents' sessions, works for the job. */
  async jobBehind(turn: TurnId, session: string): Promise<Job | undefined> {
    const slot = await findSlot(this.parts.records, turn);
    const id = slot?.job ?? jobBehindSession(session);
    return id === undefined ? undefined : readJob(this.parts.records, id);
  }

  async history(idOrName: string, limit: number): Promise<ShownSlot[]> {
    const job = await this.must(idOrName);
    return this.shown(await listSlots(this.parts.records.committed, job.id, limit));
  }

  /**
   * Declared jobs follow the settings file: changed ones are updated, missing ones removed. Returns any problems, in sentences.
   */
  async declare(jobs: readonly DeclaredJob[]): Promise<string[]> {
    const known = await declaredJobs(this.parts.records);
    const problems: string[] = [];
    for (const job of known) {
      if (job.kind === "work" && !jobs.some((d) => d.name === job.name)) await this.remove(job.id);
    }
    for (const { deliver, ...given } of inputsFirst(jobs)) {
      const before = known.find((job) => job.name === given.name);
      const print = JSON.stringify([given, deliver ?? null]);
      if (before?.createdBy === `lares.yaml ${print}`) continue;
      try {
        await this.add({ ...(given as NewJob), route: deliver ?? null, createdBy: `lares.yaml ${print}` }, true);
      } catch (error) {
        // One bad job stops neither the others nor Lares.
        if (!(error instanceof AppError)) throw error;
        problems.push([`schedules: "${given.name}": ${error.message}`, error.hint].filter(Boolean).join(" "));
      }
    }
    return problems;
  }

  /** One of Lares' own jobs, e.g. a heartbeat: created, updated to match, or left as it is. */
  async ensure(given: NewJob & { name: string }): Promise<void> {
    const before = await readJob(this.parts.records, given.name);
    if (before?.createdBy === given.createdBy) return;
    // Under the same id, so that its history and cost stay with it.
    await this.add(given, false, before);
  }

  fire(ctx: Ctx, body: SlotBody): Promise<Outcome> {
    return this.runs.fire(ctx, body);
  }

  giveUp(ctx: Ctx, body: SlotBody, reason: string): Promise<Outcome> {
    return this.runs.giveUp(ctx, body, reason);
  }

  ended(turn: TurnId): Promise<void> {
    return this.runs.ended(turn);
  }

  /** A job whose answer nobody got has failed. Returns how to stop listening. */
  listen(failed: (error: unknown) => void): () => void {
    return this.parts.bus.on((event) => {
      if (event.event !== "delivery" || (event.state !== "failed" && event.state !== "expired")) return;
      this.runs.undelivered(event.turn, event.error ?? event.state).catch(failed);
    });
  }

  settle(): Promise<void> {
    return this.runs.settle();
  }

  sweep(): Promise<number> {
    return this.runs.sweep();
  }

  private async keep(job: Job, due: number | undefined, looks: boolean): Promise<void> {
    const armed = job.enabled && due !== undefined;
    const { condition } = job;
    // From now on, "changed" is relative to the current state.
    const seen =
      looks && condition && "changed" in condition ? await this.parts.files.mark(job.agent, condition.changed) : null;
    await this.runs.commit(job.id, armed ? due : null, (tx) => {
      saveJob(tx, job, this.parts.clock.now());
      if (looks) setSeen(tx, job.id, seen);
      dropPending(tx, job.id);
      if (armed) makeSlot(tx, job.id, due);
    });
  }

  /** Refuses a job that could never run, with the reason and a working example. */
  private async check(job: Job): Promise<void> {
    if (!job.prompt.trim() && job.script === null) {
      throw wrong(
        "There's no prompt or script, so there's nothing to do.",
        'Give a prompt: "Summarise my mail", or a script: "df -h".',
      );
    }
    if (job.prompt.trim() && job.script !== null) {
      throw wrong("It has both a prompt and a script.", "Give one of them: a script runs without a model.");
    }
    if (job.script !== null && (job.model || job.thinking)) {
      throw wrong("A script needs no model.", "Leave model and thinking out, or give a prompt instead.");
    }
    if (job.script !== null && job.timeoutS > LONGEST_SCRIPT_S) {
      throw wrong(`A script may take ${LONGEST_SCRIPT_S} seconds at most.`, "Start longer work in the background.");
    }
    if (!/^(isolated|main|[a-z]+:.+)$/.test(job.session)) {
      throw wrong(
        `"${job.session}" isn't a session.`,
        `Say "isolated", "main", or a key: ${sessionKeys.main("main")}.`,
      );
    }
    if (job.session !== "isolated" && job.session !== "main" && job.script !== null) {
      throw wrong("A script runs in its own session.", 'Leave session out, or say "isolated".');
    }
    const obstacle = this.parts.obstacle({
      agent: job.agent,
      // A paused job may point to a channel that isn't connected yet; it is checked again when resumed.
      route: job.enabled ? job.route : null,
      ...truthy({ model: job.model }),
    });
    if (obstacle) throw obstacle;
    await this.checkNeeds(job);
  }

  private async checkNeeds({ agent, condition, input, name }: Job): Promise<void> {
    if (condition && !("script" in condition)) {
      await this.parts.files.mark(agent, "changed" in condition ? condition.changed : condition.exists);
    }
    if (input === null) return;
    const missing = missingInput({ name, input }, (await readJob(this.parts.records, input)) !== undefined);
    if (missing) throw missing;
  }

  private async must(idOrName: string): Promise<Job> {
    const job = await readJob(this.parts.records, idOrName);
    if (!job)
      throw new AppError("NOT_FOUND", { message: `There is no job "${idOrName}".`, hint: "See: lares schedule list" });
    return job;
  }

  private shown(slots: readonly Slot[]): Promise<ShownSlot[]> {
    return Promise.all(slots.map((slot) => this.runs.shown(slot)));
  }

  private async view(job: Job): Promise<JobView> {
    // One more, for the pending slot.
    const slots = await listSlots(this.parts.records, job.id, SHOWN_SLOTS + 1);
    const next = job.enabled ? slots.findLast((slot) => slot.state === "pending")?.due : undefined;
    const recent = await this.shown(slots.filter((slot) => slot.state !== "pending").slice(0, SHOWN_SLOTS));
    // While one waits for a person the next ones are skipped: what matters is the one that waits.
    const last = recent.find((slot) => slot.state === "parked") ?? recent[0];
    return { ...job, recent, ...defined({ next, last: last || undefined }) };
  }
}

/** A one-off time of "now" is due now; a repeating job starts one step ahead. */
function firstDue(when: When, now: number): number | undefined {
  return when.kind === "at" ? when.at : nextDue(when, now);
}

function parseMark(cursor: string): Mark {
  try {
    const [due, name] = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8")) as unknown[];
    if (typeof due === "number" && typeof name === "string") return [due, name];
  } catch {
    // Reported below.
  }
  throw wrong(`"${cursor}" isn't a cursor.`, "Give the cursor from the previous page, or none for the first page.");
}

/** Drops unset fields: an absent setting changes nothing. */
function named(changes: Partial<Job>): Partial<Job> {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
}

function alreadyOpen(name: string, { turn, code }: { turn: TurnId; code?: string }): AppError {
  return code
    ? new AppError("CONFLICT", {
        message: `The last run of "${name}" is still waiting for your approval (${code}).`,
        hint: `Answer it first: lares approve ${code}, or lares deny ${code}`,
      })
    : new AppError("CONFLICT", {
        message: `"${name}" is already running.`,
        hint: `Wait until it's done. To see its progress: lares turns get ${turn}`,
      });
}

function wrong(message: string, hint: string): AppError {
  return new AppError("BAD_REQUEST", { message, hint });
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

/** When a job is due after a change, if that changes its times or the zone they are in. */
function changedWhen(job: Job, change: GivenWhen, now: number): When | undefined {
  const { at, in: span, every, anchor, cron, zone } = change;
  const zoned = zone ?? job.zone;
  if ([at, span, every, cron, anchor].some((one) => one !== undefined)) {
    const rhythm = every === undefined && job.when.kind === "every" ? job.when.everyMs : undefined;
    const isShifted = anchor !== undefined && rhythm !== undefined;
    return parseWhen(isShifted ? { every: rhythm, anchor } : change, now, zoned);
  }
  // The same cron fields in another zone are a different schedule.
  if (zone !== undefined && job.when.kind === "cron") return parseWhen({ cron: job.when.cron, zone }, now, zoned);
  return undefined;
}
