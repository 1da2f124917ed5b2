/**
 * Results that stand in for a call's own while it waits for a person, a time or a sub-agent.
 *
 * This is how CONTEXT-6 holds: as long as no model was sent one, the real result takes its place, and the model reads the call as
 *     if it had simply taken long. Once one was sent it never changes, and the real result comes as a later message. That it will
 *     be sent is durable before it is, so a crash in between costs only the nicer form.
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
  /** Whether the real result stands in the interim one's place, now or since before a crash. If not, it is said in a later message. */
  place(tx: Tx, result: Pick<ToolResultPart, "text" | "isError" | "notRun" | "exit">, outside: boolean): boolean;
}

export class Interims {
  private readonly records: Records;
  /** The window changed. */
  private readonly changed: (session: SessionKey) => void;
  /** Sessions with open ones; those in it may have none. */
  private open: Set<SessionKey> | undefined;
  /** About to be sent: durable in a moment. */
  private readonly sending = new Set<string>();

  constructor(records: Records, changed: (session: SessionKey) => void) {
    this.records = records;
    this.changed = changed;
  }

  /** These calls of a message wait. The same again changes nothing. */
  keep(tx: Tx, of: { session: SessionKey; message: string; turn: TurnId; calls: readonly string[] }): void {
    for (const call of of.calls) store.insertInterim(tx, { ...of, call });
    this.open?.add(of.session);
  }

  /** A model is about to be sent what this session's window holds. Durable when it resolves; nearly always nothing is to be done. */
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

  /** The call has its outcome. */
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

  /** The turn has ended: nothing of it is done again. */
  forget(tx: Tx, turn: TurnId): void {
    store.deleteInterims(tx, turn);
  }
}
