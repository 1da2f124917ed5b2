/** Reads one stream to its end: deltas go out as they come, the parts of the answer are put together in order. */
import type { ModelDelta, ModelReply } from "../../../core/contracts/index.ts";
import type {
  Json,
  JsonObject,
  TextPart,
  ThinkingPart,
  ToolCallPart,
  UnreadableInput,
} from "../../../core/domain/index.ts";
import { jsonProblem, parseJson, TooDeep } from "../../../core/kit/index.ts";
import { MOST_CALLS, MOST_CHARACTERS, tooLarge } from "./bounds.ts";
import { ignoredSettings } from "./options.ts";
import { reportedIn, type TokenCounts } from "./reported.ts";
import type { SdkPart } from "./sdk.ts";
import { StopWords } from "./stop-words.ts";

export interface CollectedReply {
  content: (TextPart | ThinkingPart | ToolCallPart)[];
  finish: Extract<ModelReply, { ok: true }>["finish"];
  tokens: TokenCounts;
  /** Settings the model does not take, by the name callers know. */
  ignored: string[];
}

type Meta = { [key: string]: Json };
type Open = { part: TextPart | ThinkingPart; meta: Meta | undefined };

export interface Listening {
  /** `provider/model`. */
  model: string;
  /** The answer ends before the first of these, also where the provider has no such setting. */
  stop?: readonly string[];
  onDelta: (delta: ModelDelta) => void;
  /** The provider said something. */
  onPart: () => void;
  /** What the provider has reported as used so far: paid for, also when the answer is never finished. */
  onUsage: (tokens: TokenCounts) => void;
}

/**
 * Throws what the provider sent as an error, and an error of our own when the stream ends before the answer does or is larger
 * than any answer should be.
 */
export async function collect(
  reader: ReadableStreamDefaultReader<SdkPart>,
  { model, stop, onDelta, onPart, onUsage }: Listening,
): Promise<CollectedReply> {
  const content: CollectedReply["content"] = [];
  const open = new Map<string, Open>();
  let finish: Extract<SdkPart, { type: "finish" }> | undefined;
  let reported: TokenCounts | undefined;
  let characters = 0;
  let calls = 0;
  const ignored: string[] = [];
  const cutter = stop?.length ? new StopWords(stop) : undefined;
  const say = (entry: Open, text: string) => {
    if (text === "") return;
    entry.part.text += text;
    onDelta({ type: "text", text });
  };
  const count = (more: string) => {
    characters += more.length;
    if (characters > MOST_CHARACTERS) throw tooLarge(`more than ${MOST_CHARACTERS} characters in one answer`);
  };

  for (;;) {
    const { done, value: part } = await reader.read();
    if (done) break;
    // The library says this before the provider has said anything.
    if (part.type === "stream-start") {
      ignored.push(...ignoredSettings(part.warnings));
      continue;
    }
    onPart();
    switch (part.type) {
      case "raw": {
        const more = reportedIn(part.rawValue, reported);
        if (!more) break;
        reported = more;
        onUsage(more);
        break;
      }
      case "text-start":
      case "reasoning-start": {
        const isText = part.type === "text-start";
        const entry: Open = { part: { type: isText ? "text" : "thinking", text: "" }, meta: undefined };
        mergeMeta(entry, part.providerMetadata);
        open.set(makeKey(isText, part.id), entry);
        content.push(entry.part);
        break;
      }
      case "text-delta":
      case "reasoning-delta": {
        const isText = part.type === "text-delta";
        const entry = open.get(makeKey(isText, part.id));
        if (!entry) break;
        mergeMeta(entry, part.providerMetadata);
        if (part.delta === "") break;
        count(part.delta);
        if (isText && cutter) {
          // The rest is read to its end all the same: what the answer cost is reported there.
          say(entry, cutter.take(part.delta));
          break;
        }
        entry.part.text += part.delta;
        onDelta({ type: isText ? "text" : "thinking", text: part.delta });
        break;
      }
      case "text-end":
      case "reasoning-end": {
        const entry = open.get(makeKey(part.type === "text-end", part.id));
        if (entry) mergeMeta(entry, part.providerMetadata);
        if (entry && cutter && part.type === "text-end") say(entry, cutter.rest());
        break;
      }
      case "tool-input-delta":
        count(part.delta);
        break;
      case "tool-call":
        // Where the input also came in pieces it is counted twice, which only halves a generous bound.
        count(part.input);
        if (++calls > MOST_CALLS) throw tooLarge(`more than ${MOST_CALLS} tool calls in one answer`);
        pushCall(content, part, model);
        break;
      case "finish":
        finish = part;
        break;
      case "error":
        throw part.error;
      default:
        // Ends of pieces, sources and whatever a later version of the library adds: not part of the answer.
        break;
    }
  }
  // Some libraries close a broken stream with a finish of their own: "other", with no word of the provider's.
  if (!finish || (finish.finishReason.unified === "other" && finish.finishReason.raw === undefined)) {
    throw new Error("the answer ended early");
  }
  if (finish.finishReason.unified === "error") throw new Error("the provider ended the answer with an error");
  return {
    content: settle(content, open, model),
    finish: cutter?.hasStopped ? "stop" : toFinish(finish, content),
    tokens: toTokens(finish.usage),
    ignored,
  };
}

function makeKey(isText: boolean, id: string): string {
  return isText ? `t${id}` : `r${id}`;
}

/** Later words win inside each provider's corner: a signature comes at the end, an id at the start. */
function mergeMeta(entry: Open, metadata: unknown): void {
  if (typeof metadata !== "object" || metadata === null) return;
  entry.meta ??= {};
  for (const [corner, words] of Object.entries(metadata as Record<string, JsonObject>)) {
    entry.meta[corner] = { ...(entry.meta[corner] as JsonObject | undefined), ...words };
  }
}

function pushCall(
  content: CollectedReply["content"],
  part: Extract<SdkPart, { type: "tool-call" }>,
  model: string,
): void {
  if (part.providerExecuted) return;
  if (hasSignature(part.providerMetadata)) {
    content.push({
      type: "thinking",
      text: "",
      meta: { ...(part.providerMetadata as unknown as JsonObject), model, for: part.toolCallId },
    });
  }
  content.push({ type: "tool-call", id: part.toolCallId, name: part.toolName, input: parseInput(part.input) });
}

/**
 * Input that is no JSON object comes back as its text with what is wrong with it, in words for people and models alike. So does
 * one nested deeper than any tool needs, with its beginning only.
 */
export function parseInput(text: string): Json {
  if (text.trim() === "") return {};
  try {
    const value = parseJson(text) as Json;
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
    return { unreadable: text, problem: "not a JSON object" } satisfies UnreadableInput;
  } catch (error) {
    if (error instanceof TooDeep) return { unreadable: text.slice(0, 200), problem: error.message };
    const why = jsonProblem(text) ?? (error instanceof Error ? error.message : String(error));
    return { unreadable: text, problem: `not valid JSON: ${why}` };
  }
}

/** Thinking gets its meta, signed texts their signature before them, and what is empty goes. */
function settle(content: CollectedReply["content"], open: Map<string, Open>, model: string): CollectedReply["content"] {
  const metas = new Map<object, Meta | undefined>();
  for (const entry of open.values()) metas.set(entry.part, entry.meta);
  const settled: CollectedReply["content"] = [];
  for (const part of content) {
    const meta = metas.get(part);
    if (part.type === "text") {
      // Blanks alone say nothing, and providers refuse to read them back.
      if (part.text === "" || (part.text.trim() === "" && !hasSignature(meta))) continue;
      if (hasSignature(meta)) settled.push({ type: "thinking", text: "", meta: { ...meta, model, for: "text" } });
      settled.push(part);
    } else if (part.type === "thinking" && !part.meta) {
      if (part.text === "" && !hasSignature(meta)) continue;
      settled.push({ ...part, meta: { ...meta, model } });
    } else settled.push(part);
  }
  return settled;
}

/** The words under which providers keep what must come back: Anthropic, OpenAI, Google. */
const SIGNATURES = ["signature", "redactedData", "reasoningEncryptedContent", "thoughtSignature"];

function hasSignature(meta: unknown): meta is Meta {
  if (typeof meta !== "object" || meta === null) return false;
  return Object.values(meta).some(
    (corner) => typeof corner === "object" && corner !== null && SIGNATURES.some((word) => Boolean(corner[word])),
  );
}

function toFinish(
  finish: Extract<SdkPart, { type: "finish" }>,
  content: CollectedReply["content"],
): CollectedReply["finish"] {
  const { unified } = finish.finishReason;
  if (unified === "length") return "length";
  if (unified === "content-filter") return "refusal";
  // Some local servers say "stop" after a tool call.
  if (content.some((part) => part.type === "tool-call")) return "tool-calls";
  return unified === "stop" ? "stop" : "other";
}

function toTokens(usage: Extract<SdkPart, { type: "finish" }>["usage"]): CollectedReply["tokens"] {
  const cacheReadTokens = usage.inputTokens.cacheRead ?? 0;
  const cacheWriteTokens = usage.inputTokens.cacheWrite ?? 0;
  const total = usage.inputTokens.total ?? 0;
  return {
    inputTokens: usage.inputTokens.noCache ?? Math.max(0, total - cacheReadTokens - cacheWriteTokens),
    outputTokens: usage.outputTokens.total ?? 0,
    cacheReadTokens,
    cacheWriteTokens,
  };
}
