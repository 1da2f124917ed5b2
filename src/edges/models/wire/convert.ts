/**
 * Our messages as the provider libraries want them. Converted messages are kept by object identity, because the
 * history is the same objects call after call; only what is new costs anything.
 *
 * WIRE-1: thinking goes back only to the model it came from, byte for byte: signatures are bound to it.
 * WIRE-2: a signature that came with a text or a tool call is kept as a thinking part without text, whose `meta.for`
 *     names the call ("text" for a text); on the way back it is put where it came from.
 * WIRE-3: we mark for Anthropic where to keep the prompt for the next call: behind what all chats of the agent share of the
 *     instructions (tools stand before them), behind the rest of them or the notes, where the last request ended, and at the end. So a call reads all of the one before it from the cache, however
 *     many blocks came in between (without the third mark it looks back only twenty).
 * WIRE-4: the notes are a separate text in the first message of the person: roles go on alternating.
 */
import type { ToolSpec } from "../../../core/contracts/index.ts";
import {
  assertNever,
  fromJson,
  inputAsRead,
  type JsonObject,
  type ModelMessage,
  type ThinkingPart,
  type ToolResultPart,
} from "../../../core/domain/index.ts";
import { WeakCache } from "../../../core/kit/index.ts";
import type { Api } from "../providers.ts";
import { inWords, isPictured, type ShownImage } from "./images.ts";
import type { SdkMessage, SdkPrompt, SdkProviderOptions, SdkTool } from "./sdk.ts";

/** Anthropic's mark: everything up to here is worth keeping for the next call. */
const CACHE_MARK: SdkProviderOptions = { anthropic: { cacheControl: { type: "ephemeral" } } };

const NONE: ReadonlyMap<string, ShownImage> = new Map();

/** More than the windows kept in memory have messages. */
const MOST_CONVERTED = 8192;

export class Converter {
  private readonly messages = new WeakCache<ModelMessage, SdkMessage | null>(MOST_CONVERTED);
  private readonly tools = new WeakMap<readonly ToolSpec[], SdkTool[]>();
  private system: { text: string; shared: number; hasNotes: boolean; messages: SdkMessage[] } | undefined;
  private readonly api: Api;
  private readonly model: string;

  /** `model` is `provider/model`, see WIRE-1. */
  constructor(api: Api, model: string) {
    this.api = api;
    this.model = model;
  }

  /** `images`: the pictures the messages refer to. Messages with pictures are built each time: cached, they would hold the bytes. */
  prompt(
    system: string,
    messages: readonly ModelMessage[],
    more: {
      images?: ReadonlyMap<string, ShownImage> | undefined;
      notes?: string | undefined;
      shared?: number | undefined;
    } = {},
  ): SdkPrompt {
    const images = more.images ?? NONE;
    const prompt: SdkPrompt = [];
    if (system !== "") {
      const shared = this.api === "anthropic" ? (more.shared ?? 0) : 0;
      prompt.push(...this.systemMessages(system, shared, Boolean(more.notes)));
    }
    const first = prompt.length;
    for (const message of messages) {
      if (isPictured(message)) {
        if (message.role === "user") prompt.push(convertUser(message, images));
        if (message.role === "tool") prompt.push(...convertPictured(message, images, this.api));
        continue;
      }
      let converted = this.messages.get(message);
      if (converted === undefined) {
        converted = convertMessage(message, this.api, this.model);
        this.messages.set(message, converted);
      }
      if (converted) prompt.push(converted);
    }
    if (this.api === "anthropic" && prompt.length > first) this.mark(prompt, first);
    if (more.notes) this.lead(prompt, first, more.notes);
    return prompt;
  }

  /** The marks move on with the next call, so they go on copies. */
  private mark(prompt: SdkPrompt, first: number): void {
    const last = prompt.length - 1;
    const answer = prompt.findLastIndex((message, i) => i < last && message.role === "assistant");
    for (const at of new Set([answer - 1, last])) {
      if (at >= first) prompt[at] = { ...prompt[at]!, providerOptions: CACHE_MARK };
    }
  }

  private lead(prompt: SdkPrompt, first: number, notes: string): void {
    const marked = this.api === "anthropic" ? { providerOptions: CACHE_MARK } : {};
    const text = { type: "text" as const, text: notes, ...marked };
    const begins = prompt[first];
    if (begins?.role === "user") prompt[first] = { ...begins, content: [text, ...begins.content] };
    else prompt.splice(first, 0, { role: "user", content: [text] });
  }

  /** `alone`: no instructions follow whose mark would cover them. */
  toolList(specs: readonly ToolSpec[], alone = false): SdkTool[] | undefined {
    if (specs.length === 0) return undefined;
    let tools = this.tools.get(specs);
    if (!tools) {
      tools = specs.map((spec, i) => convertTool(spec, this.api, alone && i === specs.length - 1));
      this.tools.set(specs, tools);
    }
    return tools;
  }

  /**
   * In two parts where a separate mark lets the agent's chats share the first. Anthropic takes four marks: where notes follow,
   * theirs covers the second part.
   */
  private systemMessages(text: string, shared: number, hasNotes: boolean): SdkMessage[] {
    const last = this.system;
    if (last?.text === text && last.shared === shared && last.hasNotes === hasNotes) return last.messages;
    const marked = this.api === "anthropic" ? { providerOptions: CACHE_MARK } : {};
    const isWhole = shared <= 0 || shared >= text.length;
    const messages: SdkMessage[] = isWhole
      ? [{ role: "system", content: text, ...marked }]
      : [
          { role: "system", content: text.slice(0, shared), ...marked },
          { role: "system", content: text.slice(shared), ...(hasNotes ? {} : marked) },
        ];
    this.system = { text, shared, hasNotes, messages };
    return messages;
  }
}

function convertTool(spec: ToolSpec, api: Api, isLast: boolean): SdkTool {
  return {
    type: "function",
    name: spec.name,
    description: spec.description,
    inputSchema: spec.input as Extract<SdkTool, { type: "function" }>["inputSchema"],
    // The Responses API is strict unless told otherwise, and then refuses optional properties.
    ...(api === "openai-responses" ? { strict: false } : {}),
    ...(api === "anthropic" && isLast ? { providerOptions: CACHE_MARK } : {}),
  };
}

/** Null when nothing is left to say, e.g. thinking of another model. */
function convertMessage(message: ModelMessage, api: Api, model: string): SdkMessage | null {
  switch (message.role) {
    case "user":
      return convertUser(message, NONE);
    case "tool":
      return { role: "tool", content: message.content.map((part) => convertResult(part)) };
    case "assistant":
      return convertAssistant(message, api, model);
    default:
      return assertNever(message);
  }
}

type SdkResult = Extract<Extract<SdkMessage, { role: "tool" }>["content"][number], { type: "tool-result" }>;

function convertResult(part: ToolResultPart, text = part.text): SdkResult {
  const output = { type: part.isError ? ("error-text" as const) : ("text" as const), value: text };
  return { type: "tool-result", toolCallId: safeId(part.id), toolName: part.name, output };
}

/**
 * Results with pictures. Chat Completions takes only text from a tool, so there the pictures follow as a separate message,
 * which says where they come from.
 */
function convertPictured(
  message: Extract<ModelMessage, { role: "tool" }>,
  images: ReadonlyMap<string, ShownImage>,
  api: Api,
): SdkMessage[] {
  const results: SdkResult[] = [];
  const after: UserContent = [];
  for (const part of message.content) {
    const pictures = (part.images ?? []).map((image) => ({
      image,
      shown: images.get(image.attachment) ?? { why: "not shown" },
    }));
    const missing = pictures.flatMap(({ image, shown }) => ("why" in shown ? [inWords(image, shown.why)] : []));
    const there = pictures.flatMap(({ image, shown }) => ("why" in shown ? [] : [{ name: image.name, ...shown }]));
    const result = convertResult(part, [part.text, ...missing].join("\n"));
    if (there.length === 0 || api === "openai-chat") results.push(result);
    else {
      const { value } = result.output as { value: string };
      const data = there.map(({ data, mediaType }) => ({ type: "image-data" as const, data, mediaType }));
      results.push({ ...result, output: { type: "content", value: [{ type: "text", text: value }, ...data] } });
    }
    if (api !== "openai-chat") continue;
    for (const { name, data, mediaType } of there) {
      after.push({ type: "text", text: `[Picture ${name}, from the result of ${part.name} above]` });
      after.push({ type: "file", mediaType, data });
    }
  }
  const converted: SdkMessage = { role: "tool", content: results };
  return after.length ? [converted, { role: "user", content: after }] : [converted];
}

type UserMessage = Extract<ModelMessage, { role: "user" }>;
type UserContent = Extract<SdkMessage, { role: "user" }>["content"];

function convertUser(message: UserMessage, images: ReadonlyMap<string, ShownImage>): SdkMessage {
  const content: UserContent = [];
  for (const part of message.content) {
    if (part.type === "text") {
      const text = part.ours ? part.text : withoutEnvelopes(part.text, part.file === undefined);
      if (text.trim() !== "") content.push({ type: "text", text });
      continue;
    }
    const shown = images.get(part.attachment) ?? { why: "not shown" };
    if ("why" in shown) content.push({ type: "text", text: inWords(part, shown.why) });
    else content.push({ type: "file", mediaType: shown.mediaType, data: shown.data });
  }
  // Providers refuse a message without text; a person may still send one.
  if (content.length === 0) content.push({ type: "text", text: "(empty message)" });
  return { role: "user", content };
}

/** How a line of Lares' own begins: a time of day, or a weekday and a date. */
export const ENVELOPE = /^\[\s*(?:\d\d:\d\d|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\s+\d{4}-)/i;
/** How Lares' other lines in brackets begin: notes, the turn's end, attached files. An attached file's own part has them by right. */
const OTHER_LINES =
  /^\[\s*(?:Notes kept by Lares|\d+ model calls? (?:is|are) left|Your last reply was empty|Answer now|The turn reached|Attached file|End of file|Picture )/i;
/** What nobody sees before a bracket, and what a reader takes for the end of a line. */
const UNSEEN = /^[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]+/u;
const LINE_END = /(\r\n|[\n\r\v\f\u0085\u2028\u2029])/;
const LONGEST_BEGINNING = 200;

/** Messages may be joined on the wire, so a typed line that looks like ours is shown as a quotation. What is stored stays as it was. */
function withoutEnvelopes(text: string, isTyped: boolean): string {
  if (!/[[［]/.test(text)) return text;
  return text
    .split(LINE_END)
    .map((line) => (looksOurs(line, isTyped) ? `> ${line}` : line))
    .join("");
}

/** Wide brackets and digits read like narrow ones. */
function looksOurs(line: string, isTyped: boolean): boolean {
  const beginning = line.slice(0, LONGEST_BEGINNING).replace(UNSEEN, "");
  if (!/^[[［]/.test(beginning)) return false;
  const plain = beginning.normalize("NFKC").replace(/\p{Cf}/gu, "");
  return ENVELOPE.test(plain) || (isTyped && OTHER_LINES.test(plain));
}

type AssistantContent = Extract<SdkMessage, { role: "assistant" }>["content"];

function convertAssistant(
  message: Extract<ModelMessage, { role: "assistant" }>,
  api: Api,
  model: string,
): SdkMessage | null {
  const content: AssistantContent = [];
  const signatures = new Map<string, SdkProviderOptions>();
  for (const part of message.content) {
    switch (part.type) {
      case "thinking": {
        if (part.meta?.model !== model) break;
        const options = toOptions(part);
        if (typeof part.meta.for === "string") signatures.set(part.meta.for, options);
        else content.push({ type: "reasoning", text: part.text, providerOptions: options });
        break;
      }
      case "text": {
        if (part.text === "") break;
        const signed = takeSignature(signatures, "text", api);
        // Blanks alone are refused by providers; histories from before may hold some.
        if (part.text.trim() === "" && Object.keys(signed).length === 0) break;
        content.push({ type: "text", text: part.text, ...signed });
        break;
      }
      case "tool-call": {
        const signed = takeSignature(signatures, part.id, api);
        content.push({
          type: "tool-call",
          toolCallId: safeId(part.id),
          toolName: part.name,
          input: inputAsRead(part.input),
          ...signed,
        });
        break;
      }
      default:
        return assertNever(part);
    }
  }
  return content.length > 0 ? { role: "assistant", content } : null;
}

function takeSignature(
  signatures: Map<string, SdkProviderOptions>,
  key: string,
  api: Api,
): { providerOptions?: SdkProviderOptions } {
  const options = signatures.get(key);
  if (!options) return {};
  signatures.delete(key);
  if (api !== "openai-chat") return { providerOptions: options };
  // The compatible library reads a signature from where Google keeps it, and writes it under its own name.
  return { providerOptions: { google: Object.assign({}, ...Object.values(options)) } };
}

/** What the provider said beside the thinking, without our own two words. */
function toOptions(part: ThinkingPart): SdkProviderOptions {
  const { model: _model, for: _for, ...rest } = part.meta as JsonObject;
  return fromJson<SdkProviderOptions>(rest);
}

/** Anthropic takes only these signs in an id; a call and its result are changed alike. */
function safeId(id: string): string {
  return /^[\w-]+$/.test(id) ? id : id.replace(/[^\w-]/g, "_");
}
