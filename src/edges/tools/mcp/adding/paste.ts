/**
 * Server definitions as people paste them: Claude, Cursor, VS Code, Windsurf, Gemini, OpenClaw, Hermes, opencode, Goose, Agent
 * Plugins. All become one shape, the one of `mcp.servers`. Rights are never taken over: what another program may do unasked says
 * nothing about what Lares may.
 */
import { z } from "zod";
import { isObject, type Json, type JsonObject } from "../../../../core/domain/index.ts";
import { firstIssue, looseJson, parseJson, steersPrograms } from "../../../../core/kit/index.ts";
import { SERVER_NAME, type ServerConfig, serverConfig } from "../config.ts";
import type { PastedQuestions } from "./placeholders.ts";
import { type Split, splitCommand } from "./split.ts";

export interface Pasted {
  servers: { name: string; config: ServerConfig }[];
  /** Entries that can't be used, each with its reason; their siblings are not affected. */
  refused: { name: string; reason: string }[];
  /** What was left out of an entry that is used otherwise, in sentences for the person. */
  notes: string[];
}

export interface PastedValue extends Pasted {
  /** Nothing in it is a list of servers. */
  isEmpty: boolean;
  /** What it asks the person who uses it, by id (VS Code's `inputs`). */
  questions: PastedQuestions;
}

/** Where the products keep their servers, most telling first. */
const CONTAINERS: readonly (readonly string[])[] = [
  ["mcpServers"],
  ["mcp", "servers"],
  ["mcp", "mcpServers"],
  ["mcp_servers"],
  ["servers"],
  ["extensions"],
  ["mcp"],
];
/** Nobody has this many; a paste is a text from outside. */
const MOST_SERVERS = 100;

/**
 * `name`: for a text that is one server and doesn't say how it is called. Comments and commas too many are read over, as the programs do
 * that write them. Throws a SyntaxError when it isn't JSON.
 */
export function readPasted(text: string, name?: string): PastedValue {
  const pasted = readPastedValue((looseJson(text) ?? parseJson(text)) as Json, name);
  if (pasted.servers.length + pasted.refused.length === 0)
    pasted.refused.push({ name: name ?? "(paste)", reason: tellEmpty(pasted) });
  return pasted;
}

/** Why there is nothing to add, as the end of a sentence. */
export function tellEmpty({ isEmpty }: PastedValue): string {
  return isEmpty
    ? 'there are no server definitions in it; they stand under "mcpServers", or "servers" in VS Code'
    : "its list of servers is empty";
}

/** The same of what is read already. */
export function readPastedValue(value: Json, name?: string): PastedValue {
  const found = container(value, name);
  const pasted: PastedValue = { servers: [], refused: [], notes: [], isEmpty: !found, questions: readQuestions(value) };
  if (!found) return pasted;
  for (const [given, entry] of Object.entries(found).slice(0, MOST_SERVERS)) addServer(pasted, given, entry);
  return pasted;
}

function readQuestions(value: Json): PastedQuestions {
  if (!isObject(value)) return new Map();
  const given = inputs.safeParse(value.inputs ?? (isObject(value.mcp) ? value.mcp.inputs : undefined)).data ?? [];
  return new Map(given.slice(0, MOST_SERVERS).map(({ id, description = "" }) => [id, description.slice(0, 200)]));
}

function container(value: Json, name: string | undefined): JsonObject | undefined {
  if (!isObject(value)) return undefined;
  for (const path of CONTAINERS) {
    const inner = path.reduce<Json | undefined>((at, key) => (isObject(at) ? at[key] : undefined), value);
    if (isObject(inner) && Object.values(inner).every(isObject)) return inner;
  }
  if (isServer(value)) return name === undefined ? undefined : { [name]: value };
  return Object.values(value).length > 0 && Object.values(value).every((entry) => isObject(entry) && isServer(entry))
    ? value
    : undefined;
}

const isServer = (entry: JsonObject) => [...COMMAND_KEYS, ...URL_KEYS].some((key) => entry[key] !== undefined);

const COMMAND_KEYS = ["command", "cmd"] as const;
const URL_KEYS = ["url", "uri", "httpUrl", "serverUrl"] as const;
const VARIABLE_KEYS = ["env", "environment", "envs"] as const;
/** Lists of what may be called without asking. */
const RIGHTS = ["alwaysAllow", "autoApprove", "trust", "approval", "autoApproved"] as const;
const OLD_STREAM = "it uses the old SSE transport, which Lares doesn't speak; look for its streamable HTTP address";

const text = z.string();
const texts = z.array(z.string());
const inputs = z.array(z.looseObject({ id: text, description: text.optional() }));
const variables = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));

function addServer(pasted: Pasted, given: string, entry: Json): void {
  const name = nameFrom(given);
  if (!isObject(entry)) {
    pasted.refused.push({ name: given, reason: "it isn't an object" });
    return;
  }
  if (entry.type === "sse" || entry.transport === "sse") {
    pasted.refused.push({ name: given, reason: OLD_STREAM });
    return;
  }
  const command = readCommand(entry);
  if ("why" in command) {
    pasted.refused.push({ name: given, reason: `its command can't be used: ${command.why}` });
    return;
  }
  const server = shaped(entry, command.words, (note) => pasted.notes.push(`${name}: ${note}`));
  const read = serverConfig.safeParse(server);
  if (!read.success) {
    pasted.refused.push({ name: given, reason: explainRefusal(read.error.issues, server) });
    return;
  }
  if (pasted.servers.some((other) => other.name === name)) {
    pasted.refused.push({ name: given, reason: `another server in it is called "${name}", too` });
    return;
  }
  if (name !== given)
    pasted.notes.push(`${name}: it is called "${given}" in the paste; names are letters, digits, - and _`);
  pasted.servers.push({ name, config: read.data });
}

/** Words of the schema about the whole have no name before them. */
function explainRefusal(issues: Parameters<typeof firstIssue>[0], server: JsonObject): string {
  return firstIssue(issues, server, "it").replace(/\.$/, "").replace(/^it: /, "it ");
}

/** One product's entry in our words. Fields that mean nothing here are left out; the schema judges the rest. */
function shaped(
  entry: JsonObject,
  [command, ...more]: readonly string[],
  note: (sentence: string) => void,
): JsonObject {
  const url = URL_KEYS.map((key) => entry[key]).find((value) => value !== undefined);
  for (const key of RIGHTS) if (entry[key] !== undefined) note(`"${key}" was left out; Lares asks by its own rules`);
  return withoutAbsent({
    command,
    args: command === undefined ? undefined : [...more, ...(texts.safeParse(entry.args).data ?? [])],
    env: readVariables(entry, note),
    cwd: text.safeParse(entry.cwd).data,
    url,
    headers: entry.headers ?? entry.http_headers,
    oauth: readLogin(entry.oauth),
    enabled: entry.disabled === true || entry.enabled === false ? false : undefined,
    ...readTimes(entry),
    ...readFilters(entry),
  });
}

/**
 * `"npx -y server"` in one string is how some READMEs write it, and what `--command` gives: it is read as a shell would. Beside a list of
 * arguments it is a program's name, blanks and all; beside an empty one, if it is a path.
 */
function readCommand(entry: JsonObject): Split {
  const given = COMMAND_KEYS.map((key) => entry[key]).find((value) => value !== undefined);
  const list = texts.safeParse(given);
  if (list.success) return { words: list.data };
  if (typeof given !== "string") return { words: [] };
  const args = texts.safeParse(entry.args).data;
  const isOneWord = args !== undefined && (args.length > 0 || given.startsWith("/"));
  return isOneWord ? { words: [given] } : splitCommand(given);
}

function readVariables(entry: JsonObject, note: (sentence: string) => void): JsonObject | undefined {
  const given = VARIABLE_KEYS.map((key) => entry[key]).find((value) => value !== undefined);
  const read = variables.safeParse(given);
  if (!read.success) return given as JsonObject | undefined;
  const kept = Object.entries(read.data).filter(([name]) => {
    if (!steersPrograms(name)) return true;
    note(`${name} was left out: it changes which code a program runs`);
    return false;
  });
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)]));
}

/** A client that was registered beforehand; a login without one needs nothing in the definition. */
function readLogin(given: Json | undefined): JsonObject | undefined {
  if (!isObject(given)) return undefined;
  const [clientId, clientSecret, scope] = [
    given.clientId ?? given.client_id,
    given.clientSecret ?? given.client_secret,
    given.scope,
  ].map((value) => text.safeParse(value).data);
  return clientId === undefined && scope === undefined ? undefined : withoutAbsent({ clientId, clientSecret, scope });
}

/** Products count in seconds or in milliseconds; the key says which, and where it doesn't, no server takes a thousand seconds. */
function readTimes(entry: JsonObject): JsonObject {
  const timeout = isObject(entry.timeout) ? entry.timeout : undefined;
  const call = entry.requestTimeoutMs ?? timeout?.request ?? (timeout ? undefined : entry.timeout);
  const start = entry.connectionTimeoutMs ?? timeout?.startup ?? entry.connect_timeout ?? entry.startup_timeout_sec;
  const idle = entry.idle_timeout_seconds;
  return withoutAbsent({
    callSeconds: inSeconds(call, entry.requestTimeoutMs !== undefined),
    startSeconds: inSeconds(start, entry.connectionTimeoutMs !== undefined),
    idleMinutes: typeof idle === "number" ? Math.min(1440, Math.max(0, idle) / 60) : undefined,
  });
}

function inSeconds(value: Json | undefined, isMilliseconds: boolean): number | undefined {
  if (typeof value !== "number" || value <= 0) return undefined;
  return isMilliseconds || value >= 1000 ? value / 1000 : value;
}

function readFilters(entry: JsonObject): JsonObject {
  const filter = [entry.toolFilter, entry.tools].find((one) => isObject(one)) ?? {};
  const allow = texts.safeParse(filter.include ?? entry.includeTools ?? entry.enabled_tools).data;
  const deny = texts.safeParse(
    filter.exclude ?? entry.excludeTools ?? entry.disabledTools ?? entry.disabled_tools,
  ).data;
  return withoutAbsent({ allow, deny });
}

/** `My Server!` → `My-Server`: a paste is not refused for the sake of a title. */
function nameFrom(given: string): string {
  if (SERVER_NAME.test(given)) return given;
  const plain = given
    .slice(0, 200)
    .normalize("NFKD")
    .replace(/[^A-Za-z0-9_-]/g, "-")
    .split("-")
    .filter(Boolean)
    .join("-")
    .slice(0, 32);
  const trimmed = plain.replace(/^[_-]/, "").replace(/[_-]$/, "");
  return SERVER_NAME.test(trimmed) ? trimmed : "server";
}

function withoutAbsent(given: Record<string, Json | undefined>): JsonObject {
  return Object.fromEntries(Object.entries(given).filter((entry): entry is [string, Json] => entry[1] !== undefined));
}
