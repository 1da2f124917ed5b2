/** What a runtime reads first. Pure. */
import type { RunEventBody } from "../../core/contracts/index.ts";
import type { GivenAnswer, SaidMeanwhile } from "./ports.ts";
import { handoverWords as words } from "./words.ts";

export interface RunSituation {
  /** What this turn is about. */
  text: string;
  /** The runtime finds its own conversation. */
  isResumed: boolean;
  /** From 1. */
  attempt: number;
  /** The conversation before this turn, for a runtime that doesn't have it. */
  before: string;
  /** Of earlier attempts. */
  events: readonly RunEventBody[];
  said: readonly SaidMeanwhile[];
  answers: readonly GivenAnswer[];
}

/** Of an input or a result, in the story of what was done. */
const MOST_PART = 600;
/** Of the whole story; the end counts. */
const MOST_STORY = 12_000;

export function firstWords(at: RunSituation): string {
  const { text, isResumed, attempt, before, events, said, answers } = at;
  const history = !isResumed && before !== "" ? [words.before(before)] : [];
  if (attempt === 1) return history.length === 0 ? text : [...history, words.now(text)].join("\n\n");
  const story = tellStory(events);
  const done = isResumed || story === "" ? [] : [words.done(story)];
  const meanwhile = said.length === 0 ? [] : [words.said(said.map((one) => one.text))];
  return [
    isResumed ? words.again : words.takeOver,
    ...history,
    words.request(text),
    ...done,
    ...meanwhile,
    ...answers.map(tellAnswer),
  ].join("\n\n");
}

function tellAnswer(given: GivenAnswer): string {
  const { about } = given;
  if ("result" in given) return (given.result.isError ? words.notUsed : words.used)(about, given.result.text);
  const { answer } = given;
  return answer.kind === "deny" ? words.denied(about, answer.reason) : words.allowed(about);
}

/** What the earlier attempts did, in order. A call without a result may or may not have happened. */
function tellStory(events: readonly RunEventBody[]): string {
  const results = new Map(events.flatMap((one) => (one.type === "tool_result" ? [[one.call, one] as const] : [])));
  const lines = events.flatMap((one): string[] => {
    if (one.type === "text") return [one.text];
    if (one.type !== "tool_call") return [];
    const result = results.get(one.call);
    const end = result ? words.result(result.text.slice(0, MOST_PART), result.isError) : words.noResult;
    return [words.called(one.name, JSON.stringify(one.input).slice(0, MOST_PART)), end];
  });
  return lines.join("\n").slice(-MOST_STORY);
}
