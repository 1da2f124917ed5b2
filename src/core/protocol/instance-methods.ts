/** Methods about the instance: agents, settings, tokens and logins, usage, logs, commands and the security audit. */
import { z } from "zod";
import { method, nothing, withIdempotencyKey } from "./method.ts";
import { agentId, attachedFile, eventLabel, json, sessionKey, speaker, turnId, turnState, usageSum } from "./shapes.ts";

const scope = z.enum(["read", "write", "approvals", "admin", "peer"]);
const configPath = z.string().min(1).max(512).describe("dotted, e.g. limits.dollars");
// With its place in the file, so that an editor can show it where it is.
const configProblem = z.object({
  path: z.string(),
  message: z.string(),
  line: z.number().optional(),
  column: z.number().optional(),
  excerpt: z.string().optional(),
  note: z.boolean().optional().describe("it works, but not as one may think"),
  holds: z.boolean().optional().describe("it is in use all the same, and does less than it seems to"),
});
/** A closed list: a free path would be a way to write any file of the home. */
export const agentFile = z.enum(["SOUL.md", "AGENTS.md", "USER.md", "MEMORY.md", "HEARTBEAT.md"]);
const fileInfo = z.object({ name: z.string(), bytes: z.number(), changedAt: z.number() });
const agentInfo = z.object({
  agent: z.string(),
  isDefault: z.boolean(),
  model: z.string().optional(),
  policy: z.string().describe("the policy's mode"),
  sessions: z.number(),
  files: z.array(fileInfo),
});
const fileText = z.object({
  agent: z.string(),
  file: z.string(),
  text: z.string(),
  version: z.string().describe("changes with the text; pass it to files.set so that nobody's change is overwritten"),
});
const token = z.object({
  id: z.string(),
  name: z.string(),
  scopes: z.array(scope),
  createdAt: z.number(),
  createdBy: z.string(),
  lastUsedAt: z.number().optional(),
});
const logLine = z.object({
  seq: z.number(),
  level: z.enum(["debug", "info", "warn", "error"]),
  time: z.string(),
  room: z.string(),
  what: z.string(),
  facts: json.optional(),
});
// The same sums by day, by model and by agent.
const usageLine = usageSum;
const amount = z.object({ dollars: z.number(), tokens: z.number(), calls: z.number() });
const day = z.string().regex(/^\d{4}-\d{2}-\d{2}$/, "a day like 2026-11-15");

export const INSTANCE_METHODS = {
  // Events only tell what happens from now on. A page that opens in the middle of an answer needs what came before.
  "chat.live": method({
    in: z.strictObject({ session: sessionKey }),
    out: z.object({
      session: z.string(),
      boot: z.string(),
      seq: z.number().describe("the texts below include every delta up to this event"),
      turns: z.array(
        z.object({
          turn: turnId,
          state: turnState,
          acceptedAt: z.number(),
          startedAt: z.number().optional(),
          message: z.string().optional().describe("what was said, while no model call contains it yet"),
          speaker: speaker.optional().describe("who said it"),
          label: eventLabel.optional().describe("what happened, when nobody said it"),
          attachments: z
            .array(attachedFile.partial({ bytes: true }))
            .optional()
            .describe("what came with it"),
          step: z.string().optional(),
          call: z.number().optional().describe("number of the model call in progress"),
          text: z.string().optional(),
          thinking: z.string().optional(),
          calls: z.array(
            z.object({
              id: z.string().describe("id in the history once recorded"),
              call: z.number(),
              text: z.string(),
              thinking: z.string(),
            }),
          ),
          tools: z.array(
            z.object({
              id: z.string(),
              name: z.string(),
              input: json,
              startedAt: z.number(),
              endedAt: z.number().optional(),
              text: z.string().optional(),
              isError: z.boolean().optional(),
            }),
          ),
          cut: z.boolean().optional(),
        }),
      ),
    }),
    scope: "read",
    mutates: false,
    doc: "The open turns of a session with what they have said so far, for a page that is opened in the middle of an answer.",
  }),
  "sessions.rename": method({
    in: z.strictObject({ session: sessionKey, title: z.string().trim().min(1).max(200), ...withIdempotencyKey }),
    out: z.object({ session: z.string(), title: z.string() }),
    scope: "write",
    mutates: true,
    doc: "Gives a session a title.",
  }),
  "agents.list": method({
    in: nothing,
    out: z.object({ agents: z.array(agentInfo) }),
    scope: "read",
    mutates: false,
    doc: "The agents of this home.",
  }),
  "agents.get": method({
    in: z.strictObject({ agent: agentId }),
    out: agentInfo,
    scope: "read",
    mutates: false,
    doc: "One agent.",
  }),
  "agents.create": method({
    in: z.strictObject({
      agent: agentId,
      soul: z.string().max(100_000).optional().describe("text of SOUL.md"),
      ...withIdempotencyKey,
    }),
    out: agentInfo,
    scope: "admin",
    mutates: true,
    doc: "Creates an agent's folder with good defaults.",
  }),
  "agents.files.get": method({
    in: z.strictObject({ agent: agentId, file: agentFile }),
    out: fileText,
    scope: "read",
    mutates: false,
    doc: "One of an agent's files.",
  }),
  // Two people, or a person and the agent, may edit the same file; the version makes the second one notice.
  "agents.files.set": method({
    in: z.strictObject({
      agent: agentId,
      file: agentFile,
      text: z.string().max(200_000),
      version: z
        .string()
        .max(64)
        .optional()
        .describe("the version that was edited; if the file has another one by now, it's a conflict"),
      ...withIdempotencyKey,
    }),
    out: fileText.omit({ text: true }),
    scope: "admin",
    mutates: true,
    doc: "Writes one of an agent's files. New sessions start with it.",
  }),
  "usage.summary": method({
    in: z.strictObject({
      from: day.optional(),
      to: day.optional(),
      agent: agentId.optional(),
      // Days begin at the asker's midnight. An offset, because the page knows it without a list of zones.
      zoneOffsetMinutes: z.number().int().min(-840).max(840).optional().describe("where days begin; default: UTC"),
    }),
    out: z.object({
      from: z.string(),
      to: z.string(),
      total: usageLine,
      days: z.array(usageLine.extend({ day: z.string() })),
      models: z.array(
        usageLine.extend({ model: z.string().nullable().describe("null for calls that no model answered") }),
      ),
      agents: z.array(usageLine.extend({ agent: z.string() })),
    }),
    scope: "read",
    mutates: false,
    doc: "Tokens and cost by day, model and agent; by default for the last 30 days.",
  }),
  "budget.use": method({
    in: z.strictObject({ agent: agentId.optional() }),
    out: z.object({
      budgets: z.array(
        z.object({
          of: z.enum(["all", "agent"]).describe("everything together, or one agent"),
          agent: z.string().optional(),
          day: z.string(),
          caps: amount.partial(),
          spent: amount.extend({
            assumed: z.number().describe("dollars of it at an assumed price, because a model's own wasn't known"),
          }),
          reserved: amount.describe("set aside for calls in progress"),
        }),
      ),
    }),
    scope: "read",
    mutates: false,
    doc: "What was spent today, compared with its limits. Unknown prices are counted as the settings say.",
  }),
  // Lines are redacted before they are stored, so the right to read is enough.
  "logs.tail": method({
    in: z.strictObject({
      limit: z.number().int().min(1).max(2000).optional(),
      after: z.number().int().min(0).optional().describe("only lines with a greater seq"),
      level: z.enum(["debug", "info", "warn", "error"]).optional(),
      room: z.string().max(64).optional(),
    }),
    out: z.object({ lines: z.array(logLine) }),
    scope: "read",
    mutates: false,
    doc: "The newest lines of the log, oldest first; new ones come as `log` events.",
  }),
  "config.get": method({
    in: z.strictObject({ path: configPath.optional() }),
    out: z.object({
      file: z.string(),
      exists: z.boolean(),
      value: json.describe("the values in use, defaults included, secrets masked"),
      written: json.optional().describe("the values in the file, references unresolved, secrets masked"),
      quarantined: z.array(z.string()).describe("sections that keep their last good values because of a problem"),
      restart: z.array(z.string()).describe("sections whose change needs a restart"),
      problems: z.array(configProblem),
    }),
    scope: "admin",
    mutates: false,
    doc: "The settings in use.",
  }),
  // One key at a time, with a check of the whole file, so that a mistake never leaves a broken file.
  "config.set": method({
    in: z.strictObject({
      path: configPath,
      value: json.optional().describe("if left out, the key is removed and its default applies"),
      ...withIdempotencyKey,
    }),
    out: z.object({
      path: z.string(),
      changed: z.array(z.string()).describe("sections that changed at once"),
      restart: z.array(z.string()).describe("sections whose change needs a restart"),
      effect: z
        .enum(["live", "session", "restart"])
        .describe("when it takes effect: at once, in new conversations (or after /reload), or after a restart"),
      advice: z
        .array(z.string())
        .optional()
        .describe("why what was set doesn't work as things are, or does less than it seems to, with the way out"),
    }),
    scope: "admin",
    mutates: true,
    doc: "Changes one key of lares.yaml; comments and everything else stay. Refused when the result would not be valid.",
  }),
  "config.check": method({
    in: z.strictObject({ text: z.string().max(1_000_000).optional().describe("instead of the file") }),
    out: z.object({ ok: z.boolean(), problems: z.array(configProblem) }),
    scope: "admin",
    mutates: false,
    doc: "What is wrong with lares.yaml, each with line and caret.",
  }),
  "config.schema": method({
    in: nothing,
    out: z.object({ schema: json, keys: z.array(json) }),
    scope: "admin",
    mutates: false,
    doc: "JSON Schema of lares.yaml, and every key with type, default and a sentence.",
  }),
  // The only answer that ever contains a token. Only its hash is stored.
  "tokens.create": method({
    in: z.strictObject({
      name: z.string().trim().min(1).max(100),
      scopes: z.array(scope).min(1).max(5),
      ...withIdempotencyKey,
    }),
    out: z.object({
      id: z.string(),
      token: z.string().describe("shown once; only its hash is kept"),
      name: z.string(),
      scopes: z.array(scope),
      createdAt: z.number(),
    }),
    scope: "admin",
    mutates: true,
    doc: "Creates a token. Its rights can't exceed its creator's.",
  }),
  "tokens.list": method({
    in: nothing,
    out: z.object({
      tokens: z.array(token),
      logins: z.array(
        z.object({
          id: z.string(),
          name: z.string(),
          browser: z.string(),
          scopes: z.array(scope),
          createdAt: z.number(),
          lastUsedAt: z.number(),
          expiresAt: z.number(),
          current: z.boolean().describe("this very login"),
        }),
      ),
    }),
    scope: "admin",
    mutates: false,
    doc: "Tokens and browser logins that can use this gateway.",
  }),
  "tokens.revoke": method({
    in: z.strictObject({ id: z.string().min(1).max(128), ...withIdempotencyKey }),
    out: z.object({ id: z.string(), revoked: z.boolean() }),
    scope: "admin",
    mutates: true,
    doc: "Revokes a token or a browser login immediately; its sockets are closed.",
  }),
  // A code in a link instead of a token: it works once, so a link in a browser's history opens nothing.
  "login.code": method({
    in: nothing,
    out: z.object({ code: z.string(), url: z.string(), expiresAt: z.number() }),
    scope: "admin",
    mutates: false,
    doc: "A one-time code for a browser, valid for ten minutes. The login gets the caller's rights.",
  }),
  "commands.list": method({
    in: z.strictObject({ agent: agentId.optional().describe("default: the default agent") }),
    out: z.object({ commands: z.array(z.object({ name: z.string(), usage: z.string(), doc: z.string() })) }),
    scope: "read",
    mutates: false,
    doc: "The slash commands, the same in every face and channel. For those who may answer approvals, also prompts of MCP servers, as they were last listed.",
  }),
  // Reads only. Each finding says what to do, because a list of risks without a way out is ignored.
  "security.audit": method({
    in: nothing,
    out: z.object({
      worst: z.enum(["ok", "warn", "bad"]),
      findings: z.array(
        z.object({
          id: z.string(),
          level: z.enum(["ok", "warn", "bad"]),
          text: z.string(),
          hint: z.string().optional(),
        }),
      ),
    }),
    scope: "admin",
    mutates: false,
    doc: "What is exposed: address, token, file modes, policy, channels.",
  }),
} as const;
