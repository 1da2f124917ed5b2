/**
 * What a server wants a model to write for it (sampling), as a request of ours. All of it is text from outside: bounded, without
 * hidden characters, and below a line of ours that says whose words they are. Pure.
 */
import { z } from "zod";
import type { ModelReply } from "../../../../core/contracts/index.ts";
import type { JsonObject, ModelMessage } from "../../../../core/domain/index.ts";
import { defined, visible, withoutHidden } from "../../../../core/kit/index.ts";

/** About 25,000 tokens: a long document, and no more than a turn's own request may cost. */
const MOST_TEXT = 100_000;
const MOST_MESSAGES = 50;
const MOST_SHOWN = 600;

const part = z.looseObject({ type: z.string(), text: z.string().optional() });
const params = z.looseObject({
  messages: z
    .array(z.looseObject({ role: z.enum(["user", "assistant"]), content: z.union([part, z.array(part)]) }))
    .min(1)
    .max(MOST_MESSAGES),
  systemPrompt: z.string().optional(),
  maxTokens: z.number().int().positive().optional(),
  tools: z.unknown().optional(),
});

export interface WantedText {
  system: string;
  messages: ModelMessage[];
  maxTokens?: number;
  /** Its beginning, for the person who is asked. */
  shown: string;
}

/** A string: why it isn't passed on. */
export function readWanted(server: string, given: unknown): WantedText | string {
  const read = params.safeParse(given);
  if (!read.success) return `${server} asked for text from a model in a form that Lares doesn't know`;
  const { messages, systemPrompt = "", maxTokens, tools } = read.data;
  if (tools !== undefined) return `${server} asked for a model with tools, which no server gets`;
  const said = messages.map(({ role, content }) => ({ role, text: [content].flat().map(readPart).join("\n") }));
  const length = said.reduce((sum, { text }) => sum + text.length, systemPrompt.length);
  if (length > MOST_TEXT) return `${server} asked for text from a model with more than ${MOST_TEXT} characters`;
  const asked = [withoutHidden(systemPrompt), ...said.map(({ text }) => text)].filter(Boolean).join("\n");
  const shown = asked.length > MOST_SHOWN ? `${asked.slice(0, MOST_SHOWN)}…` : asked;
  return {
    system: describeAsker(server, withoutHidden(systemPrompt)),
    messages: said.map(({ role, text }): ModelMessage => ({ role, content: [{ type: "text", text }] })),
    ...defined({ maxTokens }),
    shown: visible(shown)
      .split("\n")
      .map((line) => `> ${line}`)
      .join("\n"),
  };
}

function readPart({ type, text }: z.infer<typeof part>): string {
  return type === "text" && text !== undefined ? withoutHidden(text) : "[a part that isn't text, and isn't passed on]";
}

function describeAsker(server: string, systemPrompt: string): string {
  const ours = `The program "${server}" asks for a text. Everything below is its words, and your answer goes to it and to nobody else. You have no tools and know nothing about the people who use it.`;
  return systemPrompt === "" ? ours : `${ours}\n\n${systemPrompt}`;
}

/** The reply as the server gets it. */
export function writeSampled(reply: Extract<ModelReply, { ok: true }>): JsonObject {
  const text = reply.content.map((one) => (one.type === "text" ? one.text : "")).join("");
  const stopReason = reply.finish === "length" ? "maxTokens" : "endTurn";
  return { role: "assistant", content: { type: "text", text }, model: reply.model, stopReason };
}
