/** What the command line needs from its caller. It talks to the gateway; only `gateway run` and `config` do not. */
import type { Clock } from "../../core/kit/index.ts";
import type { Result } from "../../core/protocol/index.ts";
import type { ConfigSchema, Environment, ProgramNames } from "../../ground/config/index.ts";

export type CliInput = NodeJS.ReadableStream & { isTTY?: boolean; setRawMode?: (on: boolean) => unknown };
export type CliOutput = NodeJS.WritableStream & { isTTY?: boolean; columns?: number };

export interface RunningGateway {
  url: string;
  home: string;
  model: { id: string; practice: boolean; because: string };
  tokenFile: string;
  /** A link that signs a browser in, good once. */
  loginUrl?(): string;
  /** Ends it so that nothing is lost. */
  stop(): Promise<void>;
  /** Resolves with an exit code when the gateway ended by itself. */
  done: Promise<number>;
}

/** Calls back at each such signal; returns how to cancel that. */
export type OnSignal = (name: "SIGINT" | "SIGTERM", run: () => void) => () => void;

export type LogLine = Result<"logs.tail">["lines"][number];

/** The log as it stands in the home's files. */
export interface StoredLog {
  readonly file: string;
  /** The newest lines, oldest first. Throws what reading the file throws. */
  tail(query: { limit: number; level?: LogLine["level"] }): LogLine[];
  /** What was written since the last call; the first one begins at the end. */
  more(): LogLine[];
  /** Closes the files. */
  close(): void;
}

/** What was found by trying. */
export interface HomeExamined {
  database: {
    file: string;
    /** `unchecked`: it opens, but reading every page would have taken too long. */
    state: "missing" | "empty" | "whole" | "unchecked" | "refused" | "damaged";
    bytes: number;
    message?: string;
    hint?: string;
    detail?: string;
  };
  /** Why nothing is logged in the home. */
  log?: { message: string; hint: string } | undefined;
  /** `ok`: a command was run in it. `name` is "none" when commands run without one. */
  sandbox: { name: string; ok: boolean; why?: string; byHand?: true };
}

/** Where backups are. Without a folder, where the settings of the home say. */
export interface BackupPlace {
  home: string;
  folder?: string;
  passphrase?: string;
}

export interface ShownBackup {
  id: string;
  madeAt: number;
  version: string;
  /** Of everything in it, and those that no earlier backup had. */
  bytes: number;
  added: number;
  files: number;
  /** It has the vault's key and the token. */
  hasKeys: boolean;
}

export interface BackupPort {
  /** Copies the home, running or not, and removes backups that no rule keeps. */
  create(
    at: BackupPlace,
  ): Promise<ShownBackup & { folder: string; isEncrypted: boolean; unreadable: string[]; removed: string[] }>;
  /** The oldest first. */
  list(at: BackupPlace): Promise<{ folder: string; isEncrypted: boolean; backups: ShownBackup[]; broken: string[] }>;
  /** Restores into a temporary home and starts that, without sending anything. Throws what is wrong with it. */
  verify(at: BackupPlace, id?: string): Promise<ShownBackup>;
  /** Puts a home in place. What was there is moved to `aside`. */
  restore(
    at: BackupPlace,
    how: { id?: string; to?: string; replace: boolean },
  ): Promise<ShownBackup & { home: string; aside: string }>;
}

export interface CliPorts {
  env: Environment;
  version: string;
  /** How this program is called; `lares` when it is left out. */
  program?: ProgramNames;
  stdin: CliInput;
  stdout: CliOutput;
  stderr: CliOutput;
  /** Starts everything in this process. Rejects with an AppError when it cannot. */
  runGateway(options: { home: string; port?: number; bind?: string; exposed?: boolean }): Promise<RunningGateway>;
  /** The token of a home as it stands, without making one. */
  readToken(home: string): string | undefined | Promise<string | undefined>;
  /** The log's files, for when no gateway answers. */
  readLogs(home: string): Promise<StoredLog>;
  /** Tries what only trying tells: the database and the sandbox. Changes nothing. */
  examineHome(home: string, config: Readonly<Record<string, unknown>>): Promise<HomeExamined>;
  /** Backups of a home. A function, so that only `backup` commands load it. */
  backups(): Promise<BackupPort>;
  /** The joined schema. A function, so that only `config` commands pay for loading every room's slice. */
  configSchema(): Promise<ConfigSchema>;
  /** For tests: time moved by hand. */
  clock?: Clock;
  /** For tests: signals without a process. */
  onSignal?: OnSignal;
}

export const processSignals: OnSignal = (name, run) => {
  process.on(name, run);
  return () => process.off(name, run);
};
