/**
 * `mcp.json` of an Agent Plugins 1.0.0 folder. Pure.
 *
 * PLUGINS-2: what is wrong with one server loses that server only; what is wrong with the file loses its servers only.
 */

import { z } from "zod";
import { isObject } from "../../../core/domain/index.ts";
import { isLoopbackName } from "../../../core/kit/index.ts";
import { firstIssue, readObject } from "./manifest.ts";
import { argument, programToken, staysInside, variables } from "./server-fields.ts";

const MCP_SCHEMA = "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json";
const MOST_SERVERS = 50;

const cwd = z
  .string()
  .max(4096)
  .refine(
    (given) =>
      /^(?:\.\/|\$\{PLUGIN_(?:ROOT|DATA)\}(?:\/|$))/.test(given) && staysInside(given.replace(/^\$\{\w+\}/, ".")),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: placeholders as a plugin writes them
    "must begin with ./, ${PLUGIN_ROOT} or ${PLUGIN_DATA} and stay in there",
  );
const url = z
  .url({ protocol: /^https?$/ })
  .max(4096)
  .superRefine((given, context) => {
    const { username, password, hash, protocol, hostname } = new URL(given);
    if (username !== "" || password !== "" || hash !== "")
      context.addIssue({ code: "custom", message: "may have neither a user nor a fragment" });
    if (protocol === "http:" && !isLoopbackName(hostname) && !/^(?:127\.|\[::1\])/.test(hostname))
      context.addIssue({ code: "custom", message: "must be https" });
  });
const headers = z.record(
  z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}$/),
  z
    .string()
    .max(8192)
    .regex(/^[\t\x20-\x7e]*$/),
);

const stdio = z.strictObject({
  type: z.literal("stdio"),
  command: programToken,
  args: z.array(argument).max(200).default([]),
  env: variables.default({}),
  cwd: cwd.optional(),
});
const remote = z
  .strictObject({ type: z.enum(["streamable-http", "sse"]), url, headers: headers.default({}) })
  .refine(
    ({ headers: given }) =>
      new Set(Object.keys(given).map((name) => name.toLowerCase())).size === Object.keys(given).length,
    "a header is named twice",
  );

export type StdioEntry = z.output<typeof stdio>;
export type RemoteEntry = z.output<typeof remote>;

export interface McpFile {
  servers: Record<string, StdioEntry | RemoteEntry>;
  /** Entries that can't be used, and why. */
  problems: string[];
}

const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9_. -]{0,62}[A-Za-z0-9])?$/;

export function readMcpFile(source: string): McpFile {
  const lost = (why: string): McpFile => ({
    servers: {},
    problems: [`mcp.json ${why}, so none of its servers is used`],
  });
  const json = readObject(source);
  if ("why" in json) return lost(json.why);
  const { $schema, mcpServers, ...others } = json.value;
  if ($schema !== MCP_SCHEMA) return lost(`must have "$schema": "${MCP_SCHEMA}"`);
  if (Object.keys(others).length > 0) return lost("has an unknown field");
  if (!isObject(mcpServers)) return lost("must have an object mcpServers");
  const entries = Object.entries(mcpServers as Record<string, unknown>);
  const file: McpFile = { servers: {}, problems: [] };
  for (const [name, entry] of entries.slice(0, MOST_SERVERS)) {
    const read = readEntry(name, entry);
    if (typeof read === "string") file.problems.push(`mcp.json, server "${name.slice(0, 64)}": ${read}`);
    else file.servers[name] = read;
  }
  if (entries.length > MOST_SERVERS)
    file.problems.push(`mcp.json has more than ${MOST_SERVERS} servers; the rest is left out`);
  return file;
}

function readEntry(name: string, entry: unknown): StdioEntry | RemoteEntry | string {
  if (!NAME.test(name)) return "its name can't be used";
  const { type } = (entry ?? {}) as { type?: unknown };
  if (type !== "stdio" && type !== "streamable-http" && type !== "sse") return "its type is unknown";
  const read = type === "stdio" ? stdio.safeParse(entry) : remote.safeParse(entry);
  if (!read.success) return firstIssue(read.error);
  return read.data.type === "sse" ? "the older HTTP+SSE transport isn't supported" : read.data;
}
