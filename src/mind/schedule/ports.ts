/** What the schedule needs from other rooms. app/ passes the real things in. */
import type { HookLog, Records, Tx } from "../../core/contracts/index.ts";
import type {
  AgentId,
  AppError,
  Given,
  InboundMessage,
  Json,
  ReplyRoute,
  ScheduleId,
  SessionKey,
  TurnId,
  TurnResult,
  TurnState,
} from "../../core/domain/index.ts";
import type { Bus, Clock, Crash, IdMaker, Log } from "../../core/kit/index.ts";

export interface ScheduleParts {
  records: Records;
  clock: Clock;
  ids: IdMaker;
  bus: Bus;
  hooks: HookLog;
  log: Log;
  crash: Crash;
  /** The person's zone. */
  zone: () => string;
  /** Sets the job's one pending slot; null removes it. */
  timer: (id: ScheduleId, slot: { due: number; session: SessionKey; body: Json } | null) => Promise<void>;
  /** The inbox. Idempotent per message key. */
  admit: (message: InboundMessage) => Promise<{ turn: TurnId }>;
  /** Why a job couldn't run, found without a model call; undefined if it could. */
  obstacle: (need: Need) => AppError | undefined;
  /** A turn as it stands. */
  turn: (turn: TurnId) => Promise<{ state: TurnState; result?: TurnResult | undefined } | undefined>;
  /** The code of the approval a parked turn is waiting for; undefined if it is waiting for something else. */
  question: (turn: TurnId) => Promise<string | undefined>;
  /** Ends the turns that wait for these approvals, which then can't be answered. Returns the approvals' codes. */
  withdraw: (
    isMeant: (asked: { turn: TurnId; session: SessionKey }) => Promise<boolean>,
    because: string,
  ) => Promise<string[]>;
  files: WorkspaceFiles;
  /** Whom an answer sent there reaches, in words for the model. */
  recipient: (agent: AgentId, route: ReplyRoute) => Promise<string>;
  /** A message to people, written in the same transaction as the change it reports. Idempotent per key. */
  tell: (tx: Tx, word: { key: string; turn: TurnId; session: SessionKey; route: ReplyRoute; text: string }) => void;
  /** Deliveries of a turn, or of any turn since then, that have permanently failed. */
  lost: (of: { turn: TurnId } | { since: number }) => Promise<{ turn: TurnId; error: string }[]>;
  /** Sends a message once it is durable. */
  wake: (turn: TurnId) => void;
  /** Deletes a run's session. False while something in it is still running. */
  removeSession: (session: SessionKey) => Promise<boolean>;
  beats?: Beats;
}

export interface Need {
  agent: AgentId;
  route: ReplyRoute | null;
  /** The model asked for; null is the agent's. Absent: no model is needed. */
  model?: string | null;
}

/** Files of an agent's workspace. Both throw for a path that leads out of it. */
export interface WorkspaceFiles {
  /** Changes when the file does; null when there is none. Reads no contents. */
  mark(agent: AgentId, path: string): Promise<string | null>;
  /** Writes a text for a script. Returns the path as a command in the workspace would use it. */
  leave(agent: AgentId, name: string, text: string): Promise<string>;
}

/** Lets the heartbeat room decide whether there is something to say, and what a turn's end means. */
export interface Beats {
  /** Cheap, and no model. `force`: somebody wants a beat now. */
  check(
    agent: AgentId,
    now: number,
    force?: boolean,
  ): Promise<{ quiet: string } | { text: string; given: Given; note: Json }>;
  /** Interprets the end of its turn. `record` is written with the slot's end. */
  ended(
    agent: AgentId,
    run: { turn: TurnId; session: SessionKey; due: number; route: ReplyRoute | null; result: TurnResult; now: number },
  ): Promise<{ reason: string | null; record: (tx: Tx) => void }>;
  /** The check said yes and its turn is admitted: what it saw now counts as pending. */
  began(tx: Tx, agent: AgentId, note: Json, now: number): void;
}
