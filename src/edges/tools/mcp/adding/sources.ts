/**
 * Where other programs on this machine keep their MCP servers, and repositories theirs. Nothing here is read by itself: only when
 * the owner asks what could be imported. Files are somebody else's: plain files of a bounded size, never waiting for a pipe.
 */
import { existsSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { AppError, isObject, type Json, type JsonObject } from "../../../../core/domain/index.ts";
import { readBelow } from "../../../../core/files/index.ts";
import { isTooDeepYaml, looseJson, visibleLine } from "../../../../core/kit/index.ts";

/** Claude Code keeps its whole history beside its servers. */
const LARGEST = 16 * 1024 * 1024;
const DEEPEST_YAML = 100;

export interface ServerFile {
  /** Whose file it is, for people. */
  product: string;
  path: string;
}

export type ReadSource = { value: Json } | { why: string } | undefined;

/** Files that may be there, in the order they are shown. */
export function knownSources(userHome: string, platform: NodeJS.Platform, workspaces: readonly string[]): ServerFile[] {
  const settings = platform === "darwin" ? join(userHome, "Library", "Application Support") : join(userHome, ".config");
  const own: readonly (readonly [product: string, path: string])[] = [
    ["Claude Desktop", join(settings, "Claude", "claude_desktop_config.json")],
    ["Claude Code", join(userHome, ".claude.json")],
    ["Cursor", join(userHome, ".cursor", "mcp.json")],
    ["VS Code", join(settings, "Code", "User", "mcp.json")],
    ["OpenClaw", join(userHome, ".openclaw", "openclaw.json")],
    ["Hermes", join(userHome, ".hermes", "config.yaml")],
  ];
  const repositories = workspaces.flatMap((dir) => REPOSITORY_FILES.map((name) => ["a repository", join(dir, name)]));
  return [...own, ...repositories].map(([product, path]) => ({ product: product!, path: path! }));
}

/** What a repository brings along for those who work in it. */
const REPOSITORY_FILES = [".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json"];

/** A file, or a folder with such files, that the owner named. Throws NOT_FOUND when it isn't there. */
export function namedSources(path: string): (ServerFile & { isNamed: true })[] {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) {
    throw new AppError("NOT_FOUND", {
      message: `There is no file or folder ${visibleLine(path)}.`,
      hint: "Name a file such as .mcp.json, or the folder that it is in.",
    });
  }
  if (!found.isDirectory()) return [{ product: "file", path, isNamed: true }];
  const files = [...REPOSITORY_FILES, "mcp.json"].map((name) => join(path, name)).filter((file) => existsSync(file));
  if (files.length > 0) return files.map((file) => ({ product: "file", path: file, isNamed: true }));
  throw new AppError("NOT_FOUND", {
    message: `There are no MCP servers in the folder ${visibleLine(path)}.`,
    hint: `Lares looks for ${REPOSITORY_FILES.join(", ")} and mcp.json there.`,
  });
}

/** Undefined: there is no such file. */
export async function readSource(path: string): Promise<ReadSource> {
  // A link is followed within its folder only: a repository must not point us at other files.
  const found = await readBelow({ root: dirname(path), path: basename(path), most: LARGEST }).catch(() => undefined);
  if (!found || found.state === "none") return undefined;
  if (found.state === "refused") return { why: found.why };
  const text = found.content.toString("utf8");
  const value = /\.ya?ml$/.test(path) ? await readYaml(text) : looseJson(text);
  return isObject(value as Json)
    ? { value: withProjects(value as JsonObject) }
    : { why: "it can't be read as settings" };
}

async function readYaml(text: string): Promise<unknown> {
  if (isTooDeepYaml(text, DEEPEST_YAML)) return undefined;
  const { parse } = await import("yaml");
  try {
    // An alias can stand for itself many times over; nobody writes servers that way.
    return parse(text, { maxAliasCount: 10 });
  } catch {
    return undefined;
  }
}

/** Claude Code: servers of single projects stand beside those for all. */
function withProjects(value: JsonObject): JsonObject {
  if (!isObject(value.projects)) return value;
  const all = [...Object.values(value.projects), value].map((one) => (isObject(one) ? one.mcpServers : undefined));
  return { mcpServers: Object.assign({}, ...all.filter((one) => isObject(one))) as JsonObject };
}
