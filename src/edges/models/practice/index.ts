/**
 * The practice model: what answers when no key was found, so that chat, tools, approvals, memory and schedules can be
 * tried at once and offline. It is a list of rules, says so, and never pretends to be a language model.
 *
 * PRACTICE-1: the same request gives the same answer.
 * PRACTICE-2: a tool is called only when the request offers it.
 */
import type {
  ModelDelta,
  ModelInfo,
  ModelReply,
  ModelRequest,
  RenderedRequest,
} from "../../../core/contracts/index.ts";
import {
  findLabel,
  type ImagePart,
  isWritten,
  type ModelMessage,
  NO_USAGE,
  type TextPart,
  type ToolCallPart,
  type ToolResultPart,
} from "../../../core/domain/index.ts";
import { defined, truthy } from "../../../core/kit/index.ts";
import { Converter } from "../wire/convert.ts";
import { listParts } from "../wire/parts.ts";
import { abortError } from "../wire/watch.ts";
import { chat, hasRule, notOffered } from "./chat.ts";
import { recalledIn } from "./recall.ts";
import { isWaiting, report, reportOutcome } from "./report.ts";
import { matchRule, type WantedCall } from "./rules/index.ts";
import { type ToldFacts, toldIn } from "./told.ts";

export const PRACTICE_MODEL = "practice/practice";

export const PRACTICE_INFO: ModelInfo = {
  id: PRACTICE_MODEL,
  provider: "practice",
  contextWindow: 200_000,
  maxOutput: 8_192,
  price: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  practice: true,
  because: "built in: rules, not a language model; it answers while no model key is set",
};

export async function callPractice(
  request: ModelRequest,
  onDelta: (delta: ModelDelta) => void,
  signal: AbortSignal,
): Promise<ModelReply> {
  if (signal.aborted) throw abortError(signal);
  const { stop = [], format } = request.settings ?? {};
  if (format?.schema) return NO_SCHEMA;
  const { text: whole, calls } = answer(request);
  const ends = stop.map((word) => whole.indexOf(word)).filter((at) => at >= 0);
  const said = ends.length ? whole.slice(0, Math.min(...ends)) : whole;
  const text = format ? inJson(said, calls.length > 0) : said;
  onDelta({ type: "answering", model: PRACTICE_MODEL, practice: true });
  // Word by word, as a model would; without a pause, since nobody gains from waiting.
  for (const word of text.match(/\S+\s*|\s+/g) ?? []) onDelta({ type: "text", text: word });
  const content: (TextPart | ToolCallPart)[] = text === "" ? [] : [{ type: "text", text }];
  return {
    ok: true,
    model: PRACTICE_MODEL,
    practice: true,
    content: [...content, ...calls],
    finish: calls.length > 0 ? "tool-calls" : "stop",
    usage: NO_USAGE,
    notice: ignoredNotice(request),
    ms: 0,
  };
}

/** A program reads this answer. Words beside a tool call are not the answer, so they are left out. */
function inJson(text: string, isCalling: boolean): string {
  return isCalling ? "" : JSON.stringify({ answer: text, practice: true });
}

const NO_SCHEMA: ModelReply = {
  ok: false,
  failure: "format",
  message: "The practice model follows rules and can't answer in the shape of a JSON schema.",
  hint: 'Ask for {"type": "json_object"}, or set up a real model.',
  usage: NO_USAGE,
};

/** What it is given, as it is given: there is no wire in between. */
export function renderPractice(request: ModelRequest): RenderedRequest {
  const { system, tools, notes, messages } = request;
  const converter = new Converter("openai-chat", PRACTICE_MODEL);
  const listed = converter.toolList(tools);
  const options = { prompt: converter.prompt(system, messages, { notes }), ...defined({ tools: listed }) };
  const body = JSON.stringify({ system, tools, ...truthy({ notes }), messages });
  return { model: PRACTICE_MODEL, api: "practice", body, parts: listParts(options, notes, tools) };
}

/** Rules have no temperature: that is said, not passed over. */
function ignoredNotice({ settings = {} }: ModelRequest): string | null {
  const { stop: _stop, toolChoice: _choice, format: _format, ...rest } = settings;
  return Object.keys(rest).length ? "The practice model follows rules; settings for the answer change nothing." : null;
}

/** Answers what came after the last answer: tool results are reported, each of the person's texts is matched. */
function answer(request: ModelRequest): { text: string; calls: ToolCallPart[] } {
  const fresh = afterLastAnswer(request.messages);
  const results: ToolResultPart[] = fresh.flatMap((message) => (message.role === "tool" ? message.content : []));
  const said = fresh.flatMap((message) => (message.role === "user" ? [message.content] : []));
  // An attached file's text isn't a request from the person.
  const texts = said.flatMap((content) => {
    const typed = content.filter((part) => part.type === "text" && isWritten(part));
    const text = typed.map((part) => (part.type === "text" ? part.text : "")).join("\n");
    return typed.length ? [{ text, label: findLabel(content) }] : [];
  });
  const tools = offeredIn(request);
  const offered = new Set([...tools.directly, ...tools.onDemand]);
  const told = toldIn(request);
  const recalled = recalledIn(request.messages);
  const outcomes = texts.map(reportOutcome).filter((sentence) => sentence !== undefined);
  // Once the outcome is here, the interim "waiting" is out of date.
  const sentences = [...results.filter((r) => !(outcomes.length && isWaiting(r))).map(report), ...outcomes];
  const calls: ToolCallPart[] = [];
  for (const said of texts) {
    const { text, label } = said;
    if (reportOutcome(said) !== undefined) continue;
    if (label?.kind === "schedule") {
      sentences.push(`It is time: ${text.trim()}`);
      continue;
    }
    const chosen = label?.kind === "heartbeat" ? QUIET : (matchRule(text, recalled) ?? silence(text, told, offered));
    if (!chosen) sentences.push(chat(text, { offered, told }));
    else if (!offered.has(chosen.tool)) sentences.push(notOffered(chosen.tool));
    else {
      const id = `practice_${request.messages.length}_${calls.length}`;
      const { tool: name, input } = chosen;
      const call = tools.directly.has(name) ? { name, input } : { name: "tool_run", input: { name, input } };
      calls.push({ type: "tool-call", id, ...call });
    }
  }
  sentences.push(...attached(said.flat()));
  if (sentences.length === 0 && calls.length === 0) sentences.push(chat("", { offered, told }));
  return { text: sentences.join("\n\n"), calls };
}

/** What can be called: by name, or through `tool_run` where the description of `tool_search` names it. */
function offeredIn({ tools }: ModelRequest): { directly: ReadonlySet<string>; onDemand: readonly string[] } {
  const directly = new Set(tools.map((tool) => tool.name));
  const more = directly.has("tool_run") ? tools.find((tool) => tool.name === "tool_search") : undefined;
  const [, names = ""] = more?.description.split("There are: ") ?? [];
  return { directly, onDemand: names.split(/\W+/).filter(Boolean) };
}

/** It cannot judge what is worth a word to anybody, so it has none. */
const QUIET: WantedCall = { tool: "heartbeat_quiet", input: {} };

/** Where it hears everything, it speaks only when it has a rule for what was said. */
function silence(text: string, told: ToldFacts, offered: ReadonlySet<string>): WantedCall | undefined {
  if (!offered.has("stay_silent") || hasRule(text, told)) return undefined;
  return { tool: "stay_silent", input: { reason: "no rule for this" } };
}

/** What it makes of attachments: nothing, and it says so. */
function attached(parts: readonly (TextPart | ImagePart)[]): string[] {
  const images = parts.filter((part) => part.type === "image");
  const files = parts.flatMap((part) => (part.type === "text" && part.file ? [part.file.name] : []));
  return [
    ...(images.length
      ? [
          `I can't see images (${images.map((part) => part.name).join(", ")}): I am the practice model, a list of rules.`,
        ]
      : []),
    ...(files.length
      ? [
          `I received ${files.join(", ")}, but I can't make sense of a file's text: I am the practice model, a list of rules.`,
        ]
      : []),
  ];
}

function afterLastAnswer(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  return messages.slice(messages.findLastIndex((message) => message.role === "assistant") + 1);
}
