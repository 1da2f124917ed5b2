/** What runs need from other rooms, and what they are asked to do. */
import type {
  FailureClass,
  Records,
  RecordUsage,
  RunAnswer,
  RunAsk,
  RunEventBody,
  RunOutcome,
  RunRequest,
  RunSession,
  RunToken,
  RunToolResult,
  RunTools,
  ToolSpec,
  Worktrees,
} from "../../core/contracts/index.ts";
import type { AgentId, Authority, SessionKey, TurnId } from "../../core/domain/index.ts";
import type { Clock, Crash, Log } from "../../core/kit/index.ts";
import type { ReadyCall } from "./own-calls.ts";

/** What a run hears about its own model calls. */
export interface CallListener {
  /** One failed for good. */
  onFailure?(failure: { failure: FailureClass | "budget"; message: string; hint: string | null }): void;
}

export interface StartRun extends Omit<RunRequest, "workspace"> {
  runtime: string;
  turn: TurnId;
  session: SessionKey;
  workspace: string;
  trust: "own" | "outside";
  listener: CallListener;
  /** Our own tools for it. */
  tools: RunTools;
  /** Whether it waits for one of them. */
  isServing(): boolean;
  /** For work on a repository: makes the worktree that takes the workspace's place, where the runtime can work in one. */
  worktree?: () => Promise<{ path: string; gitDir: string; instructions: string }>;
}

export interface BegunRun {
  session: RunSession;
  /** Kept with the run: how it is driven, and what is missing. */
  plan: { shortfalls: readonly { code: string; text: string }[] };
  /** Its model calls are in the ledger already. */
  isMetered: boolean;
  /** Ends everything of it. Idempotent, never throws. */
  release(): Promise<void>;
}

/** Where runs live. */
export interface RunHome {
  /** Throws an AppError when it surely did not start. */
  open(of: StartRun, signal: AbortSignal): Promise<BegunRun>;
  /** Takes up a run that goes on without us. Null: there is nothing to take up. */
  takeUp(of: StartRun, token: RunToken, signal: AbortSignal): Promise<BegunRun | null>;
  /** Ends what processes of these runs an earlier life left. */
  endLeft(runs: readonly string[]): Promise<void>;
}

export interface RunsParts {
  records: Records;
  clock: Clock;
  crash: Crash;
  log: Log;
  recordUsage: RecordUsage;
  /** The highest number of a call of this turn in the ledger; -1 when there is none. */
  lastCall(turn: TurnId): Promise<number>;
  worktrees: Worktrees;
  /** Loads it when the first run needs it. */
  host(): Promise<RunHome>;
}

/** One stretch of a run: until it asks something, or is over. */
export interface DriveRequest {
  turn: TurnId;
  session: SessionKey;
  agent: AgentId;
  runtime: string;
  text: string;
  instructions: string;
  model: string | null;
  workspace: string;
  /** It works in a worktree of this one, which is in one of these folders. */
  repository: RunRepository | null;
  trust: "own" | "outside";
  /** What was said to what the stretch before asked. */
  answers: readonly GivenAnswer[];
  /** Our own tools that it may call. */
  tools: readonly ToolSpec[];
  /** The conversation so far as text, for a runtime that doesn't know it. */
  before(): Promise<string>;
  /** Called when the event is recorded. */
  show(event: RunEventBody): void;
  /** Aborts when this process may no longer record. */
  signal: AbortSignal;
  /** Aborts when the turn is to be stopped. */
  stopping: AbortSignal;
}

export interface RunRepository {
  path: string;
  within: readonly string[];
}

export type GivenAnswer = {
  /** What it was about, in a line. */
  about: string;
} & ({ ask: string; answer: RunAnswer } | { call: string; result: RunToolResult });

export type RunStop =
  | { why: "asks"; ask: string; attempt: number; about: RunAsk; expires: number | null }
  /** It calls a tool of ours. */
  | ({ why: "calls"; attempt: number } & ReadyCall)
  | { why: "ended"; outcome: RunOutcome; text: string; error: RunTrouble | null }
  /** It never began. */
  | { why: "failed"; trouble: RunTrouble };

export type RunTrouble = { failure: FailureClass | "budget"; text: string; hint: string | null };

export interface SaidMeanwhile {
  message: TurnId;
  text: string;
  authority: Authority;
}
