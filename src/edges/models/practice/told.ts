/** What the request tells about time, speaker and place. The practice model knows nothing else, and says so where it wasn't told. */
import type { ModelRequest } from "../../../core/contracts/index.ts";
import type { ModelMessage } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";

export interface ToldFacts {
  /** `13:09`, from the line before the newest message. */
  time?: string;
  /** From the newest line that has the whole date. */
  weekday?: string;
  date?: string;
  /** Where several people speak: who does, and how they stand to the owner. */
  speaker?: { name: string; standing: string };
  /** The lines of Place. */
  place: string[];
}

const LONG = /^\[([A-Z][a-z]{2}) (\d{4}-\d\d-\d\d) (\d\d:\d\d) /;
const SHORT = /^\[(\d\d:\d\d)/;
const SPEAKER = / · "([^"]{1,80})" \((owner|known|guest)\)/;

export function toldIn(request: Pick<ModelRequest, "system" | "messages">): ToldFacts {
  const lines = request.messages.flatMap(listEnvelopes);
  const newest = lines.at(-1) ?? "";
  const [, weekday, date, longTime] = LONG.exec(lines.findLast((line) => LONG.test(line)) ?? "") ?? [];
  const time = SHORT.exec(newest)?.[1] ?? (LONG.test(newest) ? longTime : undefined);
  const [, name, standing] = SPEAKER.exec(newest) ?? [];
  return {
    ...truthy({ time }),
    ...(weekday && date ? { weekday, date } : {}),
    ...(name && standing ? { speaker: { name, standing } } : {}),
    place: placeIn(request.system),
  };
}

/** Lares' own lines before what was said. */
function listEnvelopes(message: ModelMessage): string[] {
  if (message.role !== "user") return [];
  return message.content.flatMap((part) => (part.type === "text" && part.ours ? [part.text] : []));
}

function placeIn(system: string): string[] {
  const from = system.indexOf("# Place\n");
  if (from < 0) return [];
  const [, ...lines] = system.slice(from).split("\n");
  const end = lines.findIndex((line) => line.startsWith("# "));
  return lines.slice(0, end < 0 ? lines.length : end).filter((line) => line !== "");
}

/** The answers to questions about time, speaker and place; nothing for any other text. */
export function answerFromTold(text: string, told: ToldFacts): string | undefined {
  const answers = text
    .toLowerCase()
    .slice(0, LONGEST)
    .split(/[?.!,;\n]| and /)
    .map((part) => answerTo(part.trim(), told))
    .filter((answer) => answer !== undefined);
  return answers.length ? inARow(...new Set(answers)) : undefined;
}

/** Sentences one after another; what follows a list stands on a separate line. */
export function inARow(...sentences: string[]): string {
  return sentences.reduce((all, next) => `${all}${all.includes("\n") ? "\n" : " "}${next}`);
}

/** Longer than any question about the time. */
const LONGEST = 400;

function answerTo(words: string, told: ToldFacts): string | undefined {
  const asked = words.replace(/^(?:hi|hello|hey|please|tell me|do you know|can you tell me|and) /, "");
  if (/^(?:what time\b|what's the time\b|what is the time\b|the time\b|how late is it\b)/.test(asked))
    return timeWords(told);
  if (/^(?:what|which) (?:day|date) (?:is|will be) (?:it )?tomorrow\b|^(?:what is|what's) tomorrow\b/.test(asked))
    return dayWords(told, "Tomorrow", 1);
  if (
    /^(?:(?:what|which) (?:day|date)\b|(?:what is|what's) (?:the date|the day|today)\b|the date\b|today's date\b)/.test(
      asked,
    )
  )
    return dayWords(told, "Today", 0);
  if (/^(?:who am i\b|who i am\b|what is my name\b|what's my name\b|who is (?:speaking|talking)\b)/.test(asked))
    return whoWords(told);
  if (/^(?:where (?:are we|am i|are you|we are)\b|(?:what|which) (?:place|chat|channel) is this\b)/.test(asked))
    return placeWords(told);
  return undefined;
}

const NOT_TOLD = "I wasn't told that, and rules can't guess.";

function timeWords({ time, place }: ToldFacts): string {
  if (!time) return NOT_TOLD;
  const zone = /Time zone: ([^.\s]+)\./.exec(place[0] ?? "")?.[1];
  return `It is ${time}${zone ? ` (${zone})` : ""}: the line before your message says so.`;
}

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const;

function dayWords({ date }: ToldFacts, which: string, plus: number): string {
  if (!date) return NOT_TOLD;
  const day = new Date(Date.parse(`${date}T12:00:00Z`) + plus * 86_400_000);
  return `${which} is ${DAYS[day.getUTCDay()]}, ${day.toISOString().slice(0, 10)}.`;
}

function whoWords({ speaker, place }: ToldFacts): string {
  if (speaker) return `You are "${speaker.name}" (${speaker.standing}): the line before your message says so.`;
  const whom = /, with (the owner|a person the owner knows|a guest)(?:, ("[^"]*"))?\./.exec(place[0] ?? "");
  return whom ? `You are ${whom[1]}${whom[2] ? `, ${whom[2]}` : ""}.` : NOT_TOLD;
}

function placeWords({ place }: ToldFacts): string {
  return place.length ? `Here's what I know:\n${place.join("\n")}` : NOT_TOLD;
}
