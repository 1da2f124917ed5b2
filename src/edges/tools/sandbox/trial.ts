/** Whether a program does what a backend needs, by running it once in a while. */
import { type ExecFileException, execFile } from "node:child_process";

/** What works keeps working; what does not may be installed any moment. */
const GOOD_MS = 600_000;
const BAD_MS = 15_000;
const PATIENCE_MS = 10_000;
/** Of one line of complaint. */
const MOST_SAID = 300;

export interface Trial {
  ok: boolean;
  why?: string;
  /** The program isn't installed. */
  missing?: true;
  /** The first line it printed. */
  said?: string;
}

/** Remembers `look`'s answer; two who ask at once wait for the same one. */
export function remembered(look: () => Promise<Trial>, now: () => number = Date.now): () => Promise<Trial> {
  let last: { at: number; trial: Promise<Trial>; ok?: boolean } | undefined;
  return () => {
    const keep = last?.ok === false ? BAD_MS : GOOD_MS;
    if (!last || now() - last.at > keep) {
      const mine: typeof last = {
        at: now(),
        trial: look().catch((error: Error) => ({ ok: false, why: error.message })),
      };
      last = mine;
      void mine.trial.then((trial) => {
        mine.ok = trial.ok;
      });
    }
    return last.trial;
  };
}

/** Why a program that said nothing failed. Not Node's message: that is the whole command line, thousands of characters here. */
function describeEnd(program: string, { code, signal, killed }: ExecFileException): string {
  // Node's typings know a number only; a program that couldn't be started has a name instead.
  const how: unknown = code;
  if (how === "ENOENT") return `${program} is not installed`;
  if (typeof how === "string") return `${program} couldn't be started (${how})`;
  if (killed) return `it didn't end within ${PATIENCE_MS / 1000} s`;
  return signal ? `it was ended by ${signal}` : `it ended with exit code ${how} and said nothing`;
}

/** Runs to the end; `why` is the first line it complained with. */
export function tryRun(argv: readonly [string, ...string[]], env: Record<string, string>): Promise<Trial> {
  const [program, ...args] = argv;
  return new Promise((resolve) => {
    execFile(program, args, { env, timeout: PATIENCE_MS, cwd: "/" }, (error, out, complaint) => {
      const line = String(out).trim().split("\n")[0]!.slice(0, MOST_SAID);
      if (!error) return resolve({ ok: true, ...(line === "" ? {} : { said: line }) });
      const said = String(complaint).trim().split("\n")[0]!.slice(0, MOST_SAID);
      const how: unknown = error.code;
      const missing = how === "ENOENT" ? { missing: true as const } : {};
      resolve({ ok: false, why: said || describeEnd(program, error), ...missing });
    });
  });
}
