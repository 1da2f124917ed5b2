/** Methods about teams and their rooms. */
import { z } from "zod";
import { hasWords } from "../domain/message.ts";
import { method, nothing, withIdempotencyKey } from "./method.ts";
import { NO_WORDS } from "./shapes.ts";

const teamId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,63}$/, "made of a-z, 0-9 and -")
  .describe("its folder's name");
const member = z.object({
  agent: z.string(),
  role: z.string(),
  runtime: z.string().optional(),
  model: z.string().optional(),
  missing: z.boolean().optional().describe("there is no such agent"),
});
const team = z.object({
  id: z.string(),
  title: z.string(),
  about: z.string(),
  lead: z.string(),
  members: z.array(member),
  room: z.object({
    chat: z.string().optional().describe("the chat that is its room: channel/account/chat"),
    turns: z.number().describe("answers one exchange may take"),
    dollars: z.number().optional().describe("what one exchange may cost"),
  }),
  speaking: z.string().optional().describe("the member that answers now"),
});
const post = z.object({
  seq: z.number(),
  kind: z.enum(["person", "member", "lares"]).describe("who wrote it"),
  author: z.string().describe("a member's agent, or a person"),
  name: z.string(),
  text: z.string(),
  at: z.number(),
});

export const TEAM_METHODS = {
  "teams.list": method({
    in: nothing,
    out: z.object({ teams: z.array(team), problems: z.array(z.string()).describe("folders that can't be used") }),
    scope: "read",
    mutates: false,
    doc: "Teams, with who speaks in their rooms now.",
  }),
  "teams.get": method({
    in: z.strictObject({ id: teamId }),
    out: team.extend({ agreement: z.string().describe("TEAM.md: how its members work together") }),
    scope: "read",
    mutates: false,
    doc: "One team.",
  }),
  "teams.templates": method({
    in: nothing,
    out: z.object({
      templates: z.array(team.pick({ id: true, title: true, about: true }).extend({ members: z.array(member) })),
    }),
    scope: "read",
    mutates: false,
    doc: "Ready-made teams.",
  }),
  "teams.add": method({
    in: z.strictObject({
      id: teamId,
      template: teamId.optional().describe("a ready-made one (teams.templates)"),
      members: z
        .array(z.strictObject({ agent: teamId, role: teamId.optional() }))
        .max(32)
        .optional()
        .describe("who is in it, without a template; the first is the lead"),
      title: z.string().max(80).refine(hasWords, NO_WORDS).optional(),
      ...withIdempotencyKey,
    }),
    out: z.object({ team, madeAgents: z.array(z.string()).describe("agents that were created for it") }),
    scope: "admin",
    mutates: true,
    doc: "Makes a team's folder, and the agents it names that don't exist yet.",
  }),
  "teams.posts": method({
    in: z.strictObject({
      id: teamId,
      after: z.number().int().min(0).optional().describe("only posts after this number"),
      limit: z.number().int().min(1).max(200).optional(),
    }),
    out: z.object({ posts: z.array(post) }),
    scope: "read",
    mutates: false,
    doc: "What was written in a team's room, the newest last.",
  }),
  "teams.post": method({
    in: z.strictObject({ id: teamId, text: z.string().max(16_000).refine(hasWords, NO_WORDS), ...withIdempotencyKey }),
    out: post,
    scope: "write",
    mutates: true,
    doc: "Writes in a team's room. @name asks that member; addressed to nobody, the lead answers.",
  }),
  "teams.stop": method({
    in: z.strictObject({ id: teamId, ...withIdempotencyKey }),
    out: z.object({ stopped: z.number().describe("answers that were owed") }),
    scope: "write",
    mutates: true,
    doc: "Ends the exchange in a team's room: nobody answers until somebody writes again.",
  }),
} as const;
