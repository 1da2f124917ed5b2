/** The nouns of the wire as schemas. Types for clients come from here; the gateway checks what it takes and what it says. */
import { z } from "zod";
import type { Json, JsonObject } from "../domain/json.ts";
import { hasWords } from "../domain/message.ts";
import type { StepWork } from "../domain/step-names.ts";

/** Any plain data. zod's own type for it is mutable, ours is not; the check is the same. */
export const json: z.ZodType<Json, Json> = z.json();
export const jsonObject: z.ZodType<JsonObject, JsonObject> = z.record(z.string(), z.json());

/** Its parts are read in core/domain only. Here it is text with a bound, like every id. */
export const sessionKey = z.string().min(1).max(512);
export const turnId = z.string().min(1).max(128);
/** Also a folder's name, so it has no dots, slashes or capitals. */
export const agentId = z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, "lower-case letters, digits and -, up to 64");
export const idempotencyKey = z.string().min(1).max(256);
export const NO_WORDS = "has no words";

/** One message of a person: 256 kB of text is far beyond any chat platform's limit. */
export const messageText = z.string().max(262_144).refine(hasWords, NO_WORDS);
/** A person says something or attaches something. */
export function chatMessage<
  S extends { message: z.ZodType<string>; attachments: z.ZodType<string[] | undefined> } & z.ZodRawShape,
>(shape: S) {
  return z.strictObject(shape).superRefine((value, check) => {
    const { message, attachments } = value as { message: string; attachments?: string[] };
    if (hasWords(message) || attachments?.length) return;
    check.addIssue({ code: "custom", path: ["message"], message: "has no words, and nothing is attached" });
  });
}
/** What `POST /attachments` gave, to be named in chat.send. */
export const attachmentIds = z.array(z.string().regex(/^at_[0-9a-z]{26}$/, "an id that POST /attachments gave")).max(8);

/** Null cost means that the price isn't known, which must not look like free. */
export const usage = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cacheReadTokens: z.number(),
  cacheWriteTokens: z.number(),
  cost: z.number().nullable(),
});

/** Several calls' usage. */
export const usageSum = usage.extend({
  cost: z.number().nullable().describe("for the calls whose price is known; null if none is"),
  calls: z.number(),
  unknownPrice: z.number().describe("calls whose price isn't known; their cost is not included"),
});

/** How a turn is, or how it ended. Every turn ends in exactly one visible state (I5). */
export const turnState = z.enum([
  "queued",
  "running",
  "parked",
  "answered",
  "declined",
  "failed",
  "stopped",
  "joined",
  "silent",
  "attention",
]);

/** What is not as well as a turn's state says. */
export const turnDoubt = z
  .enum(["unknown", "undelivered", "uncertain"])
  .describe("an action may or may not have happened; the answer didn't arrive; the answer may or may not have arrived");
export type TurnDoubt = z.infer<typeof turnDoubt>;

/** `shown` is what the person says yes to; the hash it is bound to stays inside. */
export const approval = z.object({
  id: z.string(),
  turn: z.string(),
  session: z.string(),
  agent: z.string(),
  tool: z.string(),
  call: z.string().optional().describe("the id of the tool call it is about, as in events and the history"),
  shown: z.string(),
  cut: z.boolean().optional().describe("`shown` leaves out the middle of a long text; `approvals.get` has `whole`"),
  whole: z.string().optional().describe("all of it; only from `approvals.get`"),
  where: z
    .object({
      folder: z.string(),
      background: z.boolean().optional(),
      terminal: z.boolean().optional(),
      sandbox: z.string().optional().describe("what confines it, in words"),
      line: z.string().describe("the line at the end of `shown` and `whole` that says the same"),
    })
    .optional()
    .describe("of a command: where and how it runs; absent in questions asked by older versions"),
  because: z.string(),
  dangers: z
    .array(
      z.object({
        kind: z.enum(["deletes", "sends", "secrets", "settings", "outside", "unreadable", "runs", "spends"]),
        of: z.string().optional().describe("what it concerns: files, hosts, a program"),
      }),
    )
    .optional()
    .describe("what is risky about it, the worst first; absent if nothing was found, and in older questions"),
  rule: z.string().optional().describe('what "allow always" would save'),
  form: z
    .object({
      fields: z.array(
        z.object({
          name: z.string(),
          title: z.string().optional(),
          about: z.string().optional(),
          kind: z.enum(["text", "number", "integer", "yes-no", "choice", "choices"]),
          required: z.boolean(),
          options: z.array(z.object({ value: z.string(), title: z.string() })).optional(),
          least: z.number().optional(),
          most: z.number().optional(),
          format: z.enum(["email", "uri", "date", "date-time"]).optional().describe("what a text has to be"),
          usual: z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]).optional(),
        }),
      ),
      url: z.string().optional().describe("a page the person opens before they answer"),
      from: z.string().optional().describe("the MCP server that asks; absent in questions asked by older versions"),
      message: z.string().optional().describe("what it says, without the fields that `shown` lists too"),
    })
    .optional()
    .describe("it isn't about an action: somebody's program asks for these fields before a call goes on"),
  askedBy: z
    .object({ person: z.string().optional(), channel: z.string() })
    .optional()
    .describe("whose message the turn answers, and where it came from"),
  state: z.enum(["pending", "allowed", "denied", "expired", "withdrawn"]),
  askedAt: z.number(),
  deadline: z.number(),
  answeredAt: z.number().optional(),
  answeredBy: z.string().optional(),
  reason: z.string().optional(),
});

/** What a caller of chat.send gets: the answer, or where the turn stands. */
export const chatAnswer = z.object({
  turn: z.string(),
  session: z.string(),
  agent: z.string(),
  state: turnState,
  response: z.string(),
  reason: z.string().optional(),
  notices: z.array(z.string()),
  model: z.string().optional(),
  practice: z.boolean().optional(),
  failure: z.string().optional().describe("why it failed or was declined, as a class: auth, timeout, budget, …"),
  cut: z.boolean().optional().describe("the answer ends at an output limit"),
  usage: usage.optional(),
  joined: z.string().optional(),
  duplicate: z.boolean(),
  approval: approval.optional(),
  /** Calls of tools the caller brought: it runs them and sends the outcomes. */
  toolCalls: z.array(z.object({ id: z.string(), name: z.string(), input: json })).optional(),
});

/** An attachment's name, media type and size beside the text that stands for it. */
export const attachedFile = z.object({
  attachment: z.string().max(64),
  mediaType: z.string().max(100),
  name: z.string().max(255),
  bytes: z.number(),
  path: z.string().max(255).optional().describe("its path below the agent's workspace, if it is a file there"),
});

// By id: the bytes are fetched from /attachments, with the right to read.
const imagePart = z.object({
  type: z.literal("image"),
  attachment: z.string().max(64),
  mediaType: z.string().max(100),
  name: z.string().max(255),
});

/** What happened, when nobody wrote the message: shown beside it. */
export const eventLabel = z.object({
  kind: z.enum([
    "process",
    "child",
    "peer",
    "hook",
    "watch",
    "team",
    "wake",
    "goal",
    "board",
    "schedule",
    "heartbeat",
    "task",
    "approval",
    "wait",
    "results",
  ]),
  text: z.string(),
  of: z.string().optional().describe("what it is about: a call's tool, a job's name"),
  once: z.literal(true).optional().describe("of a job: it runs this one time, as a reminder does"),
});

/** The pieces of a message. A model's thinking is one of them, so that pages can fold it. */
export const part = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("text"),
    text: z.string(),
    file: attachedFile.optional(),
    ours: z.literal(true).optional().describe("Lares' own line before the message, for models; not shown to people"),
    label: eventLabel.optional().describe("what that line says happened"),
  }),
  imagePart,
  z.object({ type: z.literal("thinking"), text: z.string(), meta: jsonObject.optional() }),
  z.object({ type: z.literal("tool-call"), id: z.string(), name: z.string(), input: json }),
  z.object({
    type: z.literal("tool-result"),
    id: z.string(),
    name: z.string(),
    text: z.string(),
    isError: z.boolean().optional(),
    notRun: z
      .enum(["waiting", "refused", "denied"])
      .optional()
      .describe("why nothing ran: it waits for a person, the gate refused it, or a person did (or didn't answer)"),
    exit: z.number().optional().describe("a command's exit code"),
    images: z.array(imagePart).optional().describe("pictures that came with it, by attachment id"),
  }),
]);

const textPart = z.object({ type: z.literal("text"), text: z.string() });
const callPart = z.object({ type: z.literal("tool-call"), id: z.string(), name: z.string(), input: json });
// The result of a tool that the caller ran itself.
const resultPart = z.object({
  type: z.literal("tool-result"),
  id: z.string(),
  name: z.string(),
  text: z.string(),
  isError: z.boolean().optional(),
});

/** How the answer is made. The bounds are those of the widest provider; narrower ones are the provider's to refuse. */
export const answerSettings = z
  .strictObject({
    maxOutputTokens: z.number().int().min(1).max(10_000_000),
    temperature: z.number().min(0).max(2),
    topP: z.number().min(0).max(1),
    presencePenalty: z.number().min(-2).max(2),
    frequencyPenalty: z.number().min(-2).max(2),
    seed: z.number().int(),
    stop: z.array(z.string().min(1).max(256)).max(16).describe("the answer stops before the first of these"),
    format: z
      .strictObject({
        name: z.string().max(64),
        description: z.string().max(4096),
        schema: jsonObject,
        strict: z.boolean(),
      })
      .partial()
      .describe("the answer is one JSON object; with a schema, one that matches it"),
    toolChoice: z
      .union([z.literal("required"), z.strictObject({ tool: z.string().max(128) })])
      .describe("one of the caller's tools must be called"),
    parallelToolCalls: z.boolean().describe("false: at most one tool call in each of the model's answers"),
    thinking: z.enum(["off", "low", "medium", "high"]).describe("how much the model thinks before it answers"),
  })
  .partial()
  .describe("how the answer is generated; anything left out uses the model's default");

/** What a caller brings for one turn. */
export const given = z.strictObject({
  instructions: z.string().max(262_144).optional().describe("appended to the agent's own"),
  history: z
    .array(
      z.discriminatedUnion("role", [
        z.object({ role: z.literal("user"), content: z.array(textPart) }),
        z.object({
          role: z.literal("assistant"),
          content: z.array(z.discriminatedUnion("type", [textPart, callPart])),
        }),
        z.object({ role: z.literal("tool"), content: z.array(resultPart) }),
      ]),
    )
    .max(10_000)
    .optional()
    .describe("what was said before"),
  results: z.array(resultPart).max(256).optional().describe("results of the calls the last answer asked for"),
  tools: z
    .array(z.object({ name: z.string(), description: z.string(), input: jsonObject }))
    .max(256)
    .optional()
    .describe("offered instead of Lares' own; a call ends the turn with `toolCalls`"),
  silent: z.boolean().optional().describe("the message's text isn't shown to the model"),
  settings: answerSettings.optional(),
});

/** One message of a session; also one line of an export. */
/** Who wrote a message, as its reader knows them. */
export const speaker = z.object({
  name: z.string().optional().describe("as their platform calls them"),
  channel: z.string().describe("where they wrote it"),
  own: z.boolean().describe("the caller wrote it"),
});
export type WrittenBy = z.infer<typeof speaker>;

export const historyMessage = z.object({
  session: z.string(),
  seq: z.number(),
  id: z.string(),
  turn: z.string(),
  role: z.enum(["user", "assistant", "tool"]),
  content: z.array(part),
  person: z.string().optional(),
  speaker: speaker.optional().describe("who wrote it, for the caller; only from `chat.history`"),
  label: eventLabel.optional().describe("what happened, when nobody wrote it"),
  timestamp: z.iso.datetime(),
  meta: jsonObject.optional(),
  replacedBy: z.string().optional().describe("the turn of an edited message replaced it: models no longer see it"),
  forgotten: z.literal(true).optional().describe("forgotten on request: models no longer see it"),
});

/** A line of a list: enough to recognise a conversation without reading it. */
export const sessionSummary = z.object({
  session: z.string(),
  agent: z.string(),
  person: z.string().optional(),
  place: z.string().optional().describe("where it is held: a channel, `web`, or a name such as `main`"),
  title: z.string(),
  messages: z.number(),
  createdAt: z.number(),
  updatedAt: z.number(),
  running: z.string().optional(),
  last: z
    .object({
      turn: z.string(),
      state: turnState,
      failure: z.string().optional(),
      reason: z.string().optional(),
      doubt: turnDoubt.optional(),
    })
    .optional()
    .describe("its newest turn: how it ended, or that it is waiting"),
});

/** What a step does, read from its name (`readStepName`). */
const stepWork: z.ZodType<StepWork> = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("model"), call: z.number().describe("the number of the model call") }),
  z.object({ kind: z.literal("tool"), tool: z.string(), call: z.string().describe("the id of the tool call") }),
  z.object({
    kind: z.enum([
      ...([
        "judge",
        "rewind",
        "recheck",
        "replan",
        "after",
        "compact",
        "compacted",
        "summary",
        "hook",
        "other",
      ] as const),
      // A stretch of another runtime's run, and what that thought and said on the way.
      ...(["run", "thinking", "notice"] as const),
    ]),
  }),
]);

/**
 * One entry of the journal, with how it really ended: a step that is done can still have failed. Of a turn that another runtime
 * carries out, also what is recorded of its run.
 */
export const turnStep = z.object({
  segment: z.number(),
  index: z.number(),
  kind: z.enum(["step", "effect"]),
  name: z.string().describe("as the journal has it"),
  does: stepWork.describe("what it is"),
  state: z.enum(["intent", "done", "unknown"]),
  at: z.number(),
  endedAt: z.number().optional(),
  outcome: z
    .enum(["ok", "failed", "denied", "cut", "unknown", "open"])
    .describe("how it ended; a step that is done may still have failed"),
  failure: z.string().optional().describe("of a model call that failed: its class, or `empty`"),
  reason: z.string().optional().describe("why it failed or was not allowed, in one line"),
  exit: z.number().optional().describe("of a command: its exit code"),
  model: z.string().optional().describe("of a model call: which model answered"),
  usage: usage.optional().describe("of a model call: what it used and cost"),
  said: z.string().optional().describe("of another runtime's thoughts and notices: their beginning"),
  failed: z
    .array(z.object({ at: z.number(), model: z.string(), failure: z.string() }))
    .optional()
    .describe("of a model call: attempts that failed before it ended"),
});

/** Everything about one turn, for a timeline. */
export const turnView = z.object({
  turn: z.string(),
  session: z.string(),
  agent: z.string(),
  state: turnState,
  acceptedAt: z.number(),
  startedAt: z.number().optional(),
  endedAt: z.number().optional(),
  response: z.string().optional(),
  reason: z.string().optional(),
  notices: z.array(z.string()),
  model: z.string().optional(),
  practice: z.boolean().optional(),
  failure: z.string().optional().describe("why it failed or was declined, as a class"),
  joined: z.string().optional(),
  usage: usage.optional(),
  approvals: z.array(approval),
  steps: z.array(turnStep),
  restarts: z
    .array(z.object({ at: z.number(), resumedAt: z.number() }))
    .describe("restarts of Lares during this turn, and when it continued; finished steps are not repeated"),
  deliveries: z.array(
    z.object({
      id: z.string(),
      state: z.enum(["intended", "sending", "sent", "uncertain", "expired", "failed"]),
      channel: z.string(),
      attempts: z.number(),
      error: z.string().optional(),
    }),
  ),
});

/** `because` says why this model is in the list, which is the first question when it isn't the expected one. */
export const modelInfo = z.object({
  id: z.string(),
  provider: z.string(),
  contextWindow: z.number(),
  maxOutput: z.number(),
  price: z.object({ input: z.number(), output: z.number(), cacheRead: z.number(), cacheWrite: z.number() }).nullable(),
  practice: z.boolean(),
  because: z.string(),
});

export type ChatAnswer = z.infer<typeof chatAnswer>;
export type Approval = z.infer<typeof approval>;
export type HistoryMessage = z.infer<typeof historyMessage>;
export type SessionSummary = z.infer<typeof sessionSummary>;
export type TurnDetail = z.infer<typeof turnView>;

/** Whom something outside wakes, and where. `each`: what gets a separate session by default. */
export function wokenShape(each: string) {
  return {
    agent: z.string().optional().describe("Who is woken. Default: routing.defaultAgent."),
    session: z
      .string()
      .min(1)
      .max(512)
      .default("isolated")
      .describe(`isolated (one for each ${each}), main, or a session's key.`),
  };
}

/** Where an answer goes, for settings and methods alike. */
export const deliverTo = z.strictObject({
  channel: z.string().describe("The platform, as in `channels`."),
  account: z.string().describe("The account's name on that platform."),
  chat: z.string().describe("The chat's id on that platform."),
  thread: z.string().optional().describe("The thread in that chat."),
});
