/**
 * The small program between Lares and a background command. It outlives Lares, keeps the output within bounds, and leaves
 * what became of the command in a file. It is plain sh, because it must cost next to nothing for days.
 *
 * Its folder belongs to Lares and no sandbox shows it: it is written to by name, and whoever could put a link there
 * would choose the file.
 *
 * B1: `status` appears whole or not at all, after the command ended.
 * B2: the output on disk is never more than twice the limit of one file.
 */
import { execFile, spawn } from "node:child_process";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { RUN_TAG } from "../exec/environment.ts";

/** Two files of 25 MB: the one being written and the one before it. */
const LIMIT = 25 * 1024 * 1024;
/** `ulimit -f` counts in these. */
const BLOCK = 512;

/** Signals that end the command must not end the two shells before the outcome is written; a handler, unlike ignoring, is not inherited. */
const SCRIPT = `
dir=$1 key=$2 blocks=$3
shift 3
trap : TERM INT HUP
echo "$$" > "$dir/pid"
{
  trap : TERM INT HUP
  ${RUN_TAG}=$key "$@" 0<>"$dir/in" 2>&1
  printf '%s %s\\n' "$?" "$(date +%s)" > "$dir/status.new" && mv -f "$dir/status.new" "$dir/status"
} | while [ -w "$dir" ]; do
  (ulimit -c 0; ulimit -f "$blocks"; exec cat) >> "$dir/log" && exit 0
  mv -f "$dir/log" "$dir/log.1" && echo "[older output was moved to the file before this one; what was there is gone]" > "$dir/log"
done
`;

export interface Supervised {
  dir: string;
  /** The tag every process of it carries. */
  id: string;
  argv: readonly [string, ...string[]];
  env: Readonly<Record<string, string>>;
  cwd: string;
  /** Of one of the two files. */
  limit?: number;
}

/** Resolves with the supervisor's pid when it is started; `onEnd` is called when it ends while we live. */
export async function supervise(given: Supervised, onEnd: () => void): Promise<number> {
  await mkdir(given.dir, { recursive: true, mode: 0o700 });
  await promisify(execFile)("mkfifo", ["-m", "600", join(given.dir, "in")], { env: { PATH: "/usr/bin:/bin" } });
  const blocks = Math.max(1, Math.floor((given.limit ?? LIMIT) / BLOCK));
  const child = spawn("/bin/sh", ["-c", SCRIPT, "lares", given.dir, given.id, String(blocks), ...given.argv], {
    cwd: given.cwd,
    env: { PATH: "/usr/bin:/bin", ...given.env },
    stdio: "ignore",
    detached: true,
  });
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
  child.once("exit", onEnd);
  child.unref();
  return child.pid!;
}

export interface Status {
  code: number;
  /** Milliseconds. */
  at: number;
}

export async function readStatus(dir: string): Promise<Status | undefined> {
  const text = await readFile(join(dir, "status"), "utf8").catch(() => "");
  const [, code, at] = /^(\d+) (\d+)\n$/.exec(text) ?? [];
  return code === undefined ? undefined : { code: Number(code), at: Number(at) * 1000 };
}

/** The pid the supervisor wrote itself: for a start that was cut off before it was recorded. */
export async function readPid(dir: string): Promise<number | undefined> {
  const text = await readFile(join(dir, "pid"), "utf8").catch(() => "");
  return /^\d+\n$/.test(text) ? Number(text) : undefined;
}
