/** Methods about MCP servers: other people's programs whose tools agents may use. */
import { z } from "zod";
import { method, nothing, withIdempotencyKey } from "./method.ts";

const name = z.string().min(1).max(64).describe("the server's name in lares.yaml");
const need = z.object({
  secret: z.string().describe("its name in the vault"),
  about: z.string().optional().describe("what the definition says about it"),
});
const problem = z.object({ name: z.string(), reason: z.string() });
// A tool's description is read by models, so a server that changes it could give orders. Until a person has looked, it isn't
// used.
const held = z.object({
  name: z.string(),
  why: z.enum(["new", "changed"]),
  before: z.string().optional().describe("what it said when it was accepted"),
  now: z.string().describe("what it says now"),
});
const server = z.object({
  name: z.string(),
  target: z.string().describe("its program with arguments, or its address"),
  state: z.enum(["off", "idle", "connecting", "ready", "needs-login", "failed", "paused"]),
  why: z.string().optional().describe("what went wrong last, or why Lares doesn't connect to it for now"),
  at: z.number().optional().describe("when it failed"),
  loggingIn: z.literal(true).optional().describe("a login was begun, and the browser hasn't come back yet"),
  listed: z.boolean().describe("its tools were listed at least once"),
  tools: z.number().describe("tools that may be used"),
  held: z.number().describe("new or changed tools that a person hasn't accepted yet"),
  quarantined: z.number().describe("tools that can't be used"),
});

export const MCP_METHODS = {
  // Must not start anything: people look at the list to decide what may run.
  "mcp.list": method({
    in: nothing,
    out: z.object({ servers: z.array(server) }),
    scope: "read",
    mutates: false,
    doc: "The MCP servers in lares.yaml and their state. Starts nothing.",
  }),
  "mcp.tools": method({
    in: z.strictObject({ name, fresh: z.boolean().optional().describe("ask the server now, which starts it") }),
    out: z.object({
      tools: z.array(
        z.object({
          name: z.string(),
          modelName: z.string().describe("as models call it"),
          about: z.string().describe("everything its server says about it"),
          pinned: z.literal(true).optional().describe("new conversations get it directly"),
          notPinned: z.string().optional().describe("why they don't, although it is pinned"),
          notOffered: z.string().optional().describe("why no agent gets it, although it can be used"),
        }),
      ),
      held: z.array(held),
      quarantined: z.array(problem),
    }),
    scope: "admin",
    mutates: false,
    doc: "A server's tools: those in use, those a person hasn't accepted yet, and those that can't be used.",
  }),
  "mcp.test": method({
    in: z.strictObject({ name }),
    out: z.object({
      ok: z.boolean(),
      ms: z.number(),
      why: z.string().optional(),
      tools: z.number(),
      held: z.number(),
      quarantined: z.array(problem),
      complaints: z.array(z.string()).describe("the last lines it wrote to its error output"),
    }),
    scope: "admin",
    mutates: false,
    doc: "Connects to a server and lists its tools.",
  }),
  // Takes what READMEs print, because that is what people have at hand.
  "mcp.add": method({
    in: z.strictObject({
      text: z.string().min(1).max(262_144).describe("JSON as READMEs print it: mcpServers and the like, or one server"),
      name: name.optional().describe("for a single server whose JSON has no name"),
      replace: z.boolean().optional().describe("replace a server of the same name"),
      ...withIdempotencyKey,
    }),
    out: z.object({
      added: z.array(z.object({ name: z.string(), target: z.string() })),
      refused: z.array(problem),
      notes: z.array(z.string()),
      needs: z.array(need).describe("secrets that a refused definition takes from the vault, which doesn't have them"),
    }),
    scope: "admin",
    mutates: true,
    doc: "Adds servers to lares.yaml. Values that look like keys go into the vault. Starts nothing.",
  }),
  "mcp.import": method({
    in: z.strictObject({
      file: z
        .string()
        .min(1)
        .max(4096)
        .optional()
        .describe("a file or folder on the gateway's machine; default: the usual places"),
      yes: z.array(z.string().max(64)).max(200).optional().describe("ids of what to add; without it, nothing is"),
      ...withIdempotencyKey,
    }),
    out: z.object({
      items: z.array(
        z.object({
          id: z.string().describe("of exactly this definition in this file"),
          name: z.string(),
          product: z.string().describe("whose file it is"),
          file: z.string(),
          state: z.enum(["new", "changed", "there already", "left out"]),
          target: z.string().optional().describe("its program with arguments, or its address"),
          gets: z.array(z.string()).describe("the variables and headers it gets, by name"),
          why: z.string().optional().describe("why it is left out"),
          needs: z.array(need).optional().describe("secrets that it takes from the vault, which doesn't have them"),
        }),
      ),
      added: z.array(z.string()),
      notes: z.array(z.string()),
    }),
    scope: "admin",
    mutates: true,
    doc: "Servers of Claude, Cursor, VS Code, OpenClaw, Hermes and of repositories in the workspaces; adds those you name. Starts nothing.",
  }),
  "mcp.login": method({
    in: z.strictObject({
      name,
      ended: z
        .string()
        .min(1)
        .max(8192)
        .optional()
        .describe("the address the browser ended at, when that isn't the gateway's machine"),
      ...withIdempotencyKey,
    }),
    out: z.object({
      link: z.string().optional().describe("where a person logs in"),
      done: z.boolean(),
    }),
    scope: "admin",
    mutates: true,
    doc: "Begins the login to a server elsewhere (OAuth). A browser on the gateway's machine finishes it by itself; otherwise `ended` does.",
  }),
  "mcp.accept": method({
    in: z.strictObject({ name, tools: z.array(z.string().min(1).max(128)).max(500).optional(), ...withIdempotencyKey }),
    out: z.object({ accepted: z.number() }),
    scope: "admin",
    mutates: true,
    doc: "Accepts a server's tools as they are now. Until then, new and changed ones are neither found nor called.",
  }),
  "mcp.logs": method({
    in: z.strictObject({ name, limit: z.number().int().min(1).max(1000).optional() }),
    out: z.object({
      lines: z.array(z.string()),
      problem: z.string().optional().describe("why it couldn't be started the last time, or ended"),
    }),
    scope: "admin",
    mutates: false,
    doc: "What a server's program wrote to its error output, the newest last, and why it isn't running if it failed.",
  }),
  "mcp.remove": method({
    in: z.strictObject({ name, ...withIdempotencyKey }),
    out: z.object({
      removed: z.boolean(),
      secrets: z.array(z.string()).describe("what was removed from the vault with it"),
    }),
    scope: "admin",
    mutates: true,
    doc: "Removes a server from lares.yaml, with the secrets stored for it alone, ends its program, and forgets which of its tools were accepted.",
  }),
} as const;
