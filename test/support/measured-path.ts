/**
 * Which files count as a message's path, by what was measured while one was answered.
 *
 * A file counts when it ran and passed the message on: something in it called another file that counts or that only answers (a leaf).
 * The exceptions are the two tables below.
 */
export interface Call {
  from: string;
  to: string;
  /** The files and functions that were on the stack, nearest caller first. */
  stack: readonly string[];
}

export interface Measured {
  files: readonly string[];
  calls: readonly Call[];
  /** Functions that had not run before. The calls are complete when there are none. */
  marked: number;
}

/** What every step stands on alike. A reader following a message need not open it. */
export const BELOW_EVERY_STEP: Readonly<Record<string, string>> = {
  "core/": "words and small leaves that know nothing of the other floors",
  "ground/records/": "runs the rooms' SQL statements and commits them",
  "ground/config/": "answers what a setting is",
  "ground/observe/": "log and redaction",
  "ground/watchdog/": "notes what is at work, in case it stops the process",
  "store.ts": "a room's SQL statements",
};

/** What is called from here hears about the message. The answer doesn't wait for it. */
export const TELLS_OTHERS: Readonly<Record<string, string>> = {
  "core/kit/bus.ts emit": "live events, for pages, logs and answers that are shown while they are written",
  "app/instance/life.ts settled": "the turn's end, for whoever waits for it, the outbox and live events",
  "app/instance/life.ts tellListeners": "the turn's end, for memory, goals, schedules, sub-agents and locks",
};

const isBelow = (file: string) =>
  Object.keys(BELOW_EVERY_STEP).some((one) => file.startsWith(one) || file.endsWith(`/${one}`));
const isHeard = ({ stack }: Call) => stack.some((frame) => frame in TELLS_OTHERS);

/** The files on the path that begins in this file, and those it only asks. */
export function pathFrom(first: string, { calls }: Measured): { path: string[]; leaves: string[] } {
  const onward = calls.filter((call) => !isHeard(call) && !isBelow(call.from) && !isBelow(call.to));
  const reached = new Set([first]);
  for (const file of reached) for (const { from, to } of onward) if (from === file) reached.add(to);
  const path = [...reached].filter((file) => onward.some(({ from }) => from === file)).sort();
  return { path, leaves: [...reached].filter((file) => !path.includes(file)).sort() };
}

/** Each pair of a file outside app/ and one in it that it called into, whatever for. */
export function entriesIntoApp({ calls }: Measured): string[] {
  const isApp = (file: string) => file.startsWith("app/");
  const entries = calls.filter(({ from, to }) => isApp(to) && !isApp(from));
  return [...new Set(entries.map(({ from, to }) => `${from} → ${to}`))].sort();
}

export function merge(all: readonly Measured[]): Measured {
  return {
    files: [...new Set(all.flatMap(({ files }) => files))].sort(),
    calls: all.flatMap(({ calls }) => calls),
    marked: all.at(-1)!.marked,
  };
}
