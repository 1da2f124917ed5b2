/** Methods about the board: tasks for agents and people, and what proves them done. */
import { z } from "zod";
import { TASK_MOVES, TASK_STATES } from "../domain/board.ts";
import { hasWords } from "../domain/message.ts";
import { method, withIdempotencyKey } from "./method.ts";
import { agentId, json, NO_WORDS } from "./shapes.ts";

const ref = z.string().min(1).max(64).describe("a task's id or number");
const state = z.enum(TASK_STATES);
const who = z.enum(["person", "creator", "member", "lares"]);
const name = z.string().min(1).max(128);

const acceptance = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("command"),
    command: z.string().max(4000).refine(hasWords, NO_WORDS),
    minutes: z.number().positive().max(240).optional(),
  }),
  z.strictObject({ kind: z.literal("schema"), schema: json }),
  z.strictObject({
    kind: z.literal("file"),
    path: z.string().min(1).max(1000),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, "64 hexadecimal digits")
      .optional(),
  }),
  z.strictObject({ kind: z.literal("message") }),
  z.strictObject({ kind: z.literal("word") }),
]);

const assignee = z.strictObject({ kind: z.enum(["agent", "role", "person"]), name });
const priority = z.enum(["low", "normal", "high", "urgent"]);

const editable = {
  title: z.string().max(200).refine(hasWords, NO_WORDS),
  description: z.string().max(32_000).optional(),
  runtime: name.optional().describe("what should carry it out, instead of the agent's own body"),
  priority: priority.optional(),
  needs: z.array(ref).max(100).optional().describe("tasks that must be done first"),
  dollars: z.number().positive().max(100_000).optional().describe("what all its attempts may cost"),
  tokens: z.number().int().positive().optional(),
  attempts: z.number().int().min(1).max(20).optional(),
};

const waitsFor = z.object({
  who: z.enum(["person", "event"]),
  name: z.string().optional(),
  about: z.string().describe("what is needed, in a sentence"),
});

const summary = z.object({
  id: z.string(),
  number: z.number(),
  title: z.string(),
  state,
  why: z.string().optional().describe("why it is in this state"),
  waitsFor: waitsFor.optional().describe("who must act now"),
  priority,
  assignee: assignee.optional(),
  holder: z.string().optional().describe("who works on it now"),
  attempt: z.number(),
  attempts: z.number().describe("how often it may be tried"),
  parent: z.string().optional(),
  team: z.string().optional(),
  mission: z.string().optional(),
  repository: z.string().optional(),
  runtime: z.string().optional(),
  turn: z.string().optional(),
  madeBy: z.string(),
  madeAt: z.number(),
  updatedAt: z.number(),
  stateAt: z.number(),
  moves: z.array(z.enum(TASK_MOVES)).describe("the moves that a person can make now"),
});

const other = z.object({ id: z.string(), number: z.number(), title: z.string(), state });

const handoff = z.object({
  done: z.array(z.string()),
  open: z.array(z.string()),
  next: z.array(z.string()),
  commands: z.array(z.string()),
  evidence: z.array(z.string()),
  warnings: z.array(z.string()),
  nativeSession: z.string().optional(),
});

const detail = summary.extend({
  description: z.string(),
  acceptance: json.describe("what proves it done; fixed when the task was made"),
  acceptanceHash: z.string(),
  attachments: z.array(z.string()),
  dollars: z.number().optional(),
  tokens: z.number().optional(),
  review: z.boolean(),
  needs: z.array(other),
  dependants: z.array(other),
  children: z.array(other),
  runs: z.array(
    z.object({
      attempt: z.number(),
      member: z.string(),
      runtime: z.string().optional(),
      session: z.string().optional(),
      turn: z.string().optional(),
      place: json.optional().describe("the folder and branch it works in"),
      startedAt: z.number(),
      endedAt: z.number().optional(),
      outcome: z.string().optional(),
      why: z.string().optional(),
      result: z.string().optional(),
      dollars: z.number().optional(),
      tokens: z.number().optional(),
      checkTurn: z.string().optional(),
      reviewTurn: z.string().optional(),
    }),
  ),
  comments: z.array(z.object({ who, author: z.string(), text: z.string(), at: z.number() })),
  timeline: z.array(
    z.object({
      move: z.enum(TASK_MOVES),
      state,
      attempt: z.number(),
      who,
      name: z.string(),
      why: z.string().optional(),
      at: z.number(),
    }),
  ),
  verdicts: z.array(
    z.object({
      attempt: z.number(),
      clean: z.boolean(),
      by: z.string(),
      why: z.string(),
      at: z.number(),
      evidence: z.array(json),
    }),
  ),
  handoff: z.object({ attempt: z.number(), at: z.number(), record: handoff }).optional(),
});

/** What a person does with a task, besides accepting it. */
const PERSON_MOVES = [
  "publish",
  "shelve",
  "hand_in",
  "reject",
  "release",
  "block",
  "unblock",
  "settle",
  "cancel",
] as const;

export const BOARD_METHODS = {
  "board.list": method({
    in: z.strictObject({
      states: z.array(state).min(1).max(10).optional(),
      assignee: name.optional().describe("whose: an agent, a role or a person; also who holds it"),
      parent: ref.optional(),
      team: name.optional(),
      mission: name.optional(),
      search: z.string().min(1).max(200).optional(),
      limit: z.number().int().min(1).max(1000).optional(),
    }),
    out: z.object({
      tasks: z.array(summary),
      counts: z.partialRecord(state, z.number()).describe("how many there are in each state, without the limit"),
    }),
    scope: "read",
    mutates: false,
    doc: "The board: open tasks by priority, then closed ones, newest first.",
  }),
  "board.get": method({
    in: z.strictObject({ task: ref }),
    out: detail,
    scope: "read",
    mutates: false,
    doc: "One task with its runs, moves, comments, verdicts and evidence.",
  }),
  "board.create": method({
    in: z.strictObject({
      ...editable,
      acceptance: acceptance.optional().describe("what proves it done; without it, a person's word"),
      assignee: assignee.optional(),
      parent: ref.optional(),
      review: z.boolean().optional().describe("true: a critic looks at it even when it is small"),
      team: name.optional(),
      mission: name.optional(),
      agent: agentId.optional().describe("short for an agent as assignee"),
      draft: z.boolean().optional().describe("true: nobody takes it until it is published"),
      ...withIdempotencyKey,
    }),
    out: detail,
    scope: "write",
    mutates: true,
    doc: "Adds a task. What proves it done is fixed from now on.",
  }),
  "board.update": method({
    in: z.strictObject({
      task: ref,
      ...editable,
      title: editable.title.optional(),
      assignee: assignee.nullable().optional().describe("null: anybody"),
      ...withIdempotencyKey,
    }),
    out: detail,
    scope: "write",
    mutates: true,
    doc: "Changes an open task. What proves it done can't be changed.",
  }),
  "board.comment": method({
    in: z.strictObject({ task: ref, text: z.string().max(16_000).refine(hasWords, NO_WORDS), ...withIdempotencyKey }),
    out: detail,
    scope: "write",
    mutates: true,
    doc: "Adds a comment to a task.",
  }),
  "board.move": method({
    in: z.strictObject({
      task: ref,
      move: z.enum(PERSON_MOVES),
      why: z.string().min(1).max(2000).optional(),
      ...withIdempotencyKey,
    }),
    out: detail,
    scope: "write",
    mutates: true,
    doc: "Moves a task, where that move is legal. An unknown task needs the right `approvals` and a word about what happened.",
  }),
  // A person's word is evidence, so it takes the right to answer for the owner.
  "board.accept": method({
    in: z.strictObject({ task: ref, said: z.string().max(2000).refine(hasWords, NO_WORDS), ...withIdempotencyKey }),
    out: detail,
    scope: "approvals",
    mutates: true,
    doc: "Accepts a task as done on a person's word, which is stored as its evidence.",
  }),
} as const;
