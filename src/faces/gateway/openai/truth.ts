/** What a caller must know beside the words: who answered, and what happened on the way. The same in whole answers and streams. */
import { type AnswerSettings, isUnreadable, type Json } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import type { ChatAnswer } from "../../../core/protocol/index.ts";

const PRACTICE = "This is the practice model: rules, not a language model.";

/** Who answered; before that is known, what was asked for. */
export function answeringModel(answer: ChatAnswer, asked: string): string {
  return answer.model ?? asked;
}

/** In the answer's `lares`: for programs. */
export function toFacts(answer: ChatAnswer) {
  const { turn, session, agent, state, notices } = answer;
  return {
    turn,
    session,
    agent,
    state,
    notices,
    ...truthy({ practice: answer.practice, joined: answer.joined }),
  };
}

/**
 * Behind the answer's words, as chats show it: for people, whose client shows nothing else. Not where a program reads the words:
 * a JSON answer stays JSON, and a program that brings tools reads `lares` and the headers. Nor where a stop text would then be in
 * what the caller reads: the answer ends before it.
 */
export function besides(answer: ChatAnswer, how: { settings: AnswerSettings; tools: boolean }): string {
  if (how.settings.format || how.tools || answer.state === "parked") return "";
  const isLabelled = !answer.practice || /practice model/i.test(answer.response);
  const lines = [...(isLabelled ? [] : [PRACTICE]), ...answer.notices];
  const more = lines.map((line) => `\n\n(${line})`).join("");
  return how.settings.stop?.some((text) => (answer.response + more).includes(text)) ? "" : more;
}

/** A call's input as the model wrote it: what was no JSON reaches the caller as it came, not in words of ours. */
export function toArguments(input: Json): string {
  return isUnreadable(input) ? input.unreadable : JSON.stringify(input);
}
