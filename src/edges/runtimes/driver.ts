/** A runtime as the table lists it: a name, and how its adapter is made when somebody needs it. */
import type { RuntimeAdapter } from "../../core/contracts/index.ts";
import type { Clock } from "../../core/kit/index.ts";

/** What every adapter is made from. */
export interface DriverParts {
  clock: Clock;
  /** Folders that programs are looked for in. */
  searchPath(): readonly string[];
  /** The variable by which processes of a run are found again. */
  tag: string;
  /** Ends every process of a run. Resolves when none is left. */
  endRun(run: { key: string; leader?: number }): Promise<unknown>;
  /** A folder in Lares' home for what makes it known to a runtime. None: that ends with the process. */
  kept?: string;
  /** Of the person: a daemon's own settings are there. */
  userHome?: string;
}

/** The variable that says which attempt of its run a process belongs to: two attempts are never alive at once (RUNS-1). */
export const ATTEMPT_TAG = "LARES_ATTEMPT";

/** How a program gets onto this machine by npm. Only data: `lares runtimes install` does the rest. */
export interface NpmProgram {
  /** As npm takes it. */
  package: string;
  /** A script of the package that puts its native part in place, without which the program doesn't start. Null: none runs. */
  script: string | null;
}

export interface RuntimeDriver {
  /** As in `agents.<id>.runtime`. */
  name: string;
  /** As people know it. */
  title: string;
  /** Its program, by name or by its absolute path. */
  program: string;
  /** Null: it isn't on npm, or nobody said where. */
  npm: NpmProgram | null;
  /** Loads the adapter's code: an agent without this runtime doesn't pay for it. */
  make(parts: DriverParts): Promise<RuntimeAdapter>;
}
