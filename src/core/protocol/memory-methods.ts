/** Methods about what is remembered. */
import { z } from "zod";
import { keyed, method } from "./method.ts";

const kinds = z.enum(["fact", "preference", "person", "project", "decision", "procedure", "episode"]);
const scope = z.string().min(1).max(256).describe("who may see it, e.g. shared, agent:main, person:ana");
const moment = z.union([z.number(), z.string().min(1).max(64)]).describe("epoch milliseconds or ISO");

const fact = z.object({
  id: z.string(),
  text: z.string(),
  kind: z.string(),
  scope: z.string(),
  state: z.enum(["live", "pending", "superseded"]),
  trust: z.string(),
  source: z.string().optional(),
  person: z.string().optional(),
  at: z.number(),
});

export const MEMORY_METHODS = {
  "memory.add": method({
    in: z.strictObject({
      text: z.string().min(1).max(65_536),
      kind: kinds.optional(),
      source: z
        .string()
        .min(1)
        .max(1024)
        .optional()
        .describe("what it comes from; items that share it follow each other"),
      at: moment.optional(),
      scope: scope.optional(),
      ...keyed,
    }),
    out: z.object({ id: z.string(), state: z.enum(["live", "known", "pending", "superseded"]) }),
    scope: "write",
    mutates: true,
    doc: "Remembers something. Durable when it answers.",
  }),
  "memory.search": method({
    in: z.strictObject({
      query: z.string().min(1).max(4000),
      limit: z.number().int().min(1).max(100).optional(),
      scope: scope.optional(),
    }),
    out: z.object({
      results: z.array(
        z.object({
          id: z.string(),
          text: z.string(),
          source: z.string().nullable(),
          score: z.number(),
          at: z.number(),
          kind: z.string(),
          place: z.string().optional(),
        }),
      ),
    }),
    scope: "read",
    mutates: false,
    doc: "Finds what is remembered, best first.",
  }),
  "memory.list": method({
    in: z.strictObject({ limit: z.number().int().min(1).max(1000).optional(), scope: scope.optional() }),
    out: z.object({ facts: z.array(fact) }),
    scope: "read",
    mutates: false,
    doc: "What is remembered, newest first.",
  }),
  "memory.forget": method({
    in: z.strictObject({ id: z.string().min(1).max(64), ...keyed }),
    out: z.object({ forgotten: z.boolean() }),
    scope: "write",
    mutates: true,
    doc: "Forgets for good: the text, its index, its vector, its relations.",
  }),
} as const;
