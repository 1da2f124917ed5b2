/**
 * Interim results stand in for a call's real result while it waits for a person, a time or a sub-agent.
 *
 * This is how CONTEXT-6 holds: as long as no model has been sent the interim result, the real one replaces it, and to the model
 * the call simply took a while. Once sent, it never changes, and the real result comes as a later message. A marker is durable
 * before the interim result is sent, so a crash in between only costs the nicer form.
 */
import type { Records, Tx } from "../../core/contracts/index.ts";
import type { SessionKey, ToolResultPart, TurnId } from "../../core/domain/index.ts";
import * as store from "./store.ts";
import { estimateTokens } from "./tokens.ts";

/** A call that waited, by the message its interim result is in. */
export interface WaitedCall {
  session: SessionKey;
  message: string;
  call: string;
}

export interface Settling {
  /**
   * Replaces the interim result with the real one. False if that is no longer possible: then the result goes into a later
   * message. Also true if a crash interrupted the caller after it was replaced.
   */
  place(tx: Tx, result: Pick<ToolResultPart, "text" | "isError" | "notRun" | "exit">, outside: boolean): boolean;
}

export class Interims {
  private readonly records: Records;
  /** The window changed. */
  private readonly changed: (session: SessionKey) => void;
  /** Sessions that may have open interim results. A superset: some may have none. */
  private open: Set<SessionKey> | undefined;
  /** About to be sent; the marker will be durable in a moment. */
  private readonly sending = new Set<string>();

  constructor(records: Records, changed: (session: SessionKey) => void) {
    this.records = records;
    this.changed = changed;
  }

  /** Notes that these calls of a message are waiting. Idempotent. */
  keep(tx: Tx, of: { session: SessionKey; message: string; turn: TurnId; calls: readonly string[] }): void {
    for (const call of of.calls) store.insertInterim(tx, { ...of, call });
    this.open?.add(of.session);
  }

  /** Called before a model is sent this session's window. Durable when it resolves; almost always a no-op. */
  async sent(session: SessionKey): Promise<void> {
    this.open ??= new Set(await store.sessionsWithInterims(this.records));
    if (!this.open.has(session)) return;
    const rows = await store.openInterims(this.records, session);
    if (rows.length) {
      for (const { message, call } of rows) this.sending.add(`${message} ${call}`);
      await this.records.write((tx) => store.markInterimsSeen(tx, session));
      for (const { message, call } of rows) this.sending.delete(`${message} ${call}`);
    }
    this.open.delete(session);
  }

  /** The call has its outcome; says where it goes. */
  async settling({ session, message, call }: WaitedCall): Promise<Settling> {
    const row = await store.readInterim(this.records, message, call);
    return {
      place: (tx, result, outside) => {
        if (row?.state === "placed") return true;
        if (row?.state !== "open" || !row.shown || this.sending.has(`${message} ${call}`)) return false;
        const before = JSON.parse(row.content) as ToolResultPart[];
        const content = before.map((part): ToolResultPart => {
          if (part.id !== call) return part;
          const { id, name } = part;
          return { type: "tool-result", id, name, ...result };
        });
        const tokens = estimateTokens(content);
        store.placeResult(tx, { message, call, content: JSON.stringify(content), tokens, outside });
        this.changed(session);
        return true;
      },
    };
  }

  /** The turn has ended, so none of its steps will be repeated. */
  forget(tx: Tx, turn: TurnId): void {
    store.deleteInterims(tx, turn);
  }
}
