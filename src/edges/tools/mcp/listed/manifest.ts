/**
 * What a server says it can do, read leniently: one bad tool loses itself and nothing else, and the reason is shown. Everything in
 * it is text from outside: it is bounded and freed of hidden characters before anybody, model or person, reads it.
 *
 * MCP-4: the digest covers everything of a tool that could talk a model or a person into using it otherwise; while it is the same, an
 *     approval given for the tool still speaks of this tool.
 */
import { createHash } from "node:crypto";
import { z } from "zod";
import { isObject, type Json, type JsonObject } from "../../../../core/domain/index.ts";
import { firstIssue, isTooDeep, withoutHidden } from "../../../../core/kit/index.ts";
import { findHeaderProblem } from "./headers.ts";
import { toolName } from "./names.ts";

/** Above the largest server seen in the wild (about 200); a list without end is cut here. */
export const MOST_TOOLS = 500;
/** The largest schema seen is 24 KB; behind `tool_run` a model reads it as text. */
const MOST_SCHEMA_BYTES = 65_536;
const MOST_DESCRIPTION = 4_000;
const MOST_TITLE = 120;
/** The specification's bound. */
const LONGEST_NAME = 128;
/** Levels of a schema. What is deeper can't be shown or filled in by anyone. */
const MOST_SCHEMA_DEPTH = 40;

export interface McpTool {
  /** As the server calls it. */
  name: string;
  /** As models call it. */
  modelName: string;
  title?: string;
  description: string;
  input: JsonObject;
  output?: JsonObject;
  /** What the server claims; only ever a reason to be more careful. */
  hints: { isDestructive: boolean; isOpenWorld: boolean; isReadOnly: boolean };
  digest: string;
  /** In the older era: it can be called as a task. */
  isTask?: true;
}

export interface Manifest {
  tools: McpTool[];
  /** Tools that can't be used, and why. */
  quarantined: { name: string; reason: string }[];
  /** The server had more tools than are read. */
  isCut: boolean;
}

const listed = z.looseObject({
  name: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
  // Not read further here: a schema nested a hundred thousand deep would end any reader that follows it.
  inputSchema: z.unknown(),
  outputSchema: z.unknown().optional(),
  annotations: z
    .object({
      destructiveHint: z.boolean().optional(),
      openWorldHint: z.boolean().optional(),
      readOnlyHint: z.boolean().optional(),
    })
    .optional(),
  execution: z.looseObject({ taskSupport: z.string().optional() }).optional().catch(undefined),
});

const TASK_SUPPORT = new Set(["optional", "required"]);

export function readManifest(server: string, tools: readonly unknown[]): Manifest {
  const manifest: Manifest = { tools: [], quarantined: [], isCut: tools.length > MOST_TOOLS };
  const seen = new Set<string>();
  for (const raw of tools.slice(0, MOST_TOOLS)) {
    const read = readTool(server, raw);
    if ("reason" in read) manifest.quarantined.push(read);
    // Which of the two is meant nobody can tell: the first stays, as it would without the second.
    else if (seen.has(read.name))
      manifest.quarantined.push({ name: read.name, reason: "the server lists this name twice" });
    else {
      seen.add(read.name);
      manifest.tools.push(read);
    }
  }
  // Servers list in any order, and the order is part of what a model reads: the cache depends on it.
  manifest.tools.sort((a, b) => (a.name < b.name ? -1 : 1));
  return manifest;
}

function readTool(server: string, raw: unknown): McpTool | { name: string; reason: string } {
  const parsed = listed.safeParse(raw);
  if (!parsed.success) {
    const why = firstIssue(parsed.error.issues, raw, "it").replace(/\.$/, "");
    return { name: nameFor(raw), reason: `its entry isn't valid: ${why}` };
  }
  const { name, title, description = "", inputSchema, outputSchema, annotations, execution } = parsed.data;
  const shown = nameFor(raw);
  if (name === "" || name.length > LONGEST_NAME) {
    return { name: shown, reason: `its name has ${name.length} characters; 1 to ${LONGEST_NAME} are allowed` };
  }
  if (shown !== name) return { name: shown, reason: "its name has hidden characters" };
  // It stands in questions and rules, where a line break could pass for a line of ours.
  if (/[\s\p{Cc}]/u.test(name)) return { name: shown, reason: "its name has blanks or control characters" };
  const bad = problemOfSchema(inputSchema) ?? findHeaderProblem(inputSchema);
  if (bad) return { name, reason: `its input schema ${bad}` };
  const isBadOutput = outputSchema !== undefined && problemOfSchema(outputSchema) !== undefined;
  return {
    name,
    modelName: toolName(server, name),
    ...(title ? { title: clean(title, MOST_TITLE) } : {}),
    description: clean(description, MOST_DESCRIPTION),
    input: inputSchema as JsonObject,
    // Results are text from outside anyway: a schema for them that nobody can read is simply not used.
    ...(outputSchema === undefined || isBadOutput ? {} : { output: outputSchema as JsonObject }),
    hints: {
      isDestructive: annotations?.destructiveHint === true && annotations.readOnlyHint !== true,
      isOpenWorld: annotations?.openWorldHint === true,
      isReadOnly: annotations?.readOnlyHint === true,
    },
    ...(TASK_SUPPORT.has(execution?.taskSupport ?? "") ? { isTask: true as const } : {}),
    digest: digestJson([
      name,
      title ?? null,
      description,
      inputSchema as Json,
      isBadOutput ? null : ((outputSchema ?? null) as Json),
      (annotations ?? null) as Json,
    ]),
  };
}

/** Why arguments can't be built from this schema, if they can't. */
function problemOfSchema(schema: unknown): string | undefined {
  if (schema === undefined) return "is missing";
  if (!isObject(schema)) return "isn't an object";
  const text = asText(schema);
  if (text === undefined) return "can't be written down";
  if (Buffer.byteLength(text) > MOST_SCHEMA_BYTES) return `is larger than ${MOST_SCHEMA_BYTES / 1024} KB`;
  if (isTooDeep(text, MOST_SCHEMA_DEPTH)) return `is nested more than ${MOST_SCHEMA_DEPTH} levels deep`;
  const { type } = schema as JsonObject;
  const takesObject = type === undefined || type === "object" || (Array.isArray(type) && type.includes("object"));
  return takesObject ? undefined : `describes ${JSON.stringify(type).slice(0, 40)}, and arguments are always an object`;
}

/** Undefined for what is nested deeper than a text can be made of. */
function asText(value: object): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

function nameFor(raw: unknown): string {
  const name = typeof raw === "object" && raw !== null && "name" in raw ? raw.name : undefined;
  return typeof name === "string" ? clean(name, LONGEST_NAME) : "(without a name)";
}

function clean(text: string, most: number): string {
  const plain = withoutHidden(text.slice(0, 4 * most)).trim();
  return plain.length <= most ? plain : `${plain.slice(0, most - 1)}…`;
}

/** Of JSON with its keys in order: a server that writes the same schema in another order has not changed it. */
export function digestJson(value: Json): string {
  return createHash("sha256")
    .update(JSON.stringify(ordered(value)))
    .digest("hex");
}

function ordered(value: Json): Json {
  if (Array.isArray(value)) return value.map((item: Json) => ordered(item));
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value as JsonObject).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, ordered(item)]));
}
