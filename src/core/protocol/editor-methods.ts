/** Methods of a code editor's conversations (`lares acp`): each is about one folder, and a client may make it stricter. */
import { z } from "zod";
import { POLICY_MODES } from "../domain/index.ts";
import { method, withIdempotencyKey } from "./method.ts";
import { agentId, sessionKey } from "./shapes.ts";

const mode = z.enum(POLICY_MODES);
const place = z.object({
  session: z.string(),
  agent: z.string(),
  folder: z.string().describe("where relative paths and commands start; a real path on the gateway's machine"),
  mode: mode.describe("the policy's mode in this conversation"),
  modes: z.array(mode).describe("the modes it can have: none that lets more through than the agent's policy"),
  model: z.string().describe("the model asked first"),
  chosen: z.boolean().describe("the model was chosen for this conversation"),
});

const variables = z.record(z.string().max(256), z.string().max(16_384));
const brought = z.strictObject({
  name: z.string().min(1).max(128),
  type: z.string().max(32).optional(),
  command: z.string().min(1).max(4096).optional(),
  args: z.array(z.string().max(16_384)).max(200).optional(),
  env: variables.optional(),
  url: z.string().max(4096).optional(),
  headers: variables.optional(),
});

export const EDITOR_METHODS = {
  // The folder must be one the agent may work in already: an editor can't give it more.
  "editor.open": method({
    in: z.strictObject({
      folder: z.string().min(1).max(4096).describe("inside the agent's workspace or one of its roots"),
      session: sessionKey.optional().describe("one that editor.open began; by default a new one"),
      agent: agentId.optional(),
      ...withIdempotencyKey,
    }),
    out: place,
    scope: "write",
    mutates: true,
    doc: "Begins a code editor's conversation in a folder, or goes on with one there.",
  }),
  "editor.tune": method({
    in: z.strictObject({
      session: sessionKey,
      mode: mode.optional(),
      model: z.string().min(1).max(256).nullable().optional().describe("null: the agent's own"),
      ...withIdempotencyKey,
    }),
    out: place,
    scope: "write",
    mutates: true,
    doc: "Sets the model of an editor's conversation, or its policy mode, which can only be stricter than the agent's.",
  }),
  // Like mcp.add, a way to have programs started: the same right. The list is the whole list, each time.
  "editor.servers": method({
    in: z.strictObject({
      session: sessionKey,
      holder: z
        .string()
        .min(1)
        .max(64)
        .describe("chosen by the editor's program; another program's servers are left alone"),
      servers: z.array(brought).max(32),
      yes: z
        .array(z.string().max(64))
        .max(32)
        .optional()
        .describe("ids of those a person agreed to; others aren't used"),
      ...withIdempotencyKey,
    }),
    out: z.object({
      servers: z.array(
        z.object({
          id: z.string().describe("of exactly this definition in this conversation"),
          name: z.string(),
          state: z.enum(["asks", "used", "refused"]),
          target: z.string().describe("its program with all arguments, or its address"),
          gets: z.array(z.string()).describe("the variables or headers it gets, by name"),
          why: z.string().optional().describe("why it is refused, or what went wrong with it last"),
        }),
      ),
    }),
    scope: "admin",
    mutates: true,
    doc: "MCP servers that an editor brings to one conversation. They end 90 seconds after the last such call; an empty list ends them at once.",
  }),
} as const;
