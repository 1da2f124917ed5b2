/** What people read about a heartbeat, and the text its model gets. */
import { quotedName } from "../../core/kit/index.ts";

export const SWITCHED_OFF = "It is switched off.";
export const BEAT_OFF = "The heartbeat is off.";
export const NOTHING_LISTED = "HEARTBEAT.md lists nothing to check.";
export const FIRST_CHECK = "First check: from now on, changes count as new.";
export const NOTHING_NEW = "Nothing new.";
export const NOTHING_TO_SAY = "Nothing to say.";
export const SAID_BEFORE = "It said the same within the last day, so it wasn't sent again.";
export const WATCHING = "It checks, and sends a message when something is new.";
export const PAUSED_BY_PERSON = "A person paused it.";
export const WAS_PAUSED = "It was paused.";
/** The prompt of the job; each beat gets its own text. */
export const BEAT_PROMPT = "Look after HEARTBEAT.md.";
export const LIST_CHANGED = "HEARTBEAT.md changed.";

export function pausedBecause(why: string): string {
  return `Paused: ${why}`;
}

export function silentChecks(checks: number): string {
  return `${checks} checks in a row had nothing to say.`;
}

export function outsideHours(hours: string | undefined): string {
  return `Outside its active hours, ${hours}.`;
}

export function fileChanged(path: string): string {
  return `${path} changed.`;
}

export function itemDue(item: string): string {
  return `Due: ${item}`;
}

/** A line of HEARTBEAT.md whose time isn't understood. */
export function hintTwice(word: string): string {
  return `It has more than one (${word} …), and only the first counts. Make it two lines, or keep one.`;
}

export function badLine(text: string, error: { message: string; hint?: string | undefined }): string {
  const line = text.length > 60 ? `${text.slice(0, 59)}…` : text;
  return [`HEARTBEAT.md, "${line}": ${error.message}`, error.hint].filter(Boolean).join(" ");
}

/** What the model reads at a beat. */
export function beatText(at: {
  items: readonly string[];
  recent: readonly string[];
  problems: readonly string[];
  lastSaid: string | null;
}): string {
  return [
    "Nobody waits for an answer. You look after:",
    ...at.items.map((item) => `- ${item}`),
    at.recent.length ? "New since the last check:" : "Nothing is new; you were asked to look anyway.",
    ...at.recent.map((one) => `- ${one}`),
    ...at.problems,
    ...(at.lastSaid ? [`What you last told the owner: ${at.lastSaid}`] : []),
    "Do what this calls for. Then call heartbeat_tell with a short message if the owner should know something now, else heartbeat_quiet.",
  ].join("\n");
}

/** What happened to an agent since its last heartbeat. */
export interface Recent {
  events: readonly { source: string; n: number }[];
  jobs: readonly { name: string; state: string; n: number; reason: string | null }[];
  /** Approvals waiting for a person. */
  asked: number;
}

/** One sentence for each, for the heartbeat's prompt. */
export function describeRecent({ events, jobs, asked }: Recent): string[] {
  return [
    ...events.map(({ source, n }) => `${n} ${n === 1 ? "event" : "events"} from ${source}.`),
    ...jobs.map(
      ({ name, state, n, reason }) =>
        `The job ${quotedName(name)} ${state} ${n} ${n === 1 ? "time" : "times"}: ${reason}`,
    ),
    ...(asked ? [`${asked} new ${asked === 1 ? "question waits" : "questions wait"} for a person's answer.`] : []),
  ];
}
