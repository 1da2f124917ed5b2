/**
 * Follows one turn for a stream: its text as it comes, then the recorded answer. The record is the truth: whatever was not
 * streamed (a resumed turn, a joined message, another model's second try) comes as the rest.
 */
import type { ChatAnswer, Params } from "../../../core/protocol/index.ts";
import { call } from "../call.ts";
import type { Caller, GatewayParts } from "../ports.ts";

export interface Follower {
  accepted(answer: ChatAnswer): Promise<unknown>;
  text(piece: string): Promise<unknown>;
}

export async function follow(
  parts: GatewayParts,
  params: Params<"chat.send">,
  caller: Caller,
  to: Follower,
): Promise<ChatAnswer> {
  // The turn's id is known only once it is accepted; what is said before that is kept and sorted out then.
  let turn: string | undefined;
  let said = "";
  let of = -1;
  const early: { turn: string; call: number; text: string }[] = [];
  const say = (n: number, text: string) => {
    // Between two calls of one turn there was a tool at work: a new paragraph.
    const gap = of >= 0 && n !== of && said ? "\n\n" : "";
    if (n !== of) said = "";
    of = n;
    said += text;
    return to.text(gap + text);
  };
  const off = parts.events.on(({ event }) => {
    if (event.event === "turn.discarded" && event.turn === turn) of = event.call + 0.5;
    if (event.event !== "turn.delta") return;
    if (turn === undefined) early.push({ turn: event.turn, call: event.call, text: event.text });
    else if (event.turn === turn) void say(event.call, event.text);
  });
  try {
    const accepted = await call(parts, "chat.send", { ...params, wait: false }, caller);
    await to.accepted(accepted);
    turn = accepted.joined ?? accepted.turn;
    for (const e of early) if (e.turn === turn) await say(e.call, e.text);
    // Who may ask may wait for the answer: no further right is needed.
    const answer = await parts.handlers()["turns.wait"]({ turn: accepted.turn }, caller);
    const whole = answer.response;
    if (said.trim() === whole.trim()) return answer;
    const rest = said && whole.startsWith(said) ? whole.slice(said.length) : said ? `\n\n${whole}` : whole;
    if (rest) await to.text(rest);
    return answer;
  } finally {
    off();
  }
}
