/**
 * The practice model in a provider's words, for a runtime while no key is set: it answers in the format it was asked in, says that it is
 * a list of rules, calls no tools and costs nothing.
 */
import type { RelayCall, RelayedAnswer } from "../../../core/contracts/index.ts";
import { asList, asObject, asText, NO_USAGE } from "../../../core/domain/index.ts";
import { callPractice, PRACTICE_MODEL } from "../practice/index.ts";
import { writeEvents, writeWhole } from "./written-answer.ts";

export async function answerPractice(call: RelayCall, signal: AbortSignal): Promise<RelayedAnswer> {
  const isEvents = call.stream && call.kind === "answer";
  const text = call.kind === "count" ? [] : [await ask(lastWords(call), signal)];
  const answer = { model: PRACTICE_MODEL, text, usage: { input: 0, output: 0 } };
  const whole = call.kind === "count" ? COUNTED : writeWhole(call.api, answer);
  const pieces = isEvents ? writeEvents(call.api, answer) : [whole];
  return {
    ok: true,
    model: PRACTICE_MODEL,
    status: 200,
    headers: { "content-type": isEvents ? "text/event-stream" : "application/json" },
    async *pieces() {
      yield Buffer.from(pieces.join(""));
    },
    used: () => ({ usage: NO_USAGE, isWhole: true }),
  };
}

/** Anthropic's word for it, and Google's. */
export const COUNTED = JSON.stringify({ input_tokens: 1, totalTokens: 1 });

async function ask(words: string, signal: AbortSignal): Promise<string> {
  const messages = [{ role: "user" as const, content: [{ type: "text" as const, text: words }] }];
  const reply = await callPractice({ system: "", tools: [], messages, cacheKey: "" }, () => {}, signal);
  if (!reply.ok) return reply.message;
  return reply.content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** What the person said last, in any of the formats. */
function lastWords(call: RelayCall): string {
  const body = asObject(JSON.parse(Buffer.from(call.body).toString("utf8")));
  if (typeof body.input === "string") return body.input;
  const turns = [...asList(body.messages), ...asList(body.input), ...asList(body.contents)].map(asObject);
  const last = turns.findLast(({ role }) => role === "user");
  const content = last?.content ?? last?.parts;
  if (typeof content === "string") return content;
  const texts = asList(content).flatMap((part) => asText(asObject(part).text) ?? []);
  return texts.at(-1) ?? "";
}
