/** Starts a file under another argv[0] where the starter can't set it: some files are many programs. */
import { existsSync } from "node:fs";
import { basename } from "node:path";

const BASH = "/bin/bash";

export function named(argv: readonly [string, ...string[]], argv0: string | undefined): [string, ...string[]] {
  if (argv0 === undefined || basename(argv0) === basename(argv[0])) return [...argv];
  // Without bash the name itself is looked up, in the same trusted directories.
  if (!existsSync(BASH)) return [argv0, ...argv.slice(1)];
  return [BASH, "-c", 'exec -a "$0" -- "$@"', argv0, ...argv];
}
