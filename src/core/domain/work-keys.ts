/** Keys of work: what wakes a parked turn, what the watchdog keeps books on, and passes of memory. Databases and files hold them. */
import { asId, type TurnId } from "./ids.ts";
import { type AccountKey, toAccountName } from "./keys.ts";

/** What a parked turn waits for. */
export const waitNames = {
  /** A person's answer. */
  approval: (approval: string) => `approval:${approval}`,
  /** Something the turn started itself, or a time. */
  own: (call: string, round = 0) => (round === 0 ? `wait:${call}` : `wait:${call}:${round}`),
} as const;

export function isOwnWait(name: string): boolean {
  return name.startsWith("wait:");
}

/** A turn is woken or stopped once by each of these. */
export const resumeIds = {
  /** A person stopped this turn: from the outside, or with a command. */
  abort: (turn: string) => `abort:${turn}`,
  stop: (turn: string) => `stop:${turn}`,
  /** The turn named here takes the place of the stopped one, or is to be answered first. */
  replaced: (by: string) => `replaced:${by}`,
  interrupt: (by: string) => `interrupt:${by}`,
  /** Its session was closed. */
  closed: (turn: string) => `session:${turn}`,
  /** All that it waited for has come. */
  events: (wait: string) => `events:${wait}`,
  /** A person's answer to a question. */
  answered: (approval: string, decision: string, by: string) => `${approval}:${decision}:${by}`,
} as const;

/** What the watchdog holds work by: the same in every life. */
export const workKeys = {
  turn: (turn: string) => `turn:${turn}` as const,
  /** Saying that a turn broke is separate work: what is held against the turn is not held against that. */
  broken: (turn: string) => `turn:${turn}:broken` as const,
  delivery: (delivery: string) => `delivery:${delivery}` as const,
  watch: (watch: string, about: string) => `watch:${watch}:${about}` as const,
  /** What a platform sent: as it came, and once it is read. */
  raw: (at: AccountKey, kind: string, id: string) => `raw:${toAccountName(at)}/${kind}/${id}` as const,
  event: (at: AccountKey, chat: string, id: string) => `event:${toAccountName(at)}/${chat}/${id}` as const,
  import: (from: string, folder: string) => `import:${from}:${folder}` as const,
  importedSession: (print: string) => `import:session:${print}` as const,
  /** With the file's time: a file that was changed gets another chance. */
  document: (mtime: number, path: string) => `document:${mtime}:${path}` as const,
  index: (from: number, session: string) => `index:${from}:${session}` as const,
  capture: (from: number, session: string) => `capture:${from}:${session}` as const,
} as const;

/** The same kind of work under a shorter name, for a key that does not fit. */
export function shortWorkKey(key: string, print: string): string {
  return `${key.slice(0, key.indexOf(":")).slice(0, 20)}:#${print}`;
}

/** Passes of memory: each is done once. */
/** What tells hook events apart. */
export const hookKeys = {
  /** An event as its receivers know it: the same each time it is delivered. */
  event: (event: string, key: string) => `${event}/${key}`,
  /** Something that happens several times in a turn: by the number or the id of a call. */
  inTurn: (turn: string, part: string | number) => `${turn}/${part}`,
  /** The results of a call that waited for a person. */
  waited: (segment: number, call: string) => `${segment}-${call}`,
} as const;

export const memoryPasses = {
  night: (agent: string, due: number) => `night:${agent}:${due}`,
  /** One that a person asked for. */
  asked: (agent: string, key: string | number) => `asked:${agent}:${key}`,
  /** What a model is asked for. */
  capture: (session: string, upTo: number) => `capture:${session}:${upTo}`,
  condense: (pass: string) => `condense:${pass}`,
} as const;

/** Stands for a turn where a model is paid for outside of one. */
export function passTurn(purpose: string, id: string): TurnId {
  return asId(`${purpose}:${id}`);
}

/** What a turn compacted, the first time, the second and so on. */
export function compactionId(turn: string, n: number): string {
  return `${turn}:${n}`;
}
