/** Codex' items as tool calls: a name, an input and a result. Pure. */
import { asObject, type Json } from "../../../core/domain/index.ts";
import { defined } from "../../../core/kit/index.ts";
import { codexWords as words } from "./words.ts";

export type CodexItem = Readonly<Record<string, unknown>>;

export interface ReadCall {
  name: string;
  input: Json;
  isError: boolean;
  text: string;
}

/** Of a tool's output; its progress had all of it. */
const MOST_TEXT = 256 * 1024;

type CallReader = (item: CodexItem) => Pick<ReadCall, "name" | "input"> & { text?: string };

/** By type, in the app server's words and in those of `exec`. Other items aren't tool calls. */
const CALLS: Readonly<Record<string, CallReader>> = {
  commandExecution: ({ command, cwd, aggregatedOutput }) => ({
    name: "exec_command",
    input: { command: asText(command), cwd: asText(cwd) },
    text: asText(aggregatedOutput),
  }),
  command_execution: ({ command, aggregated_output }) => ({
    name: "exec_command",
    input: { command: asText(command) },
    text: asText(aggregated_output),
  }),
  fileChange: readPatch,
  file_change: readPatch,
  mcpToolCall: readMcpCall,
  mcp_tool_call: readMcpCall,
  dynamicToolCall: ({ tool, arguments: given }) => ({ name: asText(tool), input: asJson(given) }),
  collabAgentToolCall: ({ tool, prompt }) => ({ name: asText(tool), input: { prompt: asText(prompt) } }),
  webSearch: ({ query }) => ({ name: "web_search", input: { query: asText(query) } }),
  web_search: ({ query }) => ({ name: "web_search", input: { query: asText(query) } }),
  imageView: ({ path }) => ({ name: "view_image", input: { path: asText(path) } }),
};

export function readCall(item: CodexItem): ReadCall | undefined {
  const type = String(item.type);
  if (!Object.hasOwn(CALLS, type)) return undefined;
  const { name, input, text = "" } = CALLS[type]!(item);
  const isError = item.status === "failed" || item.status === "declined";
  const said = text === "" && item.status === "declined" ? words.declined : text;
  return { name, input, isError, text: said.slice(0, MOST_TEXT) };
}

/** One file is named as such, so that it is judged by the rules for files; a move has two. */
function readPatch(item: CodexItem): ReturnType<CallReader> {
  const changes = readChanges(item);
  const given = Array.isArray(item.changes) ? item.changes.map(asObject) : [];
  const isOne = given.length === 1 && !asObject(given[0]!.kind).move_path;
  const path = isOne ? asText(given[0]!.path) || undefined : undefined;
  return { name: "apply_patch", input: { ...defined({ path }), changes }, text: sayChanges(item) };
}

function readMcpCall({ server, tool, arguments: given, result, error }: CodexItem): ReturnType<CallReader> {
  const content = asObject(result).content;
  const parts = Array.isArray(content) ? content.map((one) => asText(asObject(one).text)) : [];
  const complaint = asText(asObject(error).message);
  return {
    name: nameMcpTool(server, tool),
    input: asJson(given),
    text: complaint || parts.filter((part) => part !== "").join("\n"),
  };
}

/** As the model knows it. */
function nameMcpTool(server: unknown, tool: unknown): string {
  return `mcp__${asText(server)}__${asText(tool)}`;
}

function readChanges({ changes }: CodexItem): Json[] {
  if (!Array.isArray(changes)) return [];
  return changes.map((one) => {
    const { path, kind, diff } = asObject(one);
    return { path: asText(path), kind: readKind(kind), diff: asText(diff) };
  });
}

function sayChanges({ changes }: CodexItem): string {
  if (!Array.isArray(changes)) return "";
  return changes.map((one) => `${readKind(asObject(one).kind)} ${asText(asObject(one).path)}`).join("\n");
}

function readKind(kind: unknown): string {
  return typeof kind === "string" ? kind : asText(asObject(kind).type) || "update";
}

export function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function asJson(value: unknown): Json {
  return (value ?? {}) as Json;
}
