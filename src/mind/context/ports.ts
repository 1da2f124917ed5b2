import type { Reads, Tx } from "../../core/contracts/index.ts";
import type { SessionKey } from "../../core/domain/index.ts";

/** What a session stores for the model's view of it. All writes join the caller's transaction and are idempotent. */
export interface SessionViews {
  /** Gives a prompt to a session that has none yet. */
  keepPrompt(tx: Tx, session: SessionKey, hash: string): void;
  /** Sessions that use this prompt. */
  sessionsWithPrompt(db: Reads, hash: string): Promise<SessionKey[]>;
  /** Takes it from every session that has it. */
  dropPrompt(tx: Tx, hash: string): void;
  /**
   * Sets which model and how much thinking the session uses, creating the session if needed. Another model gets its own prompt.
   */
  tune(
    tx: Tx,
    session: { key: SessionKey; agent: string; person: string; at: number },
    set: { model: string | null; thinking: string | null },
  ): void;
  /** Stores the memory snapshot, if the session doesn't have one yet. */
  keepSnapshot(tx: Tx, session: SessionKey, text: string): void;
  /** Takes every snapshot that holds this text; an empty text means all of them. */
  dropSnapshots(tx: Tx, text: string): void;
  /** Replaces `messages` messages between `from` and `to` with a compaction, if the session is still as it was read. */
  compact(
    tx: Tx,
    c: {
      session: SessionKey;
      id: string;
      previous: string | null;
      base: number;
      to: number;
      snapshot: string | null;
      from: number;
      messages: number;
    },
  ): void;
  /** Restores the session's view to before this compaction, if it is the one in effect. */
  undoCompaction(tx: Tx, c: { session: SessionKey; id: string; previous: string | null; from_seq: number }): void;
  /** Restores the session's view to before the first compaction that contains this message. */
  uncover(tx: Tx, session: SessionKey, message: string): void;
}
