/** Methods about what the model reads of a session. */
import { z } from "zod";
import { method, withIdempotencyKey } from "./method.ts";
import { sessionKey } from "./shapes.ts";

// A compaction that was undone stays listed, so that people see why messages are back.
const compaction = z.object({
  id: z.string(),
  at: z.number(),
  how: z.enum(["summary", "mixed", "extract"]).describe("by a model, partly, or by rules only"),
  model: z.string().optional(),
  focus: z.string().optional(),
  messages: z.number().describe("how many messages the model no longer sees in full"),
  before: z.number().describe("tokens of history and notes"),
  after: z.number(),
  state: z.enum(["in force", "replaced", "undone"]),
});

export const CONTEXT_METHODS = {
  "context.get": method({
    in: z.strictObject({ session: sessionKey }),
    out: z.object({
      session: z.string(),
      agent: z.string(),
      model: z.string(),
      window: z.number().describe("tokens the model holds"),
      tokens: z.number().describe("what the next request costs before anything new is added"),
      counted: z.boolean().describe("true: counted by the provider, plus what came since; false: an estimate"),
      threshold: z.number().describe("at this size the older part is compacted"),
      limit: z.number().describe("larger requests aren't sent"),
      sections: z.array(
        z.object({
          name: z.enum(["instructions", "tools", "remembered", "carried over", "messages", "new"]),
          tokens: z.number(),
          stable: z
            .enum(["session", "until compacted", "grows", "not yet sent"])
            .describe("how long it stays identical, byte for byte"),
        }),
      ),
      messages: z.object({
        shown: z.number(),
        older: z.number().describe("no longer shown to the model, but searchable"),
      }),
      notes: z.object({ remembered: z.string(), carried: z.string() }),
      compactions: z.array(compaction).describe("newest first"),
    }),
    scope: "read",
    mutates: false,
    doc: "What the model reads of a session, and what each part costs.",
  }),
  // The request exactly as it would be sent, so that a strange answer can be explained from what the model read.
  "context.request": method({
    in: z.strictObject({
      session: sessionKey,
      text: z.string().max(100_000).optional().describe("pretends that the last speaker said this now"),
    }),
    out: z.object({
      session: z.string(),
      agent: z.string(),
      model: z.string().describe("asked first"),
      api: z.string().describe("the wire protocol"),
      tokens: z.number().describe("estimated"),
      bytes: z.number(),
      full: z.boolean().describe("too long: the older part is compacted before sending"),
      cache: z
        .enum(["marks", "automatic", "none"])
        .describe(
          "who decides what is cached: Lares marks it, the provider does it automatically, or nothing is cached",
        ),
      parts: z.array(
        z.object({
          kind: z.enum([
            "tool",
            "instructions",
            "notes",
            "envelope",
            "text",
            "picture",
            "thinking",
            "answer",
            "call",
            "result",
          ]),
          name: z.string().optional().describe("a tool, or a heading of the instructions"),
          message: z.number().optional().describe("counts the messages from 0"),
          text: z.string(),
          tokens: z.number().describe("estimated"),
          sent: z.boolean().describe("was in the last request, byte for byte"),
          kept: z.boolean().describe("is within the part that the provider caches"),
          mark: z.boolean().describe("a cache mark follows"),
        }),
      ),
      body: z.string().describe("what would be sent, byte for byte, without the key"),
    }),
    scope: "read",
    mutates: false,
    doc: "What the model would read now, part by part and byte for byte. Nothing is sent.",
  }),
  // Long sessions take a while to compact, so the answer may say that it goes on in the background.
  "context.compact": method({
    in: z.strictObject({
      session: sessionKey,
      focus: z.string().max(800).optional().describe("what matters most"),
      ...withIdempotencyKey,
    }),
    out: z.object({
      state: z.enum(["done", "nothing", "going on"]),
      how: z.enum(["summary", "mixed", "extract"]).optional(),
      messages: z.number().optional(),
      before: z.number().optional(),
      after: z.number().optional(),
    }),
    scope: "write",
    mutates: true,
    doc: "Compacts the older part of a session now. The messages stay.",
  }),
  "context.undo": method({
    in: z.strictObject({ session: sessionKey, ...withIdempotencyKey }),
    out: z.object({ messages: z.number().describe("number of messages the model sees in full again") }),
    scope: "write",
    mutates: true,
    doc: "Undoes the last compaction of a session.",
  }),
} as const;
