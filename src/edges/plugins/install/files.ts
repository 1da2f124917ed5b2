/**
 * The files of a plugin, held in memory until they are stored. They come from folders and archives that anybody may have made.
 *
 * PLUGINS-3: a plugin has plain files only, below its root, at most so many and so large. A link that leads out of it, a path that
 *     leaves it, or anything else that isn't a file refuses the whole of it.
 */
import { createHash } from "node:crypto";
import { AppError } from "../../../core/domain/index.ts";
import { visibleLine } from "../../../core/kit/index.ts";

export interface PluginFile {
  /** Below the root, with `/`. */
  path: string;
  content: Buffer;
  isProgram: boolean;
}

const MB = 1024 * 1024;
/** A plugin with its dependencies; more isn't an extension. */
export const MOST_FILES = 5_000;
export const MOST_BYTES = 64 * MB;
export const DEEPEST = 24;
/** As long as a path may get on every system. */
const LONGEST_PATH = 512;

export function refuse(why: string): AppError {
  return new AppError("BAD_REQUEST", { message: `The plugin can't be installed: ${why}.`, retry: "after-change" });
}

export function tooMany(): AppError {
  return refuse(`it has more than ${MOST_FILES} files`);
}

export function tooLarge(): AppError {
  return refuse(`it is larger than ${MOST_BYTES / MB} MB`);
}

/** The path of an archive's entry as a path below the root. Throws for one that could mean any other place. */
export function checkPath(given: string): string {
  const parts = given.split("/").filter((part) => part !== "." && part !== "");
  const isOutside = given.startsWith("/") || given.includes("\\") || /^[A-Za-z]:/.test(given) || parts.includes("..");
  if (isOutside) throw refuse(`"${visibleLine(given.slice(0, 100))}" would be outside the plugin's folder`);
  const path = parts.join("/");
  if (path.length > LONGEST_PATH || parts.length > DEEPEST || parts.some((part) => part.length > 200))
    throw refuse(`the path "${visibleLine(path.slice(0, 100))}…" is too long`);
  if (/[\0-\x1f\x7f]/.test(path)) throw refuse("a file's name has control characters in it");
  return path;
}

/** Without the one folder that archives put around everything. */
export function withoutTopFolder(files: readonly PluginFile[]): PluginFile[] {
  if (files.some(({ path }) => path === "plugin.json")) return [...files];
  const tops = new Set(files.map(({ path }) => path.split("/", 1)[0]!));
  const [top] = tops;
  if (tops.size !== 1 || top === undefined || !files.some(({ path }) => path === `${top}/plugin.json`))
    return [...files];
  return files.map((file) => ({ ...file, path: file.path.slice(top.length + 1) }));
}

/** The digest of each file by path, in order. */
export function digestFiles(files: readonly PluginFile[]): Record<string, string> {
  const each = files.map(({ path, content, isProgram }) => {
    const hash = createHash("sha256").update(content).digest("hex");
    return [path, isProgram ? `${hash}+x` : hash] as const;
  });
  return Object.fromEntries(each.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Of the whole plugin: every path, every byte, and which files are programs. What a yes is bound to. */
export function digestPlugin(digests: Readonly<Record<string, string>>): string {
  return createHash("sha256")
    .update(JSON.stringify(Object.entries(digests)))
    .digest("hex");
}
