/** Somebody else's program on this machine: where it is, and which version. Its code is never loaded, only asked. */
import { execFile } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import { defined } from "../../core/kit/index.ts";

/** A person waits for it. */
const PROBE_MS = 2000;
const MOST_VERSION = 200;
/** Of a program that took too long to say. */
export const UNKNOWN_VERSION = "unknown";

/** By name in these folders, or where an absolute path says. */
export async function findProgram(command: string, folders: readonly string[]): Promise<string | undefined> {
  const places = isAbsolute(command) ? [command] : folders.map((folder) => join(folder, command));
  for (const place of places) {
    const isThere = await access(place, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return place;
  }
  return undefined;
}

interface ProgramQuestion {
  argv: readonly [string, ...string[]];
  folders: readonly string[];
  /** Besides the PATH. Nothing is inherited. */
  env?: Readonly<Record<string, string>>;
  cwd?: string;
  /** How long it may take; two seconds unless told. */
  patienceMs?: number;
  signal: AbortSignal;
}

/** What a program prints about itself. `code`: null when it took too long, which on a busy machine says nothing about it. */
export function askProgram({
  argv,
  folders,
  env,
  cwd,
  patienceMs = PROBE_MS,
  signal,
}: ProgramQuestion): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const [program, ...args] = argv;
  const options = {
    env: { ...env, PATH: folders.join(delimiter) },
    signal,
    timeout: patienceMs,
    maxBuffer: 65_536,
    ...defined({ cwd }),
  };
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      if (error && !error.killed && typeof error.code !== "number") reject(error);
      else resolve({ code: error?.killed ? null : Number(error?.code ?? 0), stdout, stderr });
    });
    child.stdin?.end();
  });
}

/** For `--version` and its like. Rejects when it can't be run or refuses. */
export async function readVersion(asked: ProgramQuestion): Promise<string> {
  const { code, stdout, stderr } = await askProgram(asked);
  const found = findVersion(stdout);
  if (code !== 0 && code !== null)
    throw new Error(stderr.trim().split("\n").at(-1) || `it ended with the code ${code}`);
  return found || UNKNOWN_VERSION;
}

/** A bound on each part: what it prints is anybody's text. */
const VERSION = /(?:^|[\sv(])(\d{1,9}\.\d{1,9}(?:\.\d{1,9})?[\w.+-]{0,40})/;

/** The first version that it prints: Hermes goes on with those of its Python and its libraries, and whether it is up to date. Else its last line. */
export function findVersion(printed: string): string | undefined {
  const lines = printed.trim().split("\n");
  const first = lines.map((line) => VERSION.exec(line.slice(0, MOST_VERSION))?.[1]).find((one) => one !== undefined);
  return first ?? lines.at(-1)?.slice(0, MOST_VERSION);
}
