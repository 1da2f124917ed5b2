/** Words for reminders and repeating jobs. A reminder is meant by part of its name, or as the last one that was made. */
import type { JsonObject } from "../../../../core/domain/index.ts";
import { meant } from "../recall.ts";
import { END, type PracticeRule, row, unquote } from "./words.ts";

const COUNT = String.raw`(?:\d+|an?|one|two|three|five|ten|half an?)`;
const DAY = "(?:today|tomorrow|tonight|on [a-z]+day|next [a-z]+)";
const TIME = String.raw`(?<time>in ${COUNT} ?[a-z]+|at (?:\d|noon|midnight)[\w: -]*?|every [\w: ]+?|${DAY}[\w: ]*?)`;
const JOB = "(?:reminders?|schedules?|jobs?)";
/** "the reminder water", "my water reminder", "the reminder about water", "the reminder". */
const WHICH = `(?:the |my |that )?(?:${JOB}(?: (?:about |for |to |called |named )?(?<name>.+?))?|(?<kind>.+?) ${JOB})`;

export const TIME_ROWS: readonly PracticeRule[] = [
  row(
    "schedule_list",
    "what is scheduled?",
    `(?:(?:what is|what's|show(?: me)? what is) (?:scheduled|planned)|(?:list|show)(?: me)?(?: all| the| my)* ${JOB}|(?:what|which) ${JOB} (?:do i have|are (?:there|set|planned)))${END}`,
    () => ({}),
  ),
  row(
    "schedule_snooze",
    "snooze the reminder water for 10 minutes",
    `snooze (?:it|that|${WHICH}) for (?<span>${COUNT} ?[a-z]+)${END}`,
    ({ name, kind, span }, { schedules }) => named(name ?? kind, schedules, { in: span! }),
  ),
  row(
    "schedule_snooze",
    "remind me again in 10 minutes",
    `remind me (?:again|of (?:it|that) again) ${TIME}${END}`,
    ({ time }, { schedules }) => named(undefined, schedules, when(time!)),
  ),
  row(
    "schedule_remove",
    "cancel the reminder water",
    `(?:cancel|remove|delete|drop) ${WHICH}${END}`,
    (found, recalled) => named(found.name ?? found.kind, recalled.schedules),
  ),
  row(
    "schedule_update",
    "pause the reminder water",
    `(?<how>pause|resume|unpause|restart) ${WHICH}${END}`,
    ({ how, name, kind }, { schedules }) => named(name ?? kind, schedules, { paused: how!.toLowerCase() === "pause" }),
  ),
  row(
    "schedule_update",
    "move the reminder water to tomorrow at 9am",
    `(?:move|change|shift|postpone) ${WHICH} (?:to|until) ${TIME}${END}`,
    ({ name, kind, time }, { schedules }) => named(name ?? kind, schedules, when(time!)),
  ),
  // Nothing in this conversation tells which one is meant: the list does.
  row(
    "schedule_list",
    "show my reminders",
    `(?:(?:cancel|remove|delete|drop|pause|resume|unpause|restart) (?:the |my |that )?${JOB}|snooze (?:it|that|(?:the |my )?${JOB})(?: for .+)?|remind me again .+)${END}`,
    () => ({}),
  ),
  row(
    "schedule_add",
    "remind me in 2 minutes to drink water",
    `(?:remind me|set (?:me )?a reminder)(?: for)? ${TIME},? (?:to|about|that) (?<text>.+)`,
    ({ time, text }) => ({ text: text!.trim(), ...when(time!) }),
  ),
  row(
    "schedule_add",
    "remind me to call Ann tomorrow at 9am",
    `(?:remind me|set (?:me )?a reminder) (?:to|about|that) (?<text>.+?),? ${TIME}${END}`,
    ({ time, text }) => ({ text: text!.trim(), ...when(time!) }),
  ),
];

/** The field of the schedule tools that takes these words. */
function when(time: string): JsonObject {
  const [first = "", ...rest] = time.split(" ");
  const word = first.toLowerCase();
  if (word === "in" || word === "every" || word === "at") return { [word]: rest.join(" ") };
  return { at: word === "on" ? rest.join(" ") : time };
}

/** With the name of the job that is meant. Undefined when nobody said which, and none was made here. */
function named(said: string | undefined, schedules: readonly string[], more: JsonObject = {}): JsonObject | undefined {
  const name = meant(said === undefined ? undefined : unquote(said), schedules);
  return name === undefined ? undefined : { name, ...more };
}
