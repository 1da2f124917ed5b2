/**
 * The small program between Lares and a command. It outlives Lares, keeps the output within bounds, and leaves the command's
 * outcome in a file. It is plain sh, because it must start at once and cost next to nothing for days.
 *
 * Its folder belongs to Lares and no sandbox shows it: it is written to by name, and anyone who could put a link there
 * would choose the file.
 *
 * PROCESS-1: `status` is there, with its line, only after the command ended.
 * PROCESS-2: the output on disk is bounded: in the background twice the limit of one file, in the foreground one limit and a tail.
 * PROCESS-6: the supervisor starts by creating `pid`, which fails if it exists. The first to create it decides: once Lares has,
 * the
 *     command can never start. So no time and no lost process leaves open whether a command was started.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { link, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { RUN_TAG } from "../exec/environment.ts";

/** Two files of 25 MB: the one being written and the one before it. */
const LIMIT = 25 * 1024 * 1024;
/** What a command in the foreground may leave; of what follows only the end is kept. */
export const MOST_OUTPUT = 50 * 1024 * 1024;
const TAIL_BYTES = 100_000;
/** Of the complaints of a command, where they are kept apart. */
const ERROR_BYTES = 4000;
/** `ulimit -f` counts in these. */
const BLOCK = 512;
const NEVER = "never\n";

/** Signals that end the command must not end the shells before the outcome is written; a handler, unlike ignoring, is not inherited. */
const HEAD = `
lares_dir=$1 lares_key=$2 lares_blocks=$3
shift 3
trap : TERM INT HUP
set -C
{ echo "$$" > "$lares_dir/pid"; } 2>/dev/null || exit 0
set +C
`;

const IN_BACKGROUND = `${HEAD}
{
  trap : TERM INT HUP
  ${RUN_TAG}=$lares_key "$@" 0<>"$lares_dir/in" 2>&1
  echo "$?" > "$lares_dir/status.new" && mv -f "$lares_dir/status.new" "$lares_dir/status"
} | while [ -w "$lares_dir" ]; do
  (ulimit -c 0; ulimit -f "$lares_blocks"; exec cat) >> "$lares_dir/log" && exit 0
  mv -f "$lares_dir/log" "$lares_dir/log.1" && echo "[older output was moved to the file before this one; what was there is gone]" > "$lares_dir/log"
done
`;

/** The shell's own variables are none of the command's (EXEC-1). */
const run = (redirections: string) => `
  trap : TERM INT HUP
  unset PWD OLDPWD
  ${RUN_TAG}=$lares_key "$@" ${redirections}
  lares_code=$?
  echo "$lares_code" > "$lares_dir/status"
`;
/** Told at once, also while something it left behind still holds the output open. */
const TELL = 'echo "$lares_code" >&3';
/** The keeper of the output ends with the output, not with a signal. */
const KEEP = `{
  trap '' TERM INT HUP
  exec 3>&-
  ulimit -c 0
  ulimit -f "$lares_blocks"
  cat > "$lares_dir/out" || tail -c ${TAIL_BYTES} > "$lares_dir/tail"
}`;
const IN_FOREGROUND = `${HEAD}
{ ${run("2>&1 3>&-")} ${TELL}
} | ${KEEP}
`;
const APART = `${HEAD}
{
  trap : TERM INT HUP
  { ${run("2>&4 >&5 3>&- 4>&- 5>&-")} ${TELL}
  } 4>&1 | {
    trap '' TERM INT HUP
    exec 3>&- 5>&-
    tail -c ${ERROR_BYTES} > "$lares_dir/err"
  }
} 5>&1 | ${KEEP}
`;
/**
 * Lares has the other end of the terminal and keeps what comes. Without Lares the terminal hangs up on the first shell, and only
 * only when that one ends does the command get the signal; the shell inside stays and writes the outcome.
 */
const ON_TERMINAL = `${HEAD}
trap - HUP
( ${run("")} )
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
  const child = spawn("/bin/sh", words(IN_BACKGROUND, given), {
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

/** Starts a command whose end is waited for. Its exit code comes over the fourth descriptor; its output is in the folder. */
export function superviseHere(given: Supervised & { apart?: boolean }): ChildProcess {
  return spawn("/bin/sh", words(given.apart ? APART : IN_FOREGROUND, { limit: MOST_OUTPUT, ...given }), {
    cwd: given.cwd,
    env: { PATH: "/usr/bin:/bin", ...given.env },
    stdio: ["ignore", "ignore", "ignore", "pipe"],
    detached: true,
  });
}

/** What is to be started on a terminal. */
export function onTerminal(given: Supervised): [string, ...string[]] {
  return ["/bin/sh", ...words(ON_TERMINAL, given)];
}

function words(script: string, { dir, id, argv, limit = LIMIT }: Supervised): string[] {
  const blocks = Math.max(1, Math.floor(limit / BLOCK));
  return ["-c", script, "lares", dir, id, String(blocks), ...argv];
}

/** `never`: it was not started, and from now on cannot be (PROCESS-6). `begun`: its supervisor was first. */
export async function claim(dir: string): Promise<"never" | "begun"> {
  const pid = join(dir, "pid");
  const fresh = `${pid}.${randomBytes(4).toString("hex")}`;
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await writeFile(fresh, NEVER, { flag: "wx", mode: 0o600 });
  try {
    // A link and not a write: it is there with its word or not at all.
    await link(fresh, pid);
    return "never";
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return (await readFile(pid, "utf8")) === NEVER ? "never" : "begun";
  } finally {
    await rm(fresh, { force: true });
  }
}

export interface ExitStatus {
  code: number;
  /** Milliseconds. */
  at: number;
}

export async function readStatus(dir: string): Promise<ExitStatus | undefined> {
  const file = join(dir, "status");
  const text = await readFile(file, "utf8").catch(() => "");
  // Earlier versions wrote the seconds behind the code.
  const [, code] = /^(\d+)(?: \d+)?\n$/.exec(text) ?? [];
  return code === undefined ? undefined : { code: Number(code), at: Math.round((await stat(file)).mtimeMs) };
}

/** The pid the supervisor wrote itself: for a start that was cut off before it was recorded. */
export async function readPid(dir: string): Promise<number | undefined> {
  const text = await readFile(join(dir, "pid"), "utf8").catch(() => "");
  return /^\d+\n$/.test(text) ? Number(text) : undefined;
}

/** Whether this process is the supervisor of this folder: a pid may have been given to somebody else. */
export async function supervises(pid: number, dir: string): Promise<boolean> {
  try {
    if (process.platform === "linux") {
      return (await readFile(`/proc/${pid}/cmdline`, "utf8")).split("\0").includes(dir);
    }
    const { stdout } = await promisify(execFile)("/bin/ps", ["-o", "command=", "-p", String(pid)], { env: {} });
    return stdout.includes(dir);
  } catch {
    return false;
  }
}
