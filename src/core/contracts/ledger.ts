/** One line of the ledger: a model call and what it used. */
import type { SessionKey, TurnId } from "../domain/ids.ts";
import type { Usage } from "../domain/turn.ts";
import type { Tx } from "./records.ts";
import type { UsageBasis } from "./runtime.ts";

export interface CallUse {
  /** The turn that it was made for. */
  turn: TurnId;
  /** Its number in that turn, from 0. */
  call: number;
  /** The conversation of that turn. */
  session: SessionKey;
  /** Who pays for it. */
  agent: string;
  /** `provider/model`; null when none of them answered. */
  model: string | null;
  /** Tokens and money. */
  usage: Usage;
  /** How long it took. */
  ms: number;
  /** When it ended, in milliseconds since 1970. */
  at: number;
  /** Who made the call; our own loop unless named. */
  runtime?: string;
  /** Computed from counted tokens unless said otherwise. */
  basis?: UsageBasis;
}

/** Idempotent by turn and call. */
export type RecordUsage = (tx: Tx, use: CallUse) => void;
