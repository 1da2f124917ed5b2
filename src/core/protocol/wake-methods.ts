/** Methods about what wakes an agent besides people: what will, and ringing for it. */
import { z } from "zod";
import { hasWords } from "../domain/message.ts";
import { method, nothing, withIdempotencyKey } from "./method.ts";
import { agentId, deliverTo, NO_WORDS, sessionKey } from "./shapes.ts";

const deliver = deliverTo.optional().describe("where the answer goes; without it, the answer is only in the history");

const wake = z.object({
  kind: z
    .enum(["schedule", "heartbeat", "hook", "watch", "parked", "agent", "process", "goal", "event"])
    .describe("what would wake it"),
  name: z.string(),
  about: z.string().describe("in words"),
  agent: z.string().optional(),
  session: z.string().optional(),
  turn: z.string().optional(),
  at: z.number().optional().describe("when, if that is known; a hook may come at any time"),
  lastAt: z.number().optional(),
  problem: z.string().optional(),
});

const goal = z.object({
  id: z.string(),
  session: z.string(),
  agent: z.string(),
  outcome: z.string(),
  proof: z.string().optional(),
  stop: z.string().optional(),
  state: z.enum(["active", "paused", "done", "blocked", "limit", "cancelled"]),
  why: z.string().optional(),
  turn: z.string().optional(),
  round: z.number().describe("turns it has taken"),
  waiting: z.boolean().describe("it is waiting for processes or sub-agents of its session"),
  mostTurns: z.number(),
  mostDollars: z.number().optional(),
  mostTokens: z.number().optional(),
  dollars: z.number().describe("used since it was created or resumed; without calls whose price isn't known"),
  tokens: z.number(),
  madeBy: z.string(),
  madeAt: z.number(),
  updatedAt: z.number(),
});
const goalId = z.string().min(1).max(600);

export const WAKE_METHODS = {
  "wakes.list": method({
    in: nothing,
    out: z.object({ wakes: z.array(wake) }),
    scope: "read",
    mutates: false,
    doc: "What will wake an agent, the next one first: schedules, hooks, watches, parked turns, sub-agents, processes, goals.",
  }),
  "watch.resume": method({
    in: z.strictObject({ name: z.string().min(1).max(64), ...withIdempotencyKey }),
    out: z.object({ name: z.string() }),
    scope: "admin",
    mutates: true,
    doc: "Resumes a watch that was paused because it stopped Lares twice.",
  }),
  "goals.list": method({
    in: z.strictObject({ limit: z.number().int().min(1).max(500).optional() }),
    out: z.object({ goals: z.array(goal) }),
    scope: "read",
    mutates: false,
    doc: "Standing goals, those in progress first.",
  }),
  "goals.get": method({
    in: z.strictObject({ id: goalId }),
    out: goal,
    scope: "read",
    mutates: false,
    doc: "One goal.",
  }),
  // The right admin: a goal spends money turn by turn without anybody asking.
  "goals.add": method({
    in: z.strictObject({
      outcome: z.string().max(4000).refine(hasWords, NO_WORDS),
      proof: z.string().min(1).max(4000).optional().describe("what proves that it is reached"),
      stop: z.string().min(1).max(4000).optional().describe("when to stop even if it isn't reached"),
      session: sessionKey.optional().describe("the session to work in; by default a separate one"),
      agent: agentId.optional(),
      turns: z.number().int().min(1).max(200).optional(),
      dollars: z.number().positive().max(100_000).optional(),
      tokens: z.number().int().positive().optional(),
      deliver,
      ...withIdempotencyKey,
    }),
    out: goal,
    scope: "admin",
    mutates: true,
    doc: "Adds a goal: the agent works on it turn by turn until a judge says done or blocked, or its limits are reached.",
  }),
  "goals.pause": method({
    in: z.strictObject({ id: goalId, ...withIdempotencyKey }),
    out: goal,
    scope: "write",
    mutates: true,
    doc: "Pauses a goal: no further turn is started.",
  }),
  "goals.resume": method({
    in: z.strictObject({ id: goalId, ...withIdempotencyKey }),
    out: goal,
    scope: "admin",
    mutates: true,
    doc: "Resumes a paused or blocked goal; one that ended at its limit gets the same limit again.",
  }),
  "goals.cancel": method({
    in: z.strictObject({ id: goalId, ...withIdempotencyKey }),
    out: goal,
    scope: "write",
    mutates: true,
    doc: "Ends a goal and stops its turn.",
  }),
  // Never counts as a person's words, so a script can't use it to give orders.
  "wakes.send": method({
    in: z.strictObject({
      session: sessionKey.describe('a session\'s key, or "main"'),
      agent: agentId.optional().describe('whose main session, with "main"'),
      text: z.string().max(16_000).refine(hasWords, NO_WORDS),
      deliver,
      ...withIdempotencyKey,
    }),
    out: z.object({ session: z.string(), event: z.string(), duplicate: z.boolean() }),
    scope: "write",
    mutates: true,
    doc: "Wakes a session with a system event. It is labelled as such, never as a person's message.",
  }),
} as const;
