/** What the command line needs from whoever starts it. It talks to the gateway; only `gateway run` and `config` do not. */
import type { Clock } from "../../core/kit/index.ts";
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

/** Calls back at each such signal; returns how to take it back. */
export type OnSignal = (name: "SIGINT" | "SIGTERM", run: () => void) => () => void;

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
