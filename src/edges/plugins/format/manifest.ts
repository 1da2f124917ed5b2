/**
 * `plugin.json` of an Agent Plugins 1.0.0 folder. Pure.
 *
 * PLUGINS-1: an unknown field at the top is reported and ignored, as the specification asks. Everything else that is wrong refuses the
 *     plugin. In our own part nothing unknown is taken: a right that Lares doesn't know can't be shown to anybody.
 */

import { z } from "zod";
import { isObject } from "../../../core/domain/index.ts";
import { isTooDeep, parseJson, withoutHidden } from "../../../core/kit/index.ts";
import { type OwnPart, ownPart } from "./own-part.ts";

const PLUGIN_SCHEMA = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json";
/** Where our own part is found below `extensions`. */
const NAMESPACE = "dev.lares";
const DEEPEST = 40;
const MOST_SHOWN = 500;

export const pluginName = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/, "use a-z, 0-9, - and . , beginning and ending with a letter or digit")
  .refine((name) => !name.includes("--") && !name.includes(".."), "no -- and no .. in it");

const text = z.string().max(10_000);
const manifest = z.object({
  $schema: z.literal(PLUGIN_SCHEMA, `must be "${PLUGIN_SCHEMA}"`),
  name: pluginName,
  version: text.optional(),
  description: text.optional(),
  author: z.strictObject({ name: text.optional(), email: text.optional(), url: text.optional() }).optional(),
  homepage: text.optional(),
  repository: text.optional(),
  license: text.optional(),
  keywords: z.array(text).max(200).optional(),
  extensions: z.unknown().optional(),
});
const KNOWN = Object.keys(manifest.shape);

export interface PluginManifest {
  name: string;
  version: string;
  description: string;
  license: string;
  own: OwnPart;
  /** What was wrong and didn't matter. */
  notes: string[];
}

/** The manifest, or in a sentence why the plugin can't be used. */
export function readPluginManifest(source: string): PluginManifest | { why: string } {
  const json = readObject(source);
  if ("why" in json) return { why: `plugin.json ${json.why}.` };
  const read = manifest.safeParse(json.value);
  if (!read.success) return { why: `plugin.json: ${firstIssue(read.error)}.` };
  const { name, version = "", description = "", license = "", extensions } = read.data;
  const notes = Object.keys(json.value)
    .filter((key) => !KNOWN.includes(key))
    .slice(0, 20)
    .map((key) => `plugin.json has an unknown field "${shown(key)}", which is ignored`);
  const own = readOwnPart(extensions, notes);
  if ("why" in own) return own;
  return {
    name,
    version: shown(version),
    description: shown(description),
    license: shown(license),
    own: own.part,
    notes,
  };
}

function readOwnPart(extensions: unknown, notes: string[]): { part: OwnPart } | { why: string } {
  const none = { part: ownPart.parse({}) };
  if (extensions === undefined) return none;
  if (!isObject(extensions)) {
    notes.push('the field "extensions" of plugin.json isn\'t an object, so it is ignored');
    return none;
  }
  if (!Object.hasOwn(extensions, NAMESPACE)) return none;
  const read = ownPart.safeParse((extensions as Record<string, unknown>)[NAMESPACE]);
  if (!read.success) return { why: `plugin.json, extensions["${NAMESPACE}"]: ${firstIssue(read.error)}.` };
  return { part: read.data };
}

/** Any JSON file of a plugin whose top is an object. */
export function readObject(source: string): { value: Record<string, unknown> } | { why: string } {
  if (isTooDeep(source, DEEPEST)) return { why: "is nested too deeply" };
  try {
    const value = parseJson(source);
    if (!isObject(value)) return { why: "isn't a JSON object" };
    return { value: value as Record<string, unknown> };
  } catch {
    return { why: "isn't valid JSON" };
  }
}

export function firstIssue(error: z.ZodError): string {
  const [issue] = error.issues;
  const path = issue?.path.join(".") ?? "";
  return `${path === "" ? "" : `${path}: `}${issue?.message ?? "it isn't valid"}`;
}

/** Somebody else's words, on one line and without hidden characters. */
function shown(given: string): string {
  return withoutHidden(given.slice(0, 4 * MOST_SHOWN))
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, MOST_SHOWN);
}
