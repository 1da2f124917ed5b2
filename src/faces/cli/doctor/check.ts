/** What a check is: it looks at one thing, changes nothing, and says the fix. */
import type { AdviceContext, ConfigAdvice } from "../../../core/contracts/index.ts";
import type { Result } from "../../../core/protocol/index.ts";
import type { ConfigSchema, Environment } from "../../../ground/config/index.ts";
import type { HomeExamined } from "../ports.ts";

export interface Finding {
  /** `bad` makes the doctor end with 1; `off` is something optional that is not there. */
  level: "ok" | "warn" | "bad" | "off";
  /** What is so, as a sentence. */
  text: string;
  fix?: string;
  /** Lines below: the place in a file. */
  more?: readonly string[];
}

/** Facts about the machine, handed in so that a test can make any of them bad. */
export interface Machine {
  now: number;
  platform: string;
  nodeVersion: string;
  /** Bytes that may still be written to the file system of this folder; undefined when nobody knows. */
  freeBytes(dir: string): Promise<number | undefined>;
  /** Where a program is, among the places that the system fills. */
  program(...names: string[]): string | undefined;
  isAlive(pid: number): boolean;
  /** Whether somebody listens there. */
  canConnect(at: { host: string; port: number }): Promise<boolean>;
}

export interface DoctorGround {
  home: string;
  env: Environment;
  machine: Machine;
  schema(): Promise<ConfigSchema>;
  /** What doesn't work in these settings, in the words of `config check`. */
  advice(config: AdviceContext["config"]): Promise<readonly ConfigAdvice[]>;
  /** The database opened and the sandbox run, once for all checks that ask. */
  examined(): Promise<HomeExamined>;
  /** What the running Lares says; undefined when none answers. */
  status: Result<"status"> | undefined;
  /** Where a running Lares answers that can't say how it is: its disk is full, or it isn't ready. */
  answersAt?: string;
}

export interface Check {
  id: string;
  /** One or two words. */
  what: string;
  /** Means nothing where the home is a file, or a link to nothing. */
  needsHome?: true;
  run(at: DoctorGround): Promise<Finding | Finding[]>;
}

export const ok = (text: string): Finding => ({ level: "ok", text });
export const warn = (text: string, fix: string): Finding => ({ level: "warn", text, fix });
export const bad = (text: string, fix: string): Finding => ({ level: "bad", text, fix });
export const off = (text: string, fix: string): Finding => ({ level: "off", text, fix });
