/**
 * The method registry: every word a client may say, with what it takes, what it gives, the right it needs and one line of
 * documentation. WebSocket `/ws`, `POST /rpc/<method>` and the command line all speak from this table.
 */
import { z } from "zod";
import { MOST_ANSWER } from "../domain/index.ts";
import { A2A_METHODS } from "./a2a-methods.ts";
import { ATTENTION_METHODS } from "./attention-methods.ts";
import { BOARD_METHODS } from "./board-methods.ts";
import { CHANNEL_METHODS, channelState } from "./channel-methods.ts";
import { CONTEXT_METHODS } from "./context-methods.ts";
import { EDITOR_METHODS } from "./editor-methods.ts";
import { HOOK_METHODS } from "./hook-methods.ts";
import { IMPORT_METHODS } from "./import-methods.ts";
import { INSTANCE_METHODS } from "./instance-methods.ts";
import { MCP_METHODS } from "./mcp-methods.ts";
import { MEMORY_METHODS } from "./memory-methods.ts";
import { method, nothing, withIdempotencyKey } from "./method.ts";
import { MODEL_METHODS } from "./model-methods.ts";
import { PLUGIN_METHODS } from "./plugin-methods.ts";
import { POLICY_METHODS } from "./policy-methods.ts";
import { RUNTIME_METHODS } from "./runtime-methods.ts";
import { SECRET_METHODS } from "./secret-methods.ts";
import {
  agentId,
  approval,
  attachmentIds,
  chatAnswer,
  chatMessage,
  given,
  historyMessage,
  modelInfo,
  sessionKey,
  sessionSummary,
  turnDoubt,
  turnId,
  turnState,
  turnView,
  usageSum,
} from "./shapes.ts";
import { SKILL_METHODS } from "./skill-methods.ts";
import { TEAM_METHODS } from "./team-methods.ts";
import { beat, TIME_METHODS } from "./time-methods.ts";
import { WAKE_METHODS } from "./wake-methods.ts";
import { WORK_METHODS } from "./work-methods.ts";

const total = z.number().optional().describe("how many there are without the limit");

export const METHODS = {
  health: method({
    in: nothing,
    out: z.object({ ok: z.boolean(), version: z.string(), uptimeMs: z.number() }),
    scope: "read",
    mutates: false,
    doc: "Whether Lares is running.",
  }),
  status: method({
    in: nothing,
    out: z.object({
      version: z.string(),
      pid: z.number(),
      home: z.string(),
      url: z.string(),
      uptimeMs: z.number(),
      model: z.object({
        id: z.string(),
        practice: z.boolean(),
        because: z.string(),
        address: z.string().optional().describe("host:port the gateway calls"),
      }),
      turns: z.object({ queued: z.number(), running: z.number(), parked: z.number() }),
      approvals: z.object({ pending: z.number() }),
      attention: z.number().describe("how many things need a person: see attention.list"),
      deliveries: z.object({ waiting: z.number(), uncertain: z.number(), failed: z.number() }),
      channels: z.array(z.object({ name: z.string(), state: channelState, detail: z.string().optional() })),
      usageToday: usageSum,
      heartbeats: z.array(beat).optional().describe("of agents that have one"),
      memory: z.object({ rss: z.number(), heapUsed: z.number() }),
      /** Where commands run. `ok`: a command was run in it; `name` is "none" when they run with the rights of Lares itself. */
      sandbox: z
        .object({
          name: z.string(),
          ok: z.boolean(),
          why: z.string().optional(),
          byHand: z.literal(true).optional().describe("turned off in the settings"),
        })
        .optional(),
      problems: z.array(z.string()),
    }),
    scope: "read",
    mutates: false,
    doc: "What Lares is doing, which model answers, and what needs a person.",
  }),
  // Works over every door. With `wait: false` it returns once the message is durable, for clients that follow the events.
  "chat.send": method({
    in: chatMessage({
      message: z.string().max(262_144).describe("empty only beside attachments"),
      session: sessionKey.optional().describe("an existing conversation, or one you may start: see Conversations"),
      user: z.string().min(1).max(256).optional(),
      agent: agentId.optional(),
      mode: z.enum(["steer", "followup", "collect", "interrupt"]).optional(),
      model: z.string().min(1).max(256).optional().describe("provider/model for this turn only"),
      wait: z.boolean().optional().describe("false: return as soon as the message is durable; events report the rest"),
      replaces: turnId
        .optional()
        .describe(
          "the turn whose message this one replaces: that message and everything after it leave the conversation",
        ),
      once: z.boolean().optional().describe("true: a separate conversation, not continued by later messages"),
      given: given.optional().describe("what the caller supplies for this turn: its own history, its own tools"),
      attachments: attachmentIds.optional().describe("files uploaded earlier with POST /attachments, up to 8"),
      ...withIdempotencyKey,
    }),
    out: chatAnswer,
    scope: "write",
    mutates: true,
    doc: "Sends a message to an agent and waits for the answer.",
  }),
  "chat.wait": method({
    in: z.strictObject({ turn: turnId }),
    out: chatAnswer,
    scope: "write",
    mutates: false,
    doc: "Waits for the answer to the caller's own message, as chat.send does.",
  }),
  // Stops at the next safe point: an effect that has begun is finished and recorded first.
  "chat.abort": method({
    in: z.strictObject({ session: sessionKey.optional(), turn: turnId.optional(), ...withIdempotencyKey }),
    out: z.object({ stopped: z.boolean(), turn: z.string().optional() }),
    scope: "write",
    mutates: true,
    doc: "Stops a running or parked turn at the next safe point.",
  }),
  "chat.history": method({
    in: z.strictObject({
      session: sessionKey,
      limit: z.number().int().min(1).max(1000).optional(),
      before: z.number().int().optional(),
    }),
    out: z.object({
      session: z.string(),
      messages: z.array(historyMessage),
      more: z.boolean(),
      restarts: z
        .array(z.object({ turn: z.string(), at: z.number() }))
        .optional()
        .describe("when Lares was started again in the middle of one of its turns, the newest hundred"),
    }),
    scope: "read",
    mutates: false,
    doc: "The newest messages of a session, oldest first.",
  }),
  "turns.get": method({
    in: z.strictObject({ turn: turnId }),
    out: turnView,
    scope: "read",
    mutates: false,
    doc: "One turn: state, answer, steps with times, approvals, deliveries.",
  }),
  // For a client whose connection broke after chat.send: the turn went on without it.
  "turns.wait": method({
    in: z.strictObject({ turn: turnId }),
    out: chatAnswer,
    scope: "read",
    mutates: false,
    doc: "Waits for a turn's answer, as chat.send does.",
  }),
  "turns.list": method({
    in: z.strictObject({
      session: sessionKey.optional(),
      open: z.boolean().optional(),
      states: z.array(turnState).min(1).max(10).optional().describe("only turns that ended, or wait, like this"),
      before: z.string().min(1).max(100).optional().describe("only turns older than this one: for the next page"),
      limit: z.number().int().min(1).max(500).optional(),
    }),
    out: z.object({
      total,
      turns: z.array(
        z.object({
          turn: z.string(),
          session: z.string(),
          agent: z.string(),
          state: z.string(),
          acceptedAt: z.number(),
          endedAt: z.number().optional(),
          failure: z.string().optional().describe("why it failed or was declined, as a class"),
          reason: z.string().optional().describe("the same as a sentence"),
          notices: z.array(z.string()).optional().describe("what the person should know in addition to the answer"),
          doubt: turnDoubt.optional(),
        }),
      ),
    }),
    scope: "read",
    mutates: false,
    doc: "Turns, newest first.",
  }),
  "sessions.list": method({
    in: z.strictObject({
      limit: z.number().int().min(1).max(500).optional(),
      search: z.string().max(200).optional(),
      agent: agentId.optional(),
    }),
    out: z.object({ sessions: z.array(sessionSummary), total }),
    scope: "read",
    mutates: false,
    doc: "Sessions, the most recently used first.",
  }),
  "sessions.get": method({
    in: z.strictObject({ session: sessionKey }),
    out: sessionSummary,
    scope: "read",
    mutates: false,
    doc: "One session.",
  }),
  // The messages stay readable. Only the model no longer sees them.
  "sessions.reset": method({
    in: z.strictObject({ session: sessionKey, ...withIdempotencyKey }),
    out: z.object({ session: z.string() }),
    scope: "write",
    mutates: true,
    doc: "Clears the context; earlier messages stay readable.",
  }),
  "sessions.delete": method({
    in: z.strictObject({ session: sessionKey, ...withIdempotencyKey }),
    out: z.object({ deleted: z.boolean(), messages: z.number() }),
    scope: "write",
    mutates: true,
    doc: "Deletes a session with all its messages and turns.",
  }),
  "sessions.export": method({
    in: z.strictObject({ session: sessionKey }),
    // An export of a long session in one piece; the gateway has a separate size limit for it.
    out: z.object({ session: z.string(), lines: z.array(historyMessage) }),
    scope: "read",
    mutates: false,
    doc: "All messages of a session, one per line.",
  }),
  "sessions.import": method({
    in: z.strictObject({
      session: sessionKey
        .optional()
        .describe("the session to import into; by default a new one, regardless of what the lines say"),
      agent: agentId.optional(),
      lines: z.array(historyMessage).min(1).max(100_000),
      ...withIdempotencyKey,
    }),
    out: z.object({ session: z.string(), imported: z.number(), skipped: z.number() }),
    scope: "admin",
    mutates: true,
    doc: "Imports an exported session as text from outside; messages already there are skipped.",
  }),
  "sessions.prune": method({
    in: z.strictObject({
      olderThanDays: z.number().min(0).max(36_500),
      dryRun: z.boolean().optional(),
      ...withIdempotencyKey,
    }),
    out: z.object({ sessions: z.array(z.string()), deleted: z.boolean() }),
    scope: "admin",
    mutates: true,
    doc: "Deletes sessions not used for this many days.",
  }),
  "approvals.list": method({
    in: z.strictObject({
      state: z.enum(["pending", "all"]).optional(),
      session: sessionKey.optional(),
      limit: z.number().int().min(1).max(1000).optional(),
    }),
    out: z.object({
      approvals: z.array(approval),
      total,
      waiting: z.number().optional().describe("how many of all wait for an answer"),
    }),
    scope: "read",
    mutates: false,
    doc: "Actions waiting for a person's yes or no, oldest first. Of more than the limit, the newest.",
  }),
  "approvals.get": method({
    in: z.strictObject({ id: z.string().min(1).max(128) }),
    out: approval,
    scope: "read",
    mutates: false,
    doc: "One approval.",
  }),
  // The first answer wins, also when several people answer at once in different chats.
  "approvals.resolve": method({
    in: z.strictObject({
      id: z.string().min(1).max(128),
      decision: z.enum(["allow-once", "allow-always", "deny"]),
      reason: z.string().max(2000).optional(),
      answers: z
        .union([z.string().max(MOST_ANSWER), z.record(z.string().max(200), z.json())])
        .optional()
        .describe("to a question with a `form`: field by field, or as one text typed like in a chat"),
      ...withIdempotencyKey,
    }),
    out: approval,
    scope: "approvals",
    mutates: true,
    doc: "Answers an approval. The first answer wins.",
  }),
  "approvals.rules": method({
    in: z.strictObject({ agent: agentId.optional() }),
    out: z.object({
      rules: z.array(
        z.object({
          agent: z.string(),
          rule: z.string(),
          approval: z.string().describe("the question it was saved with"),
          madeBy: z.string(),
          madeAt: z.number(),
          used: z.number().describe("how often it has allowed something"),
          usedAt: z.number().nullable().describe("when it last did"),
        }),
      ),
    }),
    scope: "read",
    mutates: false,
    doc: 'The rules saved by "allow always", newest first.',
  }),
  // Taking a permission away needs no more rights than giving it.
  "approvals.forget": method({
    in: z.strictObject({ agent: agentId, rule: z.string().min(1).max(100_000), ...withIdempotencyKey }),
    out: z.object({ forgotten: z.boolean() }),
    scope: "approvals",
    mutates: true,
    doc: "Removes a saved rule: Lares asks again before the next such action.",
  }),
  "models.list": method({
    in: nothing,
    out: z.object({ models: z.array(modelInfo), primary: z.string() }),
    scope: "read",
    mutates: false,
    doc: "The models that can answer, and why each is available.",
  }),
  ...ATTENTION_METHODS,
  ...MODEL_METHODS,
  ...INSTANCE_METHODS,
  ...CHANNEL_METHODS,
  ...TIME_METHODS,
  ...BOARD_METHODS,
  ...TEAM_METHODS,
  ...WAKE_METHODS,
  ...SECRET_METHODS,
  ...SKILL_METHODS,
  ...MCP_METHODS,
  ...PLUGIN_METHODS,
  ...HOOK_METHODS,
  ...A2A_METHODS,
  ...RUNTIME_METHODS,
  ...WORK_METHODS,
  ...CONTEXT_METHODS,
  ...EDITOR_METHODS,
  ...POLICY_METHODS,
  ...IMPORT_METHODS,
  ...MEMORY_METHODS,
} as const;

export type MethodName = keyof typeof METHODS;
/** What a caller passes: before defaults are filled in. */
export type Params<M extends MethodName> = z.input<(typeof METHODS)[M]["in"]>;
/** What a handler gets: after parsing. */
export type Parsed<M extends MethodName> = z.output<(typeof METHODS)[M]["in"]>;
export type Result<M extends MethodName> = z.output<(typeof METHODS)[M]["out"]>;

/** By own property, so that `constructor` isn't a method. */
export function isMethod(name: string): name is MethodName {
  return Object.hasOwn(METHODS, name);
}
