/**
 * Follows one turn for a stream: its text as it comes, then the recorded answer. The record is the truth: whatever was not
 * streamed (a resumed turn, a joined message, another model's second try) comes as the rest.
 */
import type { Context } from "hono";
import { truthy } from "../../../core/kit/index.ts";
import type { ChatAnswer, Params } from "../../../core/protocol/index.ts";
import { answerHeaders, call, toCaller } from "../call.ts";
import type { HttpEnv } from "../http.ts";
import type { Caller, GatewayParts } from "../ports.ts";
import { hasFailed } from "./errors.ts";

/** Load balancers commonly give up on an answer whose headers take 30 s; a turn may wait longer than that in its lane. */
const HEADERS_WITHIN_MS = 20_000;

interface Followed {
  /**
   * What the headers say: the turn with the model that answers, or its whole answer when it ended before a model began. After
   * `HEADERS_WITHIN_MS` the turn as it was accepted.
   */
  head(): Promise<ChatAnswer>;
  /** The same without the limit: what the first chunk says. */
  begun(): Promise<ChatAnswer>;
  /** The model that answers now; before one does, nothing. */
  model(): string | undefined;
  /** Says the pieces as they come, then the rest; a failed turn has no rest. */
  to(say: (piece: string) => Promise<unknown>): Promise<ChatAnswer>;
}

/** Both doors begin a stream like this: the turn is followed, and its headers are set once they are known. */
export async function followed(c: Context<HttpEnv>, parts: GatewayParts, params: Params<"chat.send">) {
  const left = new AbortController();
  const caller = toCaller(c);
  const signal = AbortSignal.any([caller.signal, left.signal]);
  const turn = await follow(parts, params, { ...caller, signal });
  const head = await turn.head();
  if (!hasFailed(head)) for (const [name, value] of Object.entries(answerHeaders(head))) c.header(name, value);
  return { turn, head, abort: () => left.abort() };
}

/** Throws when the message is not accepted; then nothing was streamed and the error is an ordinary answer. */
async function follow(parts: GatewayParts, params: Params<"chat.send">, caller: Caller): Promise<Followed> {
  const heard = listen(parts);
  try {
    const accepted = await call(parts, "chat.send", { ...params, wait: false }, caller);
    const chosen = heard.of(accepted.joined ?? accepted.turn).then((by) => ({ ...accepted, ...by }));
    // Who may ask may wait for the answer: no further right is needed.
    const ended = parts.handlers["turns.wait"]({ turn: accepted.turn }, caller).finally(heard.off);
    const begun = Promise.race([chosen, ended]);
    // A caller that asks for it gets the error; if nobody asks, that is fine.
    begun.catch(() => {});
    return {
      begun: () => begun,
      head: () => within(parts, begun, accepted),
      model: () => heard.model(),
      async to(piece) {
        heard.to(piece);
        const answer = await ended;
        const rest = hasFailed(answer) ? "" : takeRest(answer.response, heard.said());
        if (rest) await piece(rest);
        return answer;
      },
    };
  } catch (error) {
    heard.off();
    throw error;
  }
}

function within(parts: GatewayParts, begun: Promise<ChatAnswer>, accepted: ChatAnswer): Promise<ChatAnswer> {
  return new Promise((resolve, reject) => {
    const cancel = parts.clock.after(HEADERS_WITHIN_MS, () => resolve(accepted));
    begun.then(resolve, reject).finally(cancel);
  });
}

function takeRest(whole: string, said: string): string {
  if (said.trim() === whole.trim()) return "";
  if (!said) return whole;
  return whole.startsWith(said) ? whole.slice(said.length) : `\n\n${whole}`;
}

type Answering = { model: string; practice?: boolean };

/** The turn's id is known only once it is accepted; what is said before that is stored and sorted out then. */
function listen(parts: GatewayParts) {
  let turn: string | undefined;
  let say: ((piece: string) => Promise<unknown>) | undefined;
  let answering: Answering | undefined;
  let chose: (by: Answering) => void = () => {};
  /** What this attempt at the call said so far, and what the caller already has of it. */
  let said = "";
  let shown = "";
  let of = -1;
  const early: { turn: string; call: number; text?: string }[] = [];
  const models = new Map<string, Answering>();
  const choose = (by: Answering) => {
    answering = by;
    chose(by);
  };
  const speak = (n: number, text: string) => {
    // Between two calls of one turn there was a tool at work: a new paragraph.
    const gap = n !== of && shown ? "\n\n" : "";
    if (n !== of) {
      said = "";
      shown = "";
    }
    of = n;
    said += text;
    // What was streamed stays there: another attempt goes on where it says something new.
    if (shown.startsWith(said)) return;
    const piece = said.startsWith(shown) ? said.slice(shown.length) : `\n\n${said}`;
    shown = said;
    void say!(gap + piece);
  };
  const discard = (n: number) => {
    if (n === of) said = "";
  };
  const off = parts.events.on(({ event }) => {
    if (event.event === "turn.discarded") {
      if (!say) early.push({ turn: event.turn, call: event.call });
      else if (event.turn === turn) discard(event.call);
    }
    if (event.event === "turn.answering") {
      const by = { model: event.model, ...truthy({ practice: event.practice }) };
      if (turn === undefined) models.set(event.turn, by);
      else if (event.turn === turn) choose(by);
    }
    if (event.event !== "turn.delta" || (turn !== undefined && event.turn !== turn)) return;
    if (!say) early.push({ turn: event.turn, call: event.call, text: event.text });
    else speak(event.call, event.text);
  });
  return {
    off,
    model: () => answering?.model,
    said: () => shown,
    /** Resolves when a model begins to answer this turn. */
    of(id: string): Promise<Answering> {
      turn = id;
      return new Promise((resolve) => {
        chose = resolve;
        const known = models.get(id);
        if (known) choose(known);
      });
    },
    to(piece: (text: string) => Promise<unknown>): void {
      say = piece;
      // Without a wait in between: the next piece may come at any moment and belongs behind these.
      for (const { turn: by, call, text } of early) {
        if (by !== turn) continue;
        if (text === undefined) discard(call);
        else speak(call, text);
      }
    },
  };
}
