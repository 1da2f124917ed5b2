/**
 * A SKILL.md as text: front matter (agentskills.io) and body. Tolerant where the meaning is clear, and says what it tolerated;
 * where it is not, it says in a sentence why the skill cannot be used. Pure.
 */
import { isObject } from "../../core/domain/index.ts";
import { isTooDeepYaml, truthy } from "../../core/kit/index.ts";

/** What people wrote about a skill. */
export interface Manuscript {
  description: string;
  body: string;
  license?: string;
  compatibility?: string;
  allowedTools?: string[];
  metadata?: Record<string, string>;
  /** The operating systems it is for, as `process.platform` names them; all without it. */
  platforms?: string[];
  /** What was not as it should be, and did not matter. */
  notes: string[];
}

/** Reads YAML; throws for what is none. */
export type ReadYaml = (text: string) => unknown;

/** Lengths of the convention. */
const LONGEST_NAME = 64;
const LONGEST_DESCRIPTION = 1024;
const LONGEST_COMPATIBILITY = 500;
/** A front matter is a card, not a book. */
const LONGEST_FRONT = 4_000;
const MOST_METADATA = 32;

/** Why a folder of this name cannot be a skill, or nothing. */
export function nameProblem(name: string): string | undefined {
  if (name.length > LONGEST_NAME) return `Its name has ${name.length} characters; ${LONGEST_NAME} is the most.`;
  if (/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) return undefined;
  return "Its folder's name can't be a skill name: use a-z, 0-9 and single - in between.";
}

export function readManuscript(text: string, folder: string, yaml: ReadYaml): Manuscript | { why: string } {
  const parts = splitFront(text);
  if (!parts) return { why: 'SKILL.md does not begin with its front matter: "---", name, description, "---".' };
  if (parts.front.length > LONGEST_FRONT)
    return { why: `The front matter has ${parts.front.length} characters; ${LONGEST_FRONT} is the most.` };
  if (isTooDeepYaml(parts.front)) return { why: "The front matter is nested too deeply." };
  const notes: string[] = [];
  const front = fields(parts.front, yaml, notes);
  const description = line(front.description);
  if (!description)
    return { why: "The front matter has no description: one sentence, what it does and when to use it." };
  if (description.length > LONGEST_DESCRIPTION)
    return { why: `Its description has ${description.length} characters; ${LONGEST_DESCRIPTION} is the most.` };
  if (!parts.body.trim()) return { why: "There is nothing below the front matter." };
  const name = line(front.name);
  if (!name) notes.push("The front matter has no name; the folder's is used.");
  else if (name !== folder) notes.push(`It calls itself "${clipped(name, 64)}"; the folder's name is used.`);
  const platforms = listPlatforms(front);
  return {
    description,
    body: parts.body,
    ...about(front, notes),
    notes,
    ...(platforms.length ? { platforms } : {}),
  };
}

/** Front matter and body; undefined when there is no front matter, or it does not end. */
export function splitFront(text: string): { front: string; body: string } | undefined {
  const lines = text.split("\n");
  if (lines[0]!.replace(/^\uFEFF/, "").trimEnd() !== "---") return undefined;
  const end = lines.findIndex((line, at) => at > 0 && /^(?:---|\.\.\.)[ \t]*\r?$/.test(line));
  if (end < 0) return undefined;
  const body = lines.findIndex((line, at) => at > end && line.trim() !== "");
  return {
    front: lines.slice(1, end).join("\n").replace(/\r$/, ""),
    body: body < 0 ? "" : lines.slice(body).join("\n"),
  };
}

function about(
  front: Record<string, unknown>,
  notes: string[],
): Pick<Manuscript, "license" | "compatibility" | "allowedTools" | "metadata"> {
  const license = line(front.license);
  let compatibility = line(front.compatibility);
  if (compatibility.length > LONGEST_COMPATIBILITY) {
    compatibility = clipped(compatibility, LONGEST_COMPATIBILITY);
    notes.push(`Its compatibility is cut after ${LONGEST_COMPATIBILITY} characters.`);
  }
  const given = front["allowed-tools"];
  const allowedTools = (Array.isArray(given) ? given.map(line) : line(given).split(/[\s,]+/)).filter(Boolean);
  const metadata = isObject(front.metadata)
    ? Object.entries(front.metadata).map(([key, value]) => [
        clipped(line(key), 64),
        clipped(typeof value === "object" ? JSON.stringify(value) : line(value), 500),
      ])
    : [];
  return {
    ...(license ? { license: clipped(license, 200) } : {}),
    ...truthy({ compatibility }),
    ...(allowedTools.length ? { allowedTools: allowedTools.slice(0, 64) } : {}),
    ...(metadata.length ? { metadata: Object.fromEntries(metadata.slice(0, MOST_METADATA)) } : {}),
  };
}

/** Beside the convention: Hermes has `platforms`, OpenClaw `metadata.openclaw.os`. */
function listPlatforms(front: Record<string, unknown>): string[] {
  const metadata = isObject(front.metadata) ? front.metadata : {};
  const openclaw = isObject(metadata.openclaw) ? metadata.openclaw : {};
  const given = front.platforms ?? openclaw.os;
  const names = Array.isArray(given) ? given.map(line) : line(given).split(/[\s,]+/);
  const ours = names.map((name) => name.toLowerCase()).map((name) => PLATFORMS[name] ?? name);
  return [...new Set(ours.filter(Boolean))].slice(0, 8);
}

const PLATFORMS: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  macos: "darwin",
  mac: "darwin",
  osx: "darwin",
  windows: "win32",
});

/** Many a description has a colon in it and is no YAML then; what stands behind `key:` on its line is meant. */
function fields(front: string, yaml: ReadYaml, notes: string[]): Record<string, unknown> {
  try {
    const read = yaml(front);
    if (isObject(read)) return read;
  } catch {
    // Read below.
  }
  notes.push("The front matter isn't valid YAML; it was read line by line.");
  const found: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [, key, value] of front.matchAll(/^([A-Za-z][\w-]*):(.*)$/gm)) {
    found[key!] ??= value!.trim().replace(/^(["'])(.*)\1$/, "$2");
  }
  return found;
}

/** One line of plain characters: what is shown to a model or a person has no hidden ones in it. */
function line(value: unknown): string {
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") return "";
  return String(value)
    .replace(/\s+/g, " ")
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/gu, "")
    .trim();
}

function clipped(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
