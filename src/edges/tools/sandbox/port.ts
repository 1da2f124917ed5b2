/**
 * A sandbox turns a command into a command that runs shut in. It starts nothing itself, so that whatever starts and ends
 * commands stays one piece of code.
 *
 * SANDBOX-1: the variables of a command never stand on a command line: secrets among them would be read by everybody who may see processes.
 * SANDBOX-2: a backend that cannot keep a rule says so in `where`; it never says it keeps one it does not.
 */
import type { SandboxLimits } from "./limits.ts";

export type SandboxName = "bubblewrap" | "none" | "docker" | "podman" | "ssh";

export interface Rules {
  /** Paths a command may change. Real paths, like all here. */
  writable: readonly string[];
  /** Paths it may look at, besides the system's own. */
  readable: readonly string[];
  /** Paths it must not see, also where they lie inside the others. */
  hidden: readonly string[];
  network: boolean;
  /** What a command may use up. */
  limits?: SandboxLimits;
}

export interface Confined {
  argv: readonly [string, ...string[]];
  /** argv[0], if it differs from the file's name. */
  argv0?: string;
  /** Real path of the working directory. */
  cwd: string;
  /** All of its variables; nothing is added. */
  env: Readonly<Record<string, string>>;
  /** Names the run: what ends it by name uses this. */
  key: string;
  /** It goes on when the process that started it ends. */
  survives?: boolean;
  /** It has its own terminal. */
  terminal?: boolean;
}

export interface Wrapped {
  argv: [string, ...string[]];
  /** As in the command; absent when the backend sees to it. */
  argv0?: string;
  env: Record<string, string>;
  /** What ends the run where killing our own processes does not reach. */
  end?: [string, ...string[]];
}

export interface Sandbox {
  readonly name: SandboxName;
  /** Whether it works here, by trying. Remembered for a while; never throws. */
  available(): Promise<{ ok: boolean; why?: string; missing?: true }>;
  /** Looks at the machine before a command is wrapped. Not part of `available`: a prompt asks that, and should not wait for a walk over files. */
  prepare?(): Promise<void>;
  /** The same command, shut in. Pure but for looking at which paths are there. */
  wrap(command: Confined, rules: Rules): Wrapped;
  /** For a person who is asked: "in a sandbox (bubblewrap) without network". */
  where(rules: Rules): string;
}
