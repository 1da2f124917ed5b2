/** Whether a program does what a backend needs, by running it once in a while. */
import { execFile } from "node:child_process";

/** What works keeps working; what does not may be installed any moment. */
const GOOD_MS = 600_000;
const BAD_MS = 15_000;
const PATIENCE_MS = 10_000;

export interface Trial {
  ok: boolean;
  why?: string;
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

/** Runs to the end; `why` is the first line it complained with. */
export function tryRun(argv: readonly [string, ...string[]], env: Record<string, string>): Promise<Trial> {
  const [program, ...args] = argv;
  return new Promise((resolve) => {
    execFile(program, args, { env, timeout: PATIENCE_MS, cwd: "/" }, (error, _out, complaint) => {
      if (!error) return resolve({ ok: true });
      const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
      const said = String(complaint).trim().split("\n")[0];
      resolve({ ok: false, why: missing ? `${program} is not installed` : said || error.message.split("\n")[0]! });
    });
  });
}
