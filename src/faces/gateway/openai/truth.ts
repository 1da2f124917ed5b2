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
 * The practice model's label, behind its words: nobody may take rules for a language model, and most clients show nothing else.
 * Everything else that people should know is in `lares` and the headers, where no program trips over it. Not where the words
 * must be JSON, or where a stop text would then be in what the caller reads.
 */
export function besides(answer: ChatAnswer, how: { settings: AnswerSettings; tools: boolean }): string {
  if (how.settings.format || how.tools || answer.state === "parked") return "";
  if (!answer.practice || /practice model/i.test(answer.response)) return "";
  const more = `\n\n(${PRACTICE})`;
  return how.settings.stop?.some((text) => (answer.response + more).includes(text)) ? "" : more;
}

/** A call's input as the model wrote it: what was no JSON reaches the caller as it came, not in words of ours. */
export function toArguments(input: Json): string {
  return isUnreadable(input) ? input.unreadable : JSON.stringify(input);
}
