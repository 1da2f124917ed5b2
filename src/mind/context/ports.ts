import type { Reads, Tx } from "../../core/contracts/index.ts";
import type { SessionKey } from "../../core/domain/index.ts";

/** What a session holds for the model's view of it. All writes join the caller's transaction, and the same again changes nothing. */
export interface SessionViews {
  /** Gives a prompt to a session that has none yet. */
  keepPrompt(tx: Tx, session: SessionKey, hash: string): void;
  sessionsWithPrompt(db: Reads, hash: string): Promise<SessionKey[]>;
  /** Takes it from every session that has it. */
  dropPrompt(tx: Tx, hash: string): void;
  /** Which model and how much thinking the session asks for; one that is not there yet is made. Another model gets a prompt of its own. */
  tune(
    tx: Tx,
    session: { key: SessionKey; agent: string; person: string; at: number },
    set: { model: string | null; thinking: string | null },
  ): void;
  /** Keeps what the model reads of memory, where the session has nothing yet. */
  keepSnapshot(tx: Tx, session: SessionKey, text: string): void;
  /** Takes every snapshot that holds this text; an empty text means all of them. */
  dropSnapshots(tx: Tx, text: string): void;
  /** Puts a compaction in the place of `messages` messages between `from` and `to`, if the session is still as it was read. */
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
  /** Shows the session as it was before this compaction, if that is the one in force. */
  undoCompaction(tx: Tx, c: { session: SessionKey; id: string; previous: string | null; from_seq: number }): void;
  /** Shows the session as it was before the first compaction that contains this message. */
  uncover(tx: Tx, session: SessionKey, message: string): void;
}
