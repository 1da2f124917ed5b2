/** What the checkpoints need from others, and how they say what stood in a file. */
import type { ActionPlan, Records } from "../../core/contracts/index.ts";
import type { AgentId, SessionKey, TurnId } from "../../core/domain/index.ts";
import type { NoFile } from "../../core/files/index.ts";
import type { Clock, Crash, IdMaker, Log } from "../../core/kit/index.ts";
import type { CheckpointsConfig } from "./config.ts";

/** A content is named by its sha256. These two are none. */
export const ABSENT = "-";
export const UNKNOWN = "?";

export type FileState =
  | { path: string; state: "file"; content: Buffer; mode: number }
  | { path: string; state: "none" }
  | { path: string; state: "refused"; why: string };

/** An agent's files, reached through the path type of the tools and no other way. */
export interface AgentFiles {
  /** What stands there. Does not throw for that. */
  read(root: string, path: string, most: number): Promise<FileState>;
  /** A link or a folder at that very place, which `read` would follow or refuse. */
  readNoFile(root: string, path: string): Promise<NoFile | undefined>;
  /** Makes a link that says this, in the place of a file, link or empty folder. Nothing is followed. Throws AppError. */
  link(root: string, path: string, target: string, tag: string): Promise<void>;
  /** Makes a folder, in the place of a file or link. Throws AppError. */
  folder(root: string, path: string, mode: number): Promise<void>;
  /** In one step; the same tag again is the same write. Throws AppError. */
  write(root: string, path: string, content: Buffer, how: { tag: string; mode?: number }): Promise<void>;
  /** Again is harmless. Throws AppError. */
  remove(root: string, path: string): Promise<void>;
  /** What is below the root, at most this many files. Reads none of them. */
  manifest(root: string, most: number): Promise<FileListing>;
}

export interface FileListing {
  /** Every file by size and times, nothing read; every link and empty folder by its mark. */
  files: Map<string, string>;
  /** Folders that aren't looked into, by identity. */
  closed: Map<string, number>;
  more: boolean;
}

export interface CheckpointParts {
  records: Records;
  /** Where the contents are kept. */
  folder: string;
  files: AgentFiles;
  /** The agent's root; undefined if the agent no longer exists. */
  findRoot: (agent: AgentId) => string | undefined;
  /** Has these files for itself while `work` runs. Throws CONFLICT when they are not free in time. */
  alone: <T>(who: { id: string; agent: AgentId; paths: string[] }, work: () => Promise<T>) => Promise<T>;
  /** Whether this turn works on files just now. */
  isBusy: (turn: TurnId) => Promise<boolean>;
  /** The current limits; they may change while Lares runs. */
  config: () => CheckpointsConfig;
  clock: Clock;
  ids: IdMaker;
  crash: Crash;
  log: Log;
}

/** A tool call that may change files. */
export interface Call {
  turn: TurnId;
  call: string;
  session: SessionKey;
  agent: AgentId;
  tool: string;
  plan: ActionPlan;
  /** The folder it works in. */
  workspace: string;
  /** All folders of the agent's. */
  folders: readonly string[];
}
