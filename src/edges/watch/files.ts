/** Files that appear, change or disappear. Names only; links are not followed. */
import { createHash } from "node:crypto";
import { lstat } from "node:fs/promises";
import { AppError, type Json } from "../../core/domain/index.ts";
import { filesBelow } from "../../core/files/index.ts";
import type { Clock } from "../../core/kit/index.ts";
import type { Look } from "./look.ts";

const MOST_FILES = 2000;
const MOST_SHOWN = 50;
/** Deeper than any tree people make by hand. */
const DEPTH = 64;
const NONE = new Set<string>();
/** A file that is still being written is left for the next look. */
const QUIET_MS = 150;

type Cursor = { files: Record<string, string>; n: number };

export async function lookAtFiles(clock: Clock, path: string, cursor: Json | null): Promise<Look> {
  const before = cursor as Cursor | null;
  const found = await walk(path);
  const files: Record<string, string> = {};
  const lines: string[] = [];
  for (const [name, stat] of found) {
    const print = `${Math.round(stat.mtimeMs)}:${stat.size}:${stat.ino}`;
    const old = before?.files[name];
    const age = clock.now() - stat.mtimeMs;
    if (before && old !== print && age >= 0 && age < QUIET_MS) {
      if (old !== undefined) files[name] = old;
      continue;
    }
    files[name] = print;
    if (before && old !== print) lines.push(`${old === undefined ? "new" : "changed"}: ${name}`);
  }
  for (const name of Object.keys(before?.files ?? {})) if (!found.has(name)) lines.push(`gone: ${name}`);
  const n = (before?.n ?? 0) + (lines.length ? 1 : 0);
  if (!lines.length) return { items: [], cursor: before && same(before.files, files) ? cursor : { files, n } };
  const more = lines.length > MOST_SHOWN ? [`(and ${lines.length - MOST_SHOWN} more)`] : [];
  const body = [path, ...lines.slice(0, MOST_SHOWN), ...more].join("\n");
  const id = createHash("sha256")
    .update(JSON.stringify([n, lines]))
    .digest("hex")
    .slice(0, 24);
  return { items: [{ id, label: "Watched files changed", body }], cursor: { files, n } };
}

interface Seen {
  mtimeMs: number;
  size: number;
  ino: number;
}

async function walk(path: string): Promise<Map<string, Seen>> {
  const unseen = (cause: unknown) => {
    const code = (cause as NodeJS.ErrnoException).code ?? String(cause);
    return new AppError("NOT_READY", { message: `${path} can't be read (${code}).`, retry: "later", cause });
  };
  const top = await lstat(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") return undefined;
    throw unseen(cause);
  });
  if (!top) return new Map();
  if (!top.isDirectory()) return new Map([[".", top]]);
  const how = { most: MOST_FILES, names: MOST_FILES + 1, depth: DEPTH, closed: NONE };
  const { files, more } = await filesBelow(path, how).catch((cause: unknown) => {
    throw unseen(cause);
  });
  if (more) {
    throw new AppError("NOT_READY", {
      message: `${path} holds more than ${MOST_FILES} files.`,
      hint: "Watch a smaller folder.",
      retry: "after-change",
    });
  }
  return new Map(files.map((file) => [file.path, file]));
}

function same(a: Record<string, string>, b: Record<string, string>): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
