/** Methods about what is remembered. */
import { z } from "zod";
import { method, withIdempotencyKey } from "./method.ts";
import { agentId } from "./shapes.ts";

const kinds = z.enum(["fact", "preference", "person", "project", "decision", "procedure", "episode"]);
// Free text, because teams and people are named by the owner.
const scope = z.string().min(1).max(256).describe("who may see it, e.g. shared, agent:main, team:home, person:ana");
const moment = z.union([z.number(), z.string().min(1).max(64)]).describe("epoch milliseconds or ISO");
const memoryId = z.string().min(1).max(64);
// With room for the quotes of a phrase that is meant as a whole.
const topic = z.string().trim().min(2).max(202);
// 64 kB: documents are indexed from folders, a fact is a sentence or two.
const text = z.string().min(1).max(65_536);

// What people see of a fact. Vectors, counters and the index stay inside.
const fact = z.object({
  id: z.string(),
  text: z.string(),
  kind: z.string(),
  scope: z.string(),
  state: z.enum(["live", "pending", "superseded"]),
  trust: z.string(),
  source: z.string().optional(),
  person: z.string().optional(),
  why: z.string().optional().describe("why it waits for a person"),
  supersededBy: z.string().optional(),
  at: z.number(),
  expiresAt: z.number().optional().describe("it expires at this time"),
});

/** As `memory.export` writes it, one a line. */
const carried = fact.extend({
  createdAt: z.number(),
  uses: z.number(),
  agent: z.string().optional(),
  place: z.string().optional(),
  topic: z.string().optional(),
  usedAt: z.number().optional(),
});

const indexReport = z.object({
  added: z.number(),
  changed: z.number(),
  removed: z.number(),
  unchanged: z.number(),
  skipped: z.array(z.object({ path: z.string(), why: z.string() })).describe("what was left out, and why"),
});

/** How far an embedder is. All vectors are there when `done` is `total`. */
const progress = z.object({
  model: z.string(),
  done: z.number(),
  total: z.number(),
  state: z.enum(["idle", "working", "waiting"]),
  error: z.string().optional().describe("why it waits"),
});

// With the texts that were replaced, so that a person can judge the pass before undoing it.
const condensation = z.object({
  id: z.string(),
  agent: z.string(),
  at: z.number(),
  model: z.string().optional().describe("absent: by rules"),
  before: z.string().describe("MEMORY.md before"),
  after: z.string(),
  made: z.array(
    z.object({ id: z.string(), text: z.string(), from: z.array(z.string()).describe("texts it replaced") }),
  ),
  undoneAt: z.number().optional(),
});

export const MEMORY_METHODS = {
  "memory.add": method({
    in: z.strictObject({
      text,
      kind: kinds.optional(),
      source: z
        .string()
        .min(1)
        .max(1024)
        .optional()
        .describe("where it comes from; items that share it follow each other"),
      at: moment.optional(),
      scope: scope.optional(),
      ...withIdempotencyKey,
    }),
    out: z.object({
      id: z.string(),
      state: z.enum(["live", "known", "pending", "superseded"]),
      replaced: z.array(z.object({ id: z.string(), text: z.string() })).optional(),
    }),
    scope: "write",
    mutates: true,
    doc: "Remembers something, and names the facts it replaces. It is durable when the call returns.",
  }),
  // Without a model, so a search costs nothing and works offline.
  "memory.search": method({
    in: z.strictObject({
      query: z.string().min(1).max(4000),
      limit: z.number().int().min(1).max(100).optional(),
      scope: scope.optional(),
      in: z
        .array(z.enum(["memory", "sessions"]))
        .min(1)
        .optional()
        .describe("memory: facts and documents (the default); sessions: everything that was said"),
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
          place: z.string().optional().describe("lines of a file, page of a PDF, number of a message"),
        }),
      ),
      missing: z.array(z.string()).optional().describe("plugins that couldn't be searched, each in a sentence"),
    }),
    scope: "read",
    mutates: false,
    doc: "Searches memory, best match first, without a model.",
  }),
  "memory.list": method({
    in: z.strictObject({
      limit: z.number().int().min(1).max(1000).optional(),
      scope: scope.optional(),
      superseded: z.boolean().optional().describe("also facts that newer ones have replaced"),
      before: memoryId.optional().describe("the last id of the previous page"),
    }),
    out: z.object({ facts: z.array(fact) }),
    scope: "read",
    mutates: false,
    doc: "Everything remembered, newest first.",
  }),
  // The preview lists everything that would go: forgetting a topic can't be undone.
  "memory.forget": method({
    in: z
      .strictObject({
        id: memoryId.optional(),
        about: z
          .union([topic, z.array(topic).min(1).max(20)])
          .optional()
          .describe(
            'Topics or people: everything that mentions one of them. A name of several words is meant as a whole. "Bob and Carla" and "Bob, Carla" are two, unless that is written as a whole somewhere or stands in quotes.',
          ),
        except: z
          .array(z.string().trim().min(2).max(200))
          .max(50)
          .optional()
          .describe("What stays although it mentions that: other names or words, or ids of facts. With about."),
        preview: z.boolean().optional().describe("Only shows what would be forgotten. With about."),
        ...withIdempotencyKey,
      })
      .refine((given) => (given.id === undefined) !== (given.about === undefined), "give either id or about"),
    out: z.object({
      forgotten: z.boolean(),
      facts: z.array(z.object({ id: z.string(), text: z.string() })).optional(),
      said: z.array(z.object({ text: z.string(), session: z.string() })).optional(),
      names: z
        .array(z.string())
        .optional()
        .describe("Longer names it is part of, such as everybody of a family. Use except to leave some out."),
      similar: z.array(z.string()).optional().describe("Names written much like it, which are left alone."),
      topics: z
        .array(
          z.object({
            about: z.string(),
            again: z.string().describe("gives the same topic in a later call, regardless of what is stored by then"),
            facts: z.number(),
            said: z.number(),
            apart: z.array(z.string()).optional().describe("it was taken as one topic, and may list these"),
          }),
        )
        .optional()
        .describe("What was found for each topic."),
    }),
    scope: "write",
    mutates: true,
    doc: "Forgets for good: the text, its index, its vector, its relations, and the files and prompts that quote it. Models no longer read messages, calls and results that quote it; by topic or person everything that mentions it, and search no longer finds it. Transcripts keep their text, marked `forgotten`.",
  }),
  "memory.correct": method({
    in: z.strictObject({ id: memoryId, text, ...withIdempotencyKey }),
    out: z.object({ id: z.string(), state: z.enum(["live", "known", "pending", "superseded"]) }),
    scope: "write",
    mutates: true,
    doc: "Replaces its text; the old one stays as history until it is forgotten.",
  }),
  "memory.undo": method({
    in: z.strictObject({ id: memoryId.describe("a fact that replaced another"), ...withIdempotencyKey }),
    out: z.object({ restored: z.array(fact) }),
    scope: "write",
    mutates: true,
    doc: "Undoes a correction: the fact it replaced is current again.",
  }),
  "memory.pending": method({
    in: z.strictObject({ limit: z.number().int().min(1).max(1000).optional() }),
    out: z.object({ facts: z.array(fact) }),
    scope: "read",
    mutates: false,
    doc: "Facts that wait for a person's decision: found in text from outside, or in conflict with a file.",
  }),
  // Facts that text from outside suggested must not become true on their own.
  "memory.decide": method({
    in: z.strictObject({ id: memoryId, keep: z.boolean(), ...withIdempotencyKey }),
    out: z.object({ decided: z.boolean().describe("false: it was no longer pending") }),
    scope: "approvals",
    mutates: true,
    doc: "Decides about a pending fact: keep it, or delete it for good.",
  }),
  "memory.graph": method({
    in: z.strictObject({ scope: scope.optional(), limit: z.number().int().min(1).max(1000).optional() }),
    out: z.object({
      entities: z.array(z.object({ name: z.string(), mentions: z.number(), scope: z.string() })),
      relations: z.array(z.object({ subject: z.string(), relation: z.string(), object: z.string() })),
    }),
    scope: "read",
    mutates: false,
    doc: "Names that are mentioned and how they relate, most mentioned first.",
  }),
  // In pages, because a memory may be larger than one answer.
  "memory.export": method({
    in: z.strictObject({
      after: memoryId.optional().describe("the last id of the previous page"),
      limit: z.number().int().min(1).max(1000).optional(),
    }),
    // As many as one page of an export has.
    out: z.object({ facts: z.array(carried) }),
    scope: "read",
    mutates: false,
    doc: "Everything remembered except documents, in the order it was added, a page at a time.",
  }),
  "memory.import": method({
    in: z.strictObject({
      facts: z.array(carried).max(1000),
      trusted: z
        .boolean()
        .optional()
        .describe("they are the caller's own export, so they are used right away, as they were"),
      ...withIdempotencyKey,
    }),
    out: z.object({ added: z.number(), known: z.number() }),
    scope: "admin",
    mutates: true,
    doc: "Imports what memory.export returned. Each fact waits for a decision unless `trusted`. Existing facts stay as they are.",
  }),
  "memory.index": method({
    in: z.strictObject({ dir: z.string().min(1).max(4096), scope: scope.optional(), ...withIdempotencyKey }),
    out: indexReport,
    scope: "admin",
    mutates: true,
    doc: "Adds a folder's documents to memory and follows their changes. Only what changed is read again.",
  }),
  "memory.unindex": method({
    in: z.strictObject({ dir: z.string().min(1).max(4096), ...withIdempotencyKey }),
    out: z.object({ removed: z.boolean() }),
    scope: "admin",
    mutates: true,
    doc: "Removes a folder's documents from memory. The files stay.",
  }),
  "memory.status": method({
    in: z.strictObject({}),
    out: z.object({
      facts: z.number(),
      pending: z.number(),
      documents: z.number().describe("pieces of documents"),
      waitingMessages: z.number().describe("session messages that are not searchable yet"),
      backends: z
        .array(
          z.object({
            plugin: z.string(),
            waiting: z.number().describe("facts it has yet to hear of"),
            unforgotten: z.number().describe("facts that were forgotten here and that it still has"),
            problem: z.string().optional(),
          }),
        )
        .describe("plugins that are searched, too"),
      vectors: progress
        .extend({ next: progress.optional().describe("replaces the current one when all its vectors are ready") })
        .optional()
        .describe("absent: search is by words only"),
      folders: z.array(
        z.object({
          dir: z.string(),
          scope: z.string(),
          files: z.number(),
          at: z.number(),
          declared: z.boolean(),
          report: indexReport.optional(),
        }),
      ),
    }),
    scope: "read",
    mutates: false,
    doc: "How much is remembered, how many vectors are ready, which folders are followed.",
  }),
  "memory.condense": method({
    in: z.strictObject({ agent: agentId.optional(), ...withIdempotencyKey }),
    out: z.object({ condensation: condensation.optional().describe("absent if there was nothing to do") }),
    scope: "write",
    mutates: true,
    doc: "Runs the nightly pass now: notes and facts are condensed, then MEMORY.md is updated.",
  }),
  "memory.condensations": method({
    in: z.strictObject({ agent: agentId.optional(), limit: z.number().int().min(1).max(30).optional() }),
    out: z.object({ condensations: z.array(condensation) }),
    scope: "read",
    mutates: false,
    doc: "What the nightly passes changed, newest first.",
  }),
  "memory.condense.undo": method({
    in: z.strictObject({ id: z.string().min(1).max(200), ...withIdempotencyKey }),
    out: z.object({ condensation }),
    scope: "write",
    mutates: true,
    doc: "Undoes the newest pass of an agent.",
  }),
} as const;
