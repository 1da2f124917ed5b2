/**
 * The board's words: what a task is, the states it can be in, and the one table of moves between them. Nothing else in the program decides
 * whether a move is legal.
 *
 * TASK-1: a move that isn't in the table is refused, with a sentence that says why.
 * TASK-2: an unknown task is moved by a person only.
 * TASK-3: a task becomes done only with a clean verdict, and a clean verdict has evidence.
 */
import type { Id } from "./ids.ts";
import type { Json } from "./json.ts";

export type TaskId = Id<"task">;

/**
 * `waiting`: a person or an event is needed. `blocked`: it can't go on until somebody changes something. `unknown`: the one that had
 * it may have changed something in the world, and nobody knows.
 */
export const TASK_STATES = [
  "draft",
  "ready",
  "claimed",
  "running",
  "verifying",
  "done",
  "waiting",
  "blocked",
  "unknown",
  "cancelled",
] as const;
export type BoardState = (typeof TASK_STATES)[number];

export function isOpenTask(state: BoardState): boolean {
  return state !== "done" && state !== "cancelled";
}

/**
 * Who makes a move. `person`: somebody the owner lets act. `creator`: the agent that made the task. `member`: the one that holds it, or is
 * about to. `lares`: the board itself, that is its dispatcher and its checks.
 */
export const TASK_MOVERS = ["person", "creator", "member", "lares"] as const;
export type TaskMover = (typeof TASK_MOVERS)[number];

type Sources = Partial<Record<TaskMover, readonly BoardState[]>>;

const OPEN = ["draft", "ready", "claimed", "running", "verifying", "waiting", "blocked"] as const;

/** Each move: where it leads, and who may make it from where. */
const MOVES = {
  publish: { to: "ready", from: { person: ["draft"], creator: ["draft"] } },
  shelve: { to: "draft", from: { person: ["ready", "blocked"], creator: ["ready"] } },
  claim: { to: "claimed", from: { member: ["ready"], lares: ["ready"] } },
  /** It is a person's: it waits for them. */
  ask: { to: "waiting", from: { lares: ["ready"] } },
  start: { to: "running", from: { member: ["claimed"], lares: ["claimed"] } },
  park: { to: "waiting", from: { member: ["running"], lares: ["claimed", "running", "verifying"] } },
  /** What it waited for is there; the same attempt goes on. */
  resume: { to: "running", from: { lares: ["waiting"] } },
  recheck: { to: "verifying", from: { lares: ["waiting"] } },
  hand_in: { to: "verifying", from: { member: ["running"], lares: ["running"], person: ["waiting"] } },
  accept: { to: "done", from: { lares: ["verifying"], person: ["verifying", "waiting", "blocked", "unknown"] } },
  /** The check failed, or a person looked and said no: it is done again. */
  reject: { to: "ready", from: { lares: ["verifying"], person: ["verifying", "waiting"] } },
  /** Given back: nothing of it may have happened, or it doesn't matter. */
  release: {
    to: "ready",
    from: {
      member: ["claimed", "running"],
      lares: ["claimed", "running", "verifying", "waiting"],
      person: ["claimed", "running", "verifying", "waiting"],
    },
  },
  block: {
    to: "blocked",
    from: {
      member: ["claimed", "running"],
      lares: ["ready", "claimed", "running", "verifying", "waiting"],
      person: ["ready", "claimed", "running", "verifying", "waiting"],
    },
  },
  unblock: { to: "ready", from: { person: ["blocked"], creator: ["blocked"] } },
  lose: { to: "unknown", from: { lares: ["claimed", "running", "verifying", "waiting"] } },
  /** A person has looked at what really happened, and it can be tried again. */
  settle: { to: "ready", from: { person: ["unknown"] } },
  cancel: { to: "cancelled", from: { person: [...OPEN, "unknown"], creator: OPEN } },
} as const satisfies Record<string, { to: BoardState; from: Sources }>;

export type TaskMove = keyof typeof MOVES;
export const TASK_MOVES = Object.keys(MOVES) as readonly TaskMove[];

/** Where a move leads, or why it can't be made. */
export function moveTask(state: BoardState, move: TaskMove, who: TaskMover): { to: BoardState } | { refused: string } {
  const { to, from }: { to: BoardState; from: Sources } = MOVES[move];
  if (from[who]?.includes(state)) return { to };
  const others = TASK_MOVERS.filter((one) => from[one]?.includes(state));
  if (others.length === 0) return { refused: `A task that is ${state} can't be ${PAST[move]}.` };
  return {
    refused: `Only ${others.map((one) => MOVER_WORDS[one]).join(" or ")} can have a task that is ${state} ${PAST[move]}.`,
  };
}

/** The moves that somebody can make from a state: what a page offers. */
export function legalMoves(state: BoardState, who: TaskMover): TaskMove[] {
  return TASK_MOVES.filter((move) => "to" in moveTask(state, move, who));
}

const PAST: Record<TaskMove, string> = {
  publish: "published",
  shelve: "put back to draft",
  claim: "claimed",
  ask: "given to a person",
  start: "started",
  park: "made to wait",
  resume: "resumed",
  recheck: "checked again",
  hand_in: "handed in",
  accept: "accepted",
  reject: "rejected",
  release: "given back",
  block: "blocked",
  unblock: "unblocked",
  lose: "marked unknown",
  settle: "settled",
  cancel: "cancelled",
};

const MOVER_WORDS: Record<TaskMover, string> = {
  person: "a person",
  creator: "the agent that made it",
  member: "the member that holds it",
  lares: "Lares itself",
};

/** Who a task is for. A role is filled by any member that has it. */
export type Assignee = { kind: "agent" | "role" | "person"; name: string };

/**
 * What proves that a task is done, bound by its hash when the task is made. `command`: it exits with 0. `schema`: the result is JSON that
 * fits. `file`: it is there, with this digest where one is given. `message`: the turn delivered one. `word`: a person says so.
 */
export type Acceptance =
  | { kind: "command"; command: string; minutes?: number }
  | { kind: "schema"; schema: Json }
  | { kind: "file"; path: string; sha256?: string }
  | { kind: "message" }
  | { kind: "word" };

/** What was seen to be so. */
export type TaskEvidence =
  | { kind: "command"; command: string; turn: string; output: string }
  | { kind: "schema"; value: Json }
  | { kind: "file"; path: string; sha256: string; bytes: number }
  | { kind: "message"; delivery: string; to: string }
  | { kind: "review"; by: string; turn: string; said: string }
  | { kind: "word"; by: string; said: string };

/** What a check or a person made of a result. Only the clean one has evidence, and it has some. */
export type TaskVerdict =
  | { clean: true; by: string; why: string; evidence: readonly [TaskEvidence, ...TaskEvidence[]] }
  | { clean: false; by: string; why: string };

/** What one run leaves for the next: written at its end, read at the start of the next. */
export interface Handoff {
  done: readonly string[];
  open: readonly string[];
  next: readonly string[];
  commands: readonly string[];
  evidence: readonly string[];
  warnings: readonly string[];
  /** Finds the runtime's own conversation, where it has one. */
  nativeSession?: string;
}
