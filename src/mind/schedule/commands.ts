/**
 * `/schedule` lists, adds, runs, pauses, resumes, snoozes and removes jobs from any chat. `/timezone` sets the person's time
 * zone.
 */
import { AppError, creatorKeys, type InboundMessage, type SessionKey } from "../../core/domain/index.ts";
import type { GivenWhen, JobView, Schedules } from "./schedules.ts";
import { duration } from "./times/spans.ts";
import { inWords, momentWords } from "./when.ts";
import {
  definedInSettings,
  jobLine,
  moreJobs,
  NOTHING_SCHEDULED,
  ONLY_OWNER_CHANGES,
  paused,
  removed,
  resumed,
  SCHEDULE_HINT,
  scheduled,
  snoozed,
  started,
  whenText,
  zoneText,
} from "./words.ts";

const SHOWN = 30;

export async function scheduleWords(
  schedules: Schedules,
  call: { args: string; session: SessionKey; person: string; message: InboundMessage },
  called: (text: string) => string,
): Promise<string> {
  const { args, message } = call;
  if (!args) return listed(await schedules.page({ limit: SHOWN }), called);
  const [, verb, name] = /^(run|pause|resume|snooze|remove)\s+(\S[\s\S]*)$/i.exec(args) ?? [];
  const planned = plannedIn(args);
  if (!verb && !planned) {
    throw new AppError("BAD_REQUEST", {
      message: `"${args}" isn't a time with a task, nor a command.`,
      hint: SCHEDULE_HINT,
    });
  }
  // Schedules outlive the chat and act with the owner's rights (I12).
  if (message.authority !== "owner") return ONLY_OWNER_CHANGES;
  if (verb) return changed(schedules, verb.toLowerCase(), name!.trim(), message);
  return added(schedules, call, planned!.time, planned!.task);
}

/** "tomorrow 9am: water the plants", with or without "add" before it. */
function plannedIn(args: string): { time: string; task: string } | undefined {
  const plan = args.replace(/^add\s+/i, "");
  const colon = plan.search(/:\s/);
  const [time, task] = [plan.slice(0, Math.max(0, colon)).trim(), plan.slice(colon + 1).trim()];
  return time && task ? { time, task } : undefined;
}

/** Idempotent per message, because a platform may deliver it twice. */
async function added(
  schedules: Schedules,
  { session, person, message }: { session: SessionKey; person: string; message: InboundMessage },
  time: string,
  prompt: string,
): Promise<string> {
  const mark = message.platformId ?? message.idempotencyKey;
  const createdBy = creatorKeys.chat(message.route, mark ?? message.sender.id);
  const known = mark === undefined ? undefined : await schedules.madeBy(createdBy);
  const zone = await schedules.findZone(person);
  const given = { ...readWhen(time), zone, prompt, session, route: message.route, createdBy };
  const job = known ?? (await schedules.add(given));
  return scheduled(job.name, plannedWords(job));
}

/** Always includes the time and zone, so that the person sees how it was understood. */
function plannedWords({ when, next, zone }: JobView): string {
  const isOnce = when.kind === "at" || next === undefined;
  return whenText(inWords(when, zone), isOnce ? undefined : momentWords(next, zone));
}

export async function zoneWords(schedules: Schedules, person: string, args: string): Promise<string> {
  if (args) await schedules.setZone(person, /^(default|none)$/i.test(args) ? null : args);
  const zone = await schedules.findZone(person);
  return zoneText(zone, momentWords(schedules.now(), zone), args !== "");
}

async function changed(schedules: Schedules, verb: string, name: string, message: InboundMessage): Promise<string> {
  switch (verb) {
    case "run":
      await schedules.run(name);
      return started(name);
    case "remove": {
      if ((await schedules.get(name)).declared) return definedInSettings(name);
      return removed(name, await schedules.remove(name));
    }
    case "snooze": {
      // "water-the-plants-ab12 20 minutes": names have no spaces unless somebody gave them some.
      const [, of = name, later = "in 10 minutes"] = /^(\S+)\s+(\S[\s\S]*)$/.exec(name) ?? [];
      const key = message.platformId ?? message.idempotencyKey ?? String(schedules.now());
      const at = isSpan(later) ? `in ${later.replace(/^in\s/i, "")}` : later;
      const job = await schedules.snooze(of, { at }, key);
      return snoozed(job.name, plannedWords(job));
    }
    default:
      await schedules.update(name, { enabled: verb === "resume" });
      return verb === "resume" ? resumed(name) : paused(name);
  }
}

/** "20 minutes", as against "tonight" or "friday 9am". */
function isSpan(text: string): boolean {
  try {
    return duration(text) > 0;
  } catch {
    return false;
  }
}

/** "in 30 minutes", "every 2 hours", "cron 0 7 * * 1-5", else a moment. */
function readWhen(text: string): GivenWhen {
  const [, word, rest] = /^(in|every|cron)\s+(\S[\s\S]*)$/i.exec(text) ?? [];
  switch (word?.toLowerCase()) {
    case "in":
      return { in: rest! };
    case "every":
      return { every: rest! };
    case "cron":
      return { cron: rest! };
    default:
      return { at: text };
  }
}

function listed({ jobs, total }: { jobs: JobView[]; total: number }, called: (text: string) => string): string {
  const line = (job: JobView) => jobLine(job.name, inWords(job.when, job.zone), job.enabled);
  const more = total > jobs.length ? [called(moreJobs(total - jobs.length))] : [];
  return [...jobs.map(line), ...more].join("\n") || NOTHING_SCHEDULED;
}
