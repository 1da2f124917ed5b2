/** A tool call as an editor shows it: what kind it is, which files it touches, and what a change would look like. Pure. */
import { posix } from "node:path";
import { isObject, type Json } from "../../../core/domain/index.ts";
import { defined } from "../../../core/kit/index.ts";
import { toolLine } from "../chat/rows.ts";
import { patchDiffs } from "./patch.ts";
import type { ShownCall, ToolContent, ToolKind, ToolLocation } from "./wire.ts";

export interface ModelCall {
  id: string;
  name: string;
  input: Json;
}

const KINDS: Readonly<Record<string, ToolKind>> = {
  read: "read",
  list: "search",
  search: "search",
  write: "edit",
  edit: "edit",
  apply_patch: "edit",
  exec: "execute",
  process: "execute",
  web_fetch: "fetch",
  web_search: "fetch",
  browser: "fetch",
  memory_search: "search",
  tool_search: "search",
};

/** As much of a tool's input and output as an editor gets: it shows them, and the records have the rest. */
const MOST_SHOWN = 32_768;
/** A title is one line of a list. */
const MOST_TITLE = 200;

/** `folder`: where relative paths start. */
export function showCall(call: ModelCall, folder: string): ShownCall {
  const { name, input } = inner(call);
  return {
    toolCallId: call.id,
    title: toolLine(name, input).slice(0, MOST_TITLE),
    name,
    kind: KINDS[name] ?? "other",
    content: describeChange(name, input, folder),
    locations: locate(name, input, folder),
    rawInput: bounded(input),
  };
}

/** Whether a tool's call has a diff to show. */
export function isChange(name: string): boolean {
  return KINDS[name] === "edit";
}

export function resultContent(text: string): ToolContent[] {
  const cut = text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}\n[…]` : text;
  return cut ? [{ type: "content", content: { type: "text", text: cut } }] : [];
}

/** `tool_run` runs another tool: that is the one people want to see. */
function inner({ name, input }: ModelCall): { name: string; input: Json } {
  const fields = asFields(input);
  if (name !== "tool_run" || typeof fields.name !== "string") return { name, input };
  return { name: fields.name, input: (fields.input ?? {}) as Json };
}

function describeChange(name: string, input: Json, folder: string): ToolContent[] {
  const { path, content, old, new: fresh, patch } = asFields(input);
  if (name === "apply_patch" && typeof patch === "string")
    return patchDiffs(patch).map(({ path: at, ...diff }) => ({ type: "diff", path: whole(at, folder), ...diff }));
  if (typeof path !== "string") return [];
  const at = whole(path, folder);
  if (name === "write" && typeof content === "string")
    return [{ type: "diff", path: at, oldText: null, newText: content }];
  if (name === "edit" && typeof old === "string" && typeof fresh === "string")
    return [{ type: "diff", path: at, oldText: old, newText: fresh }];
  return [];
}

function locate(name: string, input: Json, folder: string): ToolLocation[] {
  const { path, offset, patch } = asFields(input);
  if (name === "apply_patch" && typeof patch === "string")
    return patchDiffs(patch).map(({ path: at }) => ({ path: whole(at, folder) }));
  // A skill's file isn't a file of the editor's.
  if (typeof path !== "string" || KINDS[name] === undefined || /^\w+:/.test(path)) return [];
  const line = typeof offset === "number" && Number.isInteger(offset) && offset > 0 ? offset : undefined;
  return [{ path: whole(path, folder), ...defined({ line }) }];
}

function whole(path: string, folder: string): string {
  return path.startsWith("~") ? path : posix.resolve(folder, path);
}

function bounded(input: Json): Json {
  return JSON.stringify(input).length <= MOST_SHOWN ? input : { cut: true };
}

function asFields(input: unknown): Record<string, unknown> {
  return isObject(input) ? (input as Record<string, unknown>) : {};
}
