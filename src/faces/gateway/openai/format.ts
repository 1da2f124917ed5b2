/**
 * Answers that were asked for as JSON: checked before the caller believes them, whole and streamed. One that isn't what was asked for
 * is an error, not an answer, and its turn has failed (`flow/turns/converse.ts`); here it is unwrapped.
 */
import type { AnswerSettings } from "../../../core/domain/index.ts";
import { fitTo } from "../../../core/kit/index.ts";
import type { ChatAnswer } from "../../../core/protocol/index.ts";

type Format = AnswerSettings["format"];
type Checked = { text: string } | { wrong: string };

/** The words as the caller gets them. JSON that the model wrapped comes without what is around it. */
export function checkAnswer(answer: ChatAnswer, format: Format, text = answer.response): Checked {
  // What was cut says so itself, a question to a person is no answer yet, and calls have their own form.
  const isAnswer = answer.state === "answered" && !answer.cut && !answer.toolCalls;
  if (!format || !isAnswer) return { text };
  const fits = fitTo(format.schema, text);
  return fits.ok
    ? { text: fits.text }
    : { wrong: `The model's answer isn't in the format that was asked for. ${fits.why}` };
}

/**
 * The same for a stream. What begins as JSON is passed on as it comes, and checked at its end; anything else is held until the whole
 * is known.
 */
export function sayChecked(format: Format, say: (piece: string) => Promise<unknown>) {
  let heard = "";
  let isOpen = format === undefined;
  return {
    async piece(piece: string): Promise<void> {
      heard += piece;
      if (isOpen) return void (await say(piece));
      isOpen = /^[{[]/.test(heard.trimStart());
      if (isOpen) await say(heard);
    },
    /** With the recorded answer, after the last piece: what is wrong with it. */
    async end(answer: ChatAnswer): Promise<string | undefined> {
      const checked = checkAnswer(answer, format, isOpen ? heard : answer.response);
      if ("wrong" in checked) return checked.wrong;
      if (!isOpen && checked.text) await say(checked.text);
      return undefined;
    },
  };
}
