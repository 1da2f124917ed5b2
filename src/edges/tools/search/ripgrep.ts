/**
 * Search by ripgrep, when a system directory has it: linear-time expressions, all cores. It gets the open directory as its
 * working directory, no configuration, a clean environment, and no permission to follow links.
 */
import { spawn } from "node:child_process";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { createInterface } from "node:readline";
import { defined } from "../../../core/kit/index.ts";
import { type Inside, wrongInput } from "../paths/index.ts";
import { CLOSED, type Hit, MOST_FILE_BYTES, MOST_LINE, MOST_MS, type Query, type SearchResult } from "./found.ts";

/** Only root can put a program here; never the PATH of the environment, never the workspace. */
export const TRUSTED_DIRS = ["/usr/bin", "/usr/local/bin", "/bin"] as const;

export async function findRipgrep(dirs: readonly string[] = TRUSTED_DIRS): Promise<string | undefined> {
  for (const dir of dirs) {
    try {
      await access(`${dir}/rg`, constants.X_OK);
      return `${dir}/rg`;
    } catch {}
  }
  return undefined;
}

export async function ripgrep(
  program: string,
  inside: Inside,
  query: Query,
  signal: AbortSignal,
): Promise<SearchResult> {
  const isDirectory = inside.kind === "directory";
  const { dir, name } = isDirectory ? { dir: inside.directory(), name: "." } : inside.parent();
  const child = spawn(program, [...FLAGS, ...toFlags(query), ...globs(query.glob), "-e", query.pattern, "--", name], {
    cwd: await dir.self(),
    env: { LANG: "C.UTF-8" },
    stdio: ["ignore", "pipe", "pipe"],
    signal,
    killSignal: "SIGKILL",
    timeout: MOST_MS,
  });
  const closed = new Promise<{ code: number | null; failed?: Error }>((resolve) => {
    child.once("error", (failed) => resolve({ code: null, failed }));
    child.once("close", (code) => resolve({ code }));
  });
  let complaint = "";
  child.stderr.on("data", (chunk: Buffer) => {
    if (complaint.length < 2000) complaint += chunk.toString("utf8");
  });
  const prefix = isDirectory ? inside.prefix : "";
  const hits: Hit[] = [];
  let found = 0;
  let files: number | undefined;
  for await (const row of createInterface({ input: child.stdout })) {
    const hit = parseRow(row);
    if (!hit) {
      const searched = /^(\d{1,9}) files searched$/.exec(row)?.[1];
      if (searched !== undefined) files = Number(searched);
      continue;
    }
    if (!hit.isContext && ++found > query.max) break;
    hits.push({ ...hit, path: isDirectory ? prefix + hit.path.replace(/^\.\//, "") : inside.path });
  }
  const more = found > query.max;
  if (more) child.kill("SIGKILL");
  const { code, failed } = await closed;
  signal.throwIfAborted();
  if (failed) throw failed;
  if (code === 2 && hits.length === 0 && /regex|glob/i.test(complaint)) {
    throw wrongInput(`search: ${complaint.trim().replace(/^rg: /, "")}`);
  }
  const notes = code === null && !more ? [`stopped after ${MOST_MS / 1000} s: not everything was searched`] : [];
  return { hits, more, notes, ...defined({ files }) };
}

const FLAGS = [
  ...["--no-config", "--no-heading", "--with-filename", "--line-number", "--null", "--color=never", "--sort=path"],
  // The same files as our own scan: ignore files are for commits, not for looking.
  ...["--no-ignore", "--hidden", "--crlf", `--max-filesize=${MOST_FILE_BYTES}`],
  ...[`--max-columns=${MOST_LINE}`, "--max-columns-preview"],
];

/** `--stats` counts the files, which is reported when nothing was found. */
function toFlags({ ignoreCase, context = 0 }: Query): string[] {
  return ["--stats", ...(ignoreCase ? ["--ignore-case"] : []), ...(context > 0 ? [`--context=${context}`] : [])];
}

/** The later pattern wins, so the closed directories come last. */
function globs(glob: string | undefined): string[] {
  const own = glob === undefined ? [] : [`--glob=${glob}`];
  return [...own, ...[...CLOSED].map((name) => `--glob=!${name}`)];
}

/** `path NUL line : text`, and with a hyphen for a line around a hit. */
function parseRow(row: string): Hit | undefined {
  const cut = row.indexOf("\0");
  if (cut < 0) return undefined;
  const [whole, line, mark] = /^(\d{1,9})([:-])/.exec(row.slice(cut + 1, cut + 12)) ?? [];
  if (whole === undefined) return undefined;
  const hit = { path: row.slice(0, cut), line: Number(line), text: row.slice(cut + 1 + whole.length) };
  return mark === "-" ? { ...hit, isContext: true } : hit;
}
