/** What an instance is built from, and what the builders hand on to each other. */
import type { AppError } from "../../core/domain/index.ts";
import { type Bus, type Clock, type Crash, type Guard, type IdMaker, Late, type Log } from "../../core/kit/index.ts";
import type { createModels } from "../../edges/models/index.ts";
import type { Accounts } from "../../flow/channels/index.ts";
import type { SystemEvents } from "../../flow/events/index.ts";
import type { OwnDoors } from "../../flow/gate/index.ts";
import type { Inbox } from "../../flow/inbox/index.ts";
import type { Vault } from "../../ground/vault/index.ts";
import type { Goals } from "../../mind/goals/index.ts";
import type { MemoryRooms } from "../../mind/memory/index.ts";
import type { PromptFiles } from "../../mind/prompt/index.ts";
import type { Schedules } from "../../mind/schedule/index.ts";
import type { Children } from "../../mind/sub-agents/index.ts";
import type { TeamRooms } from "../../mind/teams/index.ts";
import type { LaresConfig } from "../config.ts";
import type { Channels } from "./channels.ts";

export interface InstanceParts {
  home: string;
  version: string;
  /** How people call this program. */
  program: string;
  config: LaresConfig;
  models: ReturnType<typeof createModels>;
  vault: Vault;
  clock: Clock;
  ids: IdMaker;
  crash: Crash;
  /** Knows what stopped Lares before (I13). */
  guard: Guard;
  /** Told before and after a commit, which waits for the disk. */
  storing: (on: boolean) => void;
  bus: Bus;
  log: Log;
  /** The text without the secrets that are known by value. */
  redact: (text: string) => string;
  doors: OwnDoors;
  /** The records failed: this instance is over. */
  onFatal: (error: AppError) => void;
}

export interface LateParts {
  /** Which accounts there are, on which platforms. */
  accounts: Late<Accounts>;
  channels: Late<Channels>;
  memory: Late<MemoryRooms<PromptFiles>>;
  inbox: Late<Inbox>;
  events: Late<SystemEvents>;
  schedules: Late<Schedules>;
  children: Late<Children>;
  goals: Late<Goals>;
  rooms: Late<TeamRooms>;
}

export function makeLateParts(): LateParts {
  return {
    accounts: new Late(),
    channels: new Late(),
    memory: new Late(),
    inbox: new Late(),
    events: new Late(),
    schedules: new Late(),
    children: new Late(),
    goals: new Late(),
    rooms: new Late(),
  };
}
