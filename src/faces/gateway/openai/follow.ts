/**
 * Follows one turn for a stream: its text as it comes, then the recorded answer. The record is the truth: whatever was not
 * streamed (a resumed turn, a joined message, another model's second try) comes as the rest.
 */
import type { ChatAnswer, Params } from "../../../core/protocol/index.ts";
import { call } from "../call.ts";
import type { Caller, GatewayParts } from "../ports.ts";

export interface Followed {
  /** The turn as it was accepted: its headers can be sent before its first word. */
  accepted: ChatAnswer;
  /** Says the pieces as they come, then the rest. Must be called once: it ends the listening. */
  to(say: (piece: string) => Promise<unknown>, caller: Caller): Promise<ChatAnswer>;
}

/** Throws when the message is not accepted; then nothing was streamed and the error is an ordinary answer. */
export async function follow(parts: GatewayParts, params: Params<"chat.send">, caller: Caller): Promise<Followed> {
  // The turn's id is known only once it is accepted; what is said before that is kept and sorted out then.
  let turn: string | undefined;
  let say: ((piece: string) => Promise<unknown>) | undefined;
  let said = "";
  let of = -1;
  const early: { turn: string; call: number; text: string }[] = [];
  const speak = (n: number, text: string) => {
    // Between two calls of one turn there was a tool at work: a new paragraph.
    const gap = of >= 0 && n !== of && said ? "\n\n" : "";
    if (n !== of) said = "";
    of = n;
    said += text;
    return say!(gap + text);
  };
  const off = parts.events.on(({ event }) => {
    if (event.event === "turn.discarded" && event.turn === turn) of = event.call + 0.5;
    if (event.event !== "turn.delta") return;
    if (!say) early.push({ turn: event.turn, call: event.call, text: event.text });
    else if (event.turn === turn) void speak(event.call, event.text);
  });
  let accepted: ChatAnswer;
  try {
    accepted = await call(parts, "chat.send", { ...params, wait: false }, caller);
  } catch (error) {
    off();
    throw error;
  }
  return {
    accepted,
    async to(piece, listener) {
      try {
        turn = accepted.joined ?? accepted.turn;
        say = piece;
        // Without a wait in between: the next piece may come at any moment and belongs behind these.
        for (const e of early) if (e.turn === turn) void speak(e.call, e.text);
        // Who may ask may wait for the answer: no further right is needed.
        const answer = await parts.handlers()["turns.wait"]({ turn: accepted.turn }, listener);
        const whole = answer.response;
        if (said.trim() === whole.trim()) return answer;
        const rest = said && whole.startsWith(said) ? whole.slice(said.length) : said ? `\n\n${whole}` : whole;
        if (rest) await piece(rest);
        return answer;
      } finally {
        off();
      }
    },
  };
}
