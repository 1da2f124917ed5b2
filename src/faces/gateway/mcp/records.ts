/** What Lares knows and plans: memory, conversations, schedules, agents. */
import { z } from "zod";
import { defined, truthy } from "../../../core/kit/index.ts";
import {
  agentId,
  type HistoryMessage,
  idempotencyKey,
  METHODS,
  type Result,
  sessionKey,
} from "../../../core/protocol/index.ts";
import { type ServedTool, tool } from "./catalogue.ts";

const READS = { readOnlyHint: true } as const;
const ADDS = { readOnlyHint: false, destructiveHint: false } as const;
const key = idempotencyKey.optional().describe("your own id of this call: repeated with the same key, it is done once");
const limit = (most: number) => z.number().int().min(1).max(most).optional();

const job = z.object({
  id: z.string(),
  name: z.string(),
  when: z.string(),
  agent: z.string(),
  prompt: z.string(),
  enabled: z.boolean(),
  next: z.string().optional(),
});
const said = z.object({ role: z.string(), at: z.string(), text: z.string(), person: z.string().optional() });

const memoryTools: readonly ServedTool[] = [
  tool({
    name: "memory_search",
    title: "Search memory",
    description: "Find what Lares remembers, best first.",
    scope: "read",
    in: z.strictObject({
      query: z.string().min(1).max(4000),
      limit: limit(50).describe("10"),
      in: METHODS["memory.search"].in.shape.in,
    }),
    out: z.object({
      results: z.array(
        z.object({ id: z.string(), text: z.string(), source: z.string().optional(), kind: z.string(), at: z.string() }),
      ),
    }),
    hints: READS,
    async run(query, at) {
      const { results } = await at.call("memory.search", { limit: 10, ...query });
      return {
        results: results.map(({ id, text, source, kind, at: when }) => ({
          id,
          text,
          kind,
          at: iso(when),
          ...truthy({ source }),
        })),
      };
    },
  }),
  tool({
    name: "memory_save",
    title: "Save to memory",
    description:
      "Save a fact. Unless your token is the owner's, it is kept aside (state pending) until the owner has agreed.",
    scope: "write",
    in: z.strictObject({ text: z.string().min(1).max(16_000), source: z.string().min(1).max(1024).optional(), key }),
    out: z.object({ id: z.string(), state: z.string() }),
    hints: ADDS,
    async run({ key: given, ...fact }, at) {
      const idempotencyKey = given ?? at.key;
      const { id, state } = await at.call("memory.add", { ...fact, ...truthy({ idempotencyKey }) });
      return { id, state };
    },
  }),
];

const sessionTools: readonly ServedTool[] = [
  tool({
    name: "agents_list",
    title: "List agents",
    description: "The agents you can ask.",
    scope: "read",
    in: z.strictObject({}),
    out: z.object({ agents: z.array(z.object({ agent: z.string(), isDefault: z.boolean() })) }),
    hints: READS,
    async run(_input, at) {
      const { agents } = await at.call("agents.list", {});
      return { agents: agents.map(({ agent, isDefault }) => ({ agent, isDefault })) };
    },
  }),
  tool({
    name: "sessions_list",
    title: "List sessions",
    description: "Conversations, the most recently used first.",
    scope: "read",
    in: z.strictObject({
      search: z.string().max(200).optional().describe("a part of the title or key"),
      agent: agentId.optional(),
      limit: limit(200).describe("50"),
    }),
    out: z.object({
      sessions: z.array(
        z.object({
          session: z.string(),
          agent: z.string(),
          title: z.string(),
          messages: z.number(),
          updatedAt: z.string(),
        }),
      ),
    }),
    hints: READS,
    async run(query, at) {
      const { sessions } = await at.call("sessions.list", query);
      return {
        sessions: sessions.map(({ session, agent, title, messages, updatedAt }) => ({
          session,
          agent,
          title,
          messages,
          updatedAt: iso(updatedAt),
        })),
      };
    },
  }),
  tool({
    name: "session_history",
    title: "Read a session",
    description:
      "The newest messages of a conversation, oldest first. For earlier ones give the `first` of this answer.",
    scope: "read",
    in: z.strictObject({
      session: sessionKey,
      limit: limit(200).describe("30"),
      before: z.number().int().optional().describe("only messages before this number"),
    }),
    out: z.object({ messages: z.array(said), first: z.number().optional(), more: z.boolean() }),
    hints: READS,
    async run(query, at) {
      const { messages, more } = await at.call("chat.history", { limit: 30, ...query });
      return { messages: messages.map(toSaid), more, ...defined({ first: messages[0]?.seq }) };
    },
  }),
];

const scheduleTools: readonly ServedTool[] = [
  tool({
    name: "schedule_list",
    title: "List schedules",
    description: "What agents do by themselves, and when next.",
    scope: "read",
    in: z.strictObject({ search: z.string().min(1).max(128).optional(), limit: limit(200).describe("100") }),
    out: z.object({ jobs: z.array(job) }),
    hints: READS,
    run: async (query, at) => ({ jobs: (await at.call("schedule.list", query)).jobs.map(toJob) }),
  }),
  tool({
    name: "schedule_add",
    title: "Add a schedule",
    description: "Let an agent do something at a time, or again and again. Give one of at, in, every or cron.",
    // A schedule acts later with nobody watching, so text from outside can't make one (I12). Others ask an agent for it, and the
    // agent's own tool asks the owner.
    scope: "admin",
    in: z.strictObject({
      prompt: z.string().min(1).max(16_000).describe("what is to be done"),
      name: z.string().min(1).max(100).optional(),
      at: z.string().min(1).max(100).optional().describe('"2026-12-01T09:00" or "tomorrow 9am"'),
      in: z.string().min(1).max(100).optional().describe('"30 minutes"'),
      every: z.string().min(1).max(100).optional().describe('"2 hours"'),
      cron: z.string().min(1).max(200).optional().describe('"0 7 * * 1-5"'),
      zone: z.string().min(1).max(64).optional(),
      agent: agentId.optional(),
      key,
    }),
    out: job,
    hints: ADDS,
    async run({ key: given, ...asked }, at) {
      const idempotencyKey = given ?? at.key;
      return toJob(await at.call("schedule.add", { ...asked, ...truthy({ idempotencyKey }) }));
    },
  }),
];

export const recordTools: readonly ServedTool[] = [...memoryTools, ...sessionTools, ...scheduleTools];

function toJob({ id, name, words, agent, prompt, script, enabled, next }: Result<"schedule.add">): z.input<typeof job> {
  return {
    id,
    name,
    when: words,
    agent,
    prompt: prompt || (script ?? ""),
    enabled,
    ...(next === undefined ? {} : { next: iso(next) }),
  };
}

/** What a person would read: words, and the names of the tools that were used. */
function toSaid({ role, timestamp, content, person }: HistoryMessage): z.input<typeof said> {
  const text = content.flatMap((part) => {
    if (part.type === "text") return part.ours ? [] : [part.text];
    if (part.type === "tool-call") return [`[calls ${part.name}]`];
    return part.type === "tool-result" ? [part.text] : [];
  });
  return { role, at: timestamp, text: text.join("\n"), ...truthy({ person }) };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
