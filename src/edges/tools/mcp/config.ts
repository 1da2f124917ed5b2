/**
 * `mcp` in `lares.yaml`: the servers whose tools agents may use. The shape is the one that READMEs print under `mcpServers`, so
 * that what people paste works as it is.
 */
import { z } from "zod";
import { type DeepReadonly, steersPrograms } from "../../../core/kit/index.ts";

/** What a config key allows as a server's name: it becomes part of every tool's name. */
export const SERVER_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,30}[A-Za-z0-9])?$/;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Tools of servers that stand in every request. Twelve usual ones are about 2,000 tokens, as much as everything else together. */
const MOST_PINNED = 12;

const seconds = (most: number) => z.number().positive().max(most);
const patterns = z.array(z.string().min(1).max(128)).max(200);

const variables = z.record(z.string(), z.string()).superRefine((given, context) => {
  for (const name of Object.keys(given)) {
    if (!VARIABLE.test(name)) context.addIssue({ code: "custom", message: `"${name}" isn't a variable's name` });
    else if (steersPrograms(name)) {
      context.addIssue({ code: "custom", message: `${name} changes which code a program runs, so no server gets it` });
    }
  }
});

export const serverConfig = z
  .strictObject({
    command: z.string().min(1).max(4096).optional().describe("the program to start; one word, without a shell"),
    args: z.array(z.string().max(16_384)).max(200).default([]).describe("its arguments"),
    env: variables.default({}).describe("its variables; `vault:NAME` takes a stored secret"),
    cwd: z.string().min(1).max(4096).optional().describe("the folder it starts in; default: a separate folder"),
    url: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe("the address of a server that runs elsewhere"),
    headers: z
      .record(z.string().max(200), z.string().max(8192))
      .default({})
      .describe("sent with every request to `url`"),
    oauth: z
      .strictObject({
        clientId: z.string().min(1).max(2000).optional().describe("a client that was registered beforehand"),
        clientSecret: z.string().min(1).max(2000).optional().describe("its secret; `vault:NAME` takes a stored one"),
        scope: z.string().min(1).max(2000).optional().describe("the rights to ask for, where the server doesn't say"),
      })
      .optional()
      .describe("for the login to `url`; most servers need nothing of it"),
    enabled: z.boolean().default(true).describe("`false`: it is neither offered nor started"),
    sandbox: z.boolean().default(true).describe("run the program in the sandbox, as commands are"),
    network: z
      .boolean()
      .default(true)
      .describe(
        "whether the program may use the network; `sandbox.network`, which is about commands, doesn't change it",
      ),
    startSeconds: seconds(300)
      .default(60)
      .describe("how long starting or reaching it may take in all, until its tools are listed"),
    callSeconds: seconds(3600).default(60).describe("how long a call may stay silent"),
    askSeconds: seconds(3600)
      .default(600)
      .describe("how long a server of the older protocol is kept waiting when it asks you something"),
    sampling: z
      .boolean()
      .default(false)
      .describe("whether it may have a model write something for it, at your cost, once you have agreed"),
    samplingCalls: z.number().int().min(1).max(100).default(5).describe("how often in one turn"),
    samplingTokens: z
      .number()
      .int()
      .min(1)
      .max(100_000)
      .default(1000)
      .describe("the longest answer it gets, in tokens"),
    taskMinutes: z
      .number()
      .positive()
      .max(43_200)
      .default(1440)
      .describe("how long a call may take that the server works on in the background (a task)"),
    idleMinutes: z.number().min(0).max(1440).default(10).describe("how long an unused program keeps running"),
    allow: patterns.optional().describe("the only tools of it that are offered, by name or `pattern*`"),
    deny: patterns.default([]).describe("tools of it that aren't offered"),
    pin: z
      .array(
        z
          .string()
          .min(1)
          .max(128)
          .refine((name) => !name.includes("*"), "names tools exactly, without `*`"),
      )
      .max(MOST_PINNED, `at most ${MOST_PINNED} tools can be pinned: each is part of every request`)
      .default([])
      .describe("tools of it that new conversations get directly, without a search; only while you have accepted them"),
    repeatable: patterns.default([]).describe("tools that may be called again when a call's outcome is unknown"),
  })
  .superRefine((server, context) => {
    if ((server.command === undefined) === (server.url === undefined)) {
      context.addIssue({ code: "custom", message: "needs either `command` (a program) or `url` (an address)" });
    }
  });

export const mcpConfig = z.strictObject({
  servers: z
    .record(z.string().regex(SERVER_NAME, "made of letters, digits, - and _, at most 32"), serverConfig)
    .superRefine((servers, context) => {
      const pinned = Object.values(servers).reduce((sum, { pin }) => sum + pin.length, 0);
      if (pinned <= MOST_PINNED) return;
      const message = `${pinned} tools are pinned and at most ${MOST_PINNED} can be: each is part of every request`;
      context.addIssue({ code: "custom", message });
    })
    .default({})
    .describe("MCP servers by name"),
});

/** Which of the servers' tools an agent may use; what is left out, it neither finds nor calls. */
export const agentMcpConfig = z
  .strictObject({
    allow: patterns.optional().describe("The only tools it may use, as `server/tool`; `*` stands for any name."),
    deny: patterns.default([]).describe("Tools it may not use, written the same way."),
  })
  .describe("Which tools of MCP servers this agent may use. Default: all.");

export type ServerConfig = DeepReadonly<z.infer<typeof serverConfig>>;
export type McpConfig = DeepReadonly<z.infer<typeof mcpConfig>>;
