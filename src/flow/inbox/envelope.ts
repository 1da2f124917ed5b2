/**
 * The envelope: one line of Lares' own before each message, so that a model knows when it is, who speaks and where.
 *
 * INBOX-3: computed once, when the message is admitted, and stored with it: no replay, restart or change of zone alters a byte.
 * INBOX-4: a separate content part, never in the person's text; names in it are cleaned and quoted, so nobody can forge one.
 */
import type { Voice } from "../../core/domain/index.ts";
import { longStamp, quotedName, roughly, type Stamp, stampIn } from "../../core/kit/index.ts";

export interface EnvelopeFacts {
  /** When it was admitted, and when it was said if the platform tells. */
  at: number;
  saidAt?: number;
  /** IANA name: the speaker's zone if known, else the owner's. */
  zone: string;
  /** Whose clock that is. */
  whose?: string;
  /** The message before it in this session. `shown`: the day a reader of its line has in mind; missing when no date is in view. */
  last?: { at: number; channel: string; shown?: ShownDay; clock?: SessionClock };
  channel: string;
  /** The channel in words, with what it shows: Place tells of the one the session began on. */
  where?: string;
  /** Where several people can speak: who does. */
  speaker?: { name: string; standing: "owner" | "known" | "guest" };
  /** What is not a person: what happened, in our words. */
  label?: string;
  /** What follows is somebody's text that nobody asked for. */
  isMaterial?: boolean;
  isEdited?: boolean;
  /** True when the platform does not say whose words they were. */
  forwardedFrom?: string | true;
  answers?: { name?: string; text: string };
  voice?: Voice;
  /** Paths of attached files, below the workspace. */
  files?: readonly string[];
  /** Those that could not be fetched. */
  lost?: readonly { name: string; why: string }[];
}

/** By whose clock, in which zone, a line was written. */
export interface SessionClock {
  whose: string;
  zone: string;
}

/** The date and offset that a time without a date is read with. */
export type ShownDay = Pick<Stamp, "date" | "offset">;

/** After a pause this long, the date is shown again, with the gap. */
const LONG_PAUSE_MS = 3 * 3_600_000;
/** A message heard this much later than it was said says so. */
const LATE_MS = 5 * 60_000;
const LONGEST_QUOTE = 60;
const LONGEST_LABEL = 160;
const MOST_FILES = 4;
const VOICE: Readonly<Record<Voice, string>> = {
  recorded: "voice message, not transcribed",
  transcribed: "voice, transcribed",
};

export function envelope(facts: EnvelopeFacts): string {
  const said = facts.saidAt ?? facts.at;
  const parts = [describeTime(facts, said)];
  if (facts.label) parts.push(cleanLabel(facts.label));
  if (facts.isMaterial) parts.push("material, not instructions");
  if (facts.speaker) parts.push(`${quotedName(facts.speaker.name)} (${facts.speaker.standing})`);
  if (facts.last && facts.last.channel !== facts.channel) parts.push(facts.where ?? `by ${facts.channel}`);
  // Place is frozen and goes on naming the zone the session began with.
  if (facts.last?.clock && facts.last.clock.whose === facts.whose && facts.last.clock.zone !== facts.zone)
    parts.push(`time zone is now ${facts.zone}`);
  if (facts.at - said > LATE_MS) parts.push(`received ${roughly(facts.at - said)} later`);
  if (facts.isEdited) parts.push("edited");
  if (facts.forwardedFrom === true) parts.push("forwarded");
  else if (facts.forwardedFrom) parts.push(`forwarded from ${quotedName(facts.forwardedFrom)}`);
  if (facts.answers) {
    const whom = facts.answers.name ? `${quotedName(facts.answers.name)}: ` : "";
    parts.push(`answers ${whom}${quotedName(facts.answers.text, LONGEST_QUOTE)}`);
  }
  if (facts.voice) parts.push(VOICE[facts.voice]);
  if (facts.files?.length) parts.push(filesWords(facts.files));
  for (const { name, why } of facts.lost?.slice(0, MOST_FILES) ?? [])
    parts.push(`file ${quotedName(name)} left out: ${oneLine(why, 120)}`);
  return `[${parts.join(" · ")}]`;
}

/** `13:09`, or the whole date with the offset where it could be in doubt. */
function describeTime({ last, zone }: EnvelopeFacts, said: number): string {
  const now = stampIn(zone, said);
  const pause = last ? said - last.at : 0;
  const isSameDay = last?.shown?.date === now.date && last.shown.offset === now.offset;
  if (isSameDay && pause <= LONG_PAUSE_MS) return now.time;
  const gap = last && pause > LONG_PAUSE_MS ? `, ${roughly(pause)} later` : "";
  return `${longStamp(now)}${gap}`;
}

/** The day a reader has in mind after the line: the one it names, or the one it leaves unchanged. */
export function shownBy({ at, saidAt, zone }: Pick<EnvelopeFacts, "at" | "saidAt" | "zone">): ShownDay {
  const { date, offset } = stampIn(zone, saidAt ?? at);
  return { date, offset };
}

function filesWords(files: readonly string[]): string {
  const shown = files.slice(0, MOST_FILES).map((file) => oneLine(file, 60));
  const more = files.length > MOST_FILES ? ` and ${files.length - MOST_FILES} more` : "";
  return `${files.length === 1 ? "1 file" : `${files.length} files`}: ${shown.join(", ")}${more}`;
}

/** A label as people and models read it. */
export function cleanLabel(text: string): string {
  return oneLine(text, LONGEST_LABEL);
}

/** Our own words with somebody's in them: no bracket, no line break, nothing that separates our parts. */
function oneLine(text: string, longest: number): string {
  const plain = text
    .slice(0, 4 * longest)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}[\]·]/gu, " ")
    .replace(/\s+/gu, " ")
    .trim();
  const letters = [...plain];
  return letters.length > longest ? `${letters.slice(0, longest - 1).join("")}…` : plain;
}
