/** `lares schedule`: what happens by itself, when, and whether the last time went well. */

import { assertNever } from "../../../core/domain/index.ts";
import { defined, truthy } from "../../../core/kit/index.ts";
import type { Result } from "../../../core/protocol/index.ts";
import { confirmed } from "../confirm.ts";
import type { Action, Context } from "../context.ts";
import { EXIT, usage } from "../exit.ts";
import { ago, duration, oneLine, plural, STATES, shortId, when } from "../format.ts";
import type { Paint } from "../output.ts";
import { table } from "../output.ts";
import { pick } from "../pick.ts";
import { cut } from "../width.ts";
import { commonWords } from "../words/common.ts";
import { scheduleWords as words } from "../words/schedule.ts";
import { reportDeclined } from "./sessions.ts";

type Job = Result<"schedule.add">;
type SlotState = NonNullable<Job["last"]>["state"];

/** Runs of a list. */
const HISTORY = 50;

export const list: Action = async (ctx) => {
  const { out, clock, options } = ctx;
  const { search, agent, finished } = options;
  const { jobs, total } = await pages(ctx, { search, agent, finished }, options.limit ?? PAGE);
  // The one that runs next stands next to the prompt.
  jobs.reverse();
  out.items(jobs);
  if (!jobs.length && (search || agent)) {
    out.say(words.noMatch(out.hint));
    return EXIT.done;
  }
  if (!jobs.length) {
    out.say(words.none(out.hint));
    return EXIT.done;
  }
  const soon = jobs.filter((job) => job.enabled && job.next !== undefined).at(-1);
  const first = soon ? words.theNext(soon.name, until(soon.next, clock.now())) : words.noneDue;
  const left = total - jobs.length;
  out.say(
    `${plural(total, "schedule")}${first}.`,
    ...(left ? [out.paint(words.laterOnes(left, total), "dim")] : []),
    ...table(
      jobs.map((job) => [
        job.enabled ? "○" : "–",
        shortId(job.id),
        oneLine(job.name),
        oneLine(job.words),
        job.enabled ? comes(job, clock.now()) : "paused",
        job.last ? mark(job.last.state, out.paint) : "",
        job.declared ? words.fromFile : "",
      ]),
      "  ",
    ),
  );
  return EXIT.done;
};

export const add: Action = async (ctx, [prompt = ""]) => {
  const { options } = ctx;
  if (!prompt === !options.script) {
    throw usage(prompt ? words.promptOrScript : words.sayWhat, words.addHint);
  }
  const times = [options.in, options.at, options.every, options.cron].filter((time) => time !== undefined);
  if (times.length !== 1) {
    throw usage(times.length ? words.onlyOneTime : words.sayWhen, words.whenHint);
  }
  const job = await ctx.rpc.call("schedule.add", {
    ...truthy({ prompt }),
    ...asked(ctx),
  });
  return tell(ctx, words.scheduled(job.name), job);
};

export const update: Action = async (ctx, [typed = ""]) => {
  const { options } = ctx;
  if (options.pause && options.resume) throw usage(words.pauseOrResume);
  const enabled = options.pause ? false : options.resume;
  const changes = { ...asked(ctx), prompt: options.prompt, enabled };
  if (Object.values(changes).every((value) => value === undefined)) {
    throw usage(words.nameChange, words.nameChangeHint);
  }
  const { id } = await find(ctx, typed);
  const job = await ctx.rpc.call("schedule.update", { id, ...changes });
  return tell(ctx, job.enabled ? words.changed(job.name) : words.paused(job.name), job);
};

export const remove: Action = async (ctx, [typed = ""]) => {
  const { rpc, out } = ctx;
  const job = await find(ctx, typed);
  if (!(await confirmed(ctx, words.removeQuestion(job.name, job.words)))) return reportDeclined(ctx);
  const done = await rpc.call("schedule.remove", { id: job.id });
  out.document({ id: job.id, ...done });
  out.say(done.removed ? words.removed(job.name, done.withdrawn ?? []) : words.alreadyRemoved(job.name));
  return EXIT.done;
};

export const run: Action = async (ctx, [typed = ""]) => {
  const { rpc, out } = ctx;
  const job = await find(ctx, typed);
  const done = await rpc.call("schedule.run", { id: job.id });
  out.document(done);
  out.say(words.started(out.hint, job.name, done.turn));
  return EXIT.done;
};

export const snooze: Action = async (ctx, [typed = ""]) => {
  const { options } = ctx;
  if (options.in !== undefined && options.at !== undefined) throw usage(words.inOrAt);
  const job = await find(ctx, typed);
  const later = options.at === undefined ? { in: options.in ?? "10 minutes" } : { at: options.at };
  const snoozed = await ctx.rpc.call("schedule.snooze", { id: job.id, ...later, zone: options.zone });
  return tell(ctx, words.snoozed(snoozed.name), snoozed);
};

export const history: Action = async (ctx, [typed = ""]) => {
  const { rpc, out, options, clock } = ctx;
  const job = await find(ctx, typed);
  const limit = options.limit ?? HISTORY;
  // One more than is shown tells whether there are more.
  const found = (await rpc.call("schedule.history", { id: job.id, limit: Math.min(limit + 1, 1000) })).slots;
  const slots = found.slice(0, limit);
  const newestLast = [...slots].sort((a, b) => a.due - b.due);
  out.items(newestLast);
  const skipped = slots.filter((slot) => slot.state === "skipped").length;
  const ran = slots.filter((slot) => slot.state !== "pending").length - skipped;
  const bad = slots.filter((slot) => slot.state === "failed" || slot.state === "missed").length;
  out.say(
    ran + skipped
      ? words.ran(job.name, ran, { bad, skipped, isMore: found.length > limit })
      : words.notYet(job.name, until(job.next, clock.now())),
    ...table(
      newestLast.map((slot) => [
        mark(slot.state, out.paint),
        when(slot.due),
        slot.startedAt !== undefined && slot.endedAt !== undefined ? duration(slot.endedAt - slot.startedAt) : "",
        slot.turn ?? "",
        slot.approval ? words.approve(out.hint, slot.approval) : oneLine(slot.reason ?? ""),
      ]),
      "  ",
    ),
  );
  return EXIT.done;
};

export const calendar: Action = async (ctx) => {
  const { rpc, out, options, clock } = ctx;
  const from = clock.now();
  const { jobs, left } = await rpc.call("schedule.calendar", { from, to: from + (options.days ?? 7) * 86_400_000 });
  const all = jobs.flatMap(({ name, times }) => times.map((at) => ({ name, at }))).sort((a, b) => a.at - b.at);
  out.items(all);
  const cutOff = jobs.filter((job) => job.more).map((job) => job.name);
  out.say(
    all.length ? words.runs(all.length, options.days ?? 7) : words.nothingDue,
    ...table(
      all.map(({ name, at }) => [when(at), oneLine(name)]),
      "  ",
    ),
    ...(cutOff.length ? [words.moreOften(cutOff.join(", "))] : []),
    ...(left ? [words.laterRuns(out.hint, left)] : []),
  );
  return EXIT.done;
};

function conditionWords(condition: NonNullable<Job["condition"]>): string {
  if ("script" in condition) return `$ ${oneLine(condition.script)}`;
  return "changed" in condition ? words.hasChanged(condition.changed) : words.exists(condition.exists);
}

function tell({ out, clock }: Context, what: string, job: Job): number {
  out.document(job);
  out.say(
    words.one(what, job.words, job.enabled, until(job.next, clock.now())),
    ...table(
      [
        ["id", job.id],
        ["agent", job.agent],
        ["does", cut(oneLine(job.script ? `$ ${job.script}` : job.prompt), 80)],
        ...(job.condition ? [["if", conditionWords(job.condition)]] : []),
        ...(job.deliver ? [["to", Object.values(job.deliver).join("/")]] : []),
      ],
      "  ",
    ),
  );
  return EXIT.done;
}

const PAGE = 100;
/** As many as the gateway gives at once. */
const LARGEST_PAGE = 500;

/** As many as wanted, page by page, the next due first. */
async function pages(
  { rpc }: Context,
  q: { search?: string | undefined; agent?: string | undefined; finished?: boolean | undefined },
  most: number,
) {
  const found = new Map<string, Job>();
  let total = 0;
  for (let cursor: string | undefined; ; ) {
    const limit = Math.min(most - found.size, LARGEST_PAGE);
    const page = await rpc.call("schedule.list", { ...q, limit, ...truthy({ cursor }) });
    for (const job of page.jobs) found.set(job.id, job);
    ({ total, cursor } = page);
    if (!cursor || found.size >= most) return { jobs: [...found.values()], total };
  }
}

/** Among those whose name or id has it; else among the first, to say what was meant. */
async function find(ctx: Context, typed: string): Promise<Job> {
  const like = typed ? await pages(ctx, { search: typed.slice(0, 128), finished: true }, LARGEST_PAGE) : undefined;
  const { jobs } = like?.jobs.length ? like : await pages(ctx, {}, LARGEST_PAGE);
  return pick(jobs, typed, { noun: "schedule", list: words.list });
}

/** What the flags say; what was not named is left out. */
function asked({ options: o }: Context) {
  const times = { in: o.in, at: o.at, every: o.every, cron: o.cron, zone: o.zone };
  return {
    ...times,
    anchor: o.anchor,
    name: o.name,
    agent: o.agent,
    session: o.session,
    model: o.model,
    catchUp: o.catchUp,
    deliver: readTarget(o.deliver, o.thread),
    script: o.script,
    condition: readCondition(o),
    input: o.from,
    thinking: o.thinking,
    timeoutS: o.timeout,
    budget: o.budget === undefined ? undefined : { dollars: o.budget },
    bestEffort: o.bestEffort,
    deleteAfterRun: o.once,
    keepHours: o.keep,
    alertAfter: o.alertAfter,
    mayPlan: o.mayPlan,
    quiet: o.mayBeQuiet,
  };
}

function readCondition(o: Context["options"]) {
  const given = [
    ...(o.if === undefined ? [] : [{ script: o.if }]),
    ...(o.ifChanged === undefined ? [] : [{ changed: o.ifChanged }]),
    ...(o.ifExists === undefined ? [] : [{ exists: o.ifExists }]),
  ];
  if (given.length > 1) throw usage(words.onlyOneCondition);
  return given[0];
}

export function readTarget(given: string | undefined, thread: string | undefined) {
  if (given === undefined) return undefined;
  if (given === "none") return null;
  const [, channel, account, chat] = /^([^/]+)\/([^/]+)\/(.+)$/.exec(given) ?? [];
  if (!channel || !account || !chat) {
    throw usage(words.notATarget(given), words.notATargetHint);
  }
  return { channel, account, chat, ...defined({ thread }) };
}

/** A single run that has a next one failed and is tried again. */
function comes({ when: { kind }, failures, next }: Job, now: number): string {
  const isAgain = kind === "at" && failures > 0 && next !== undefined;
  return isAgain ? words.triedAgain(until(next, now), failures) : until(next, now);
}

function until(next: number | undefined, now: number): string {
  if (next === undefined) return words.noMore;
  return next <= now ? words.aboutToRun(ago(next, now)) : commonWords.inTime(duration(next - now));
}

function mark(state: SlotState, paint: Paint): string {
  switch (state) {
    case "done":
      return paint("✓ done", "ok");
    case "failed":
      return paint("✕ failed", "fail");
    case "missed":
      return paint("✕ missed", "wait");
    case "skipped":
      return paint("– skipped", "dim");
    case "parked":
      return paint(`${STATES.parked.glyph} ${STATES.parked.word}`, "wait");
    case "running":
      return "● running";
    case "pending":
      return "○ pending";
    default:
      return assertNever(state);
  }
}
