/**
 * One answer as it comes in: the readers of the protocols (`read/`) say what was added, deltas go out at once, and the parts are
 * put together in order.
 */
import type { ModelDelta, ModelReply } from "../../../core/contracts/index.ts";
import {
  isObject,
  type Json,
  type JsonObject,
  type TextPart,
  type ThinkingPart,
  type ToolCallPart,
  type UnreadableInput,
} from "../../../core/domain/index.ts";
import { parseJson, TooDeep } from "../../../core/kit/index.ts";
import { MOST_CALLS, MOST_CHARACTERS, tooLarge } from "./bounds.ts";
import { StopWords } from "./stop-words.ts";

type Content = (TextPart | ThinkingPart | ToolCallPart)[];

export interface CollectedReply {
  content: Content;
  finish: Extract<ModelReply, { ok: true }>["finish"];
}

/** What a provider says beside its words, under its own name: signatures and ids that go back with the history, byte for byte. */
export type Meta = { [provider: string]: JsonObject };

/** Why the model stopped. "other": for a reason we don't know, or for a tool call, which shows in the content. */
export type Reason = "stop" | "length" | "refusal" | "other";

type Kind = "text" | "thinking";
type Open = { part: TextPart | ThinkingPart; meta: Meta | undefined };

export interface Listening {
  /** `provider/model`. */
  model: string;
  /** The answer ends before the first of these, also where the provider has no such setting. */
  stop?: readonly string[] | undefined;
  /** Only the first tool call counts, also where the provider has no such setting. */
  oneCall?: boolean | undefined;
  onDelta: (delta: ModelDelta) => void;
}

/** Every method throws when the answer gets larger than any answer should be. */
export class Answer {
  private readonly listening: Listening;
  private readonly content: Content = [];
  private readonly open = new Map<string, Open>();
  private readonly cutter: StopWords | undefined;
  private reason: Reason | undefined;
  private characters = 0;
  private calls = 0;

  constructor(listening: Listening) {
    this.listening = listening;
    this.cutter = listening.stop?.length ? new StopWords(listening.stop) : undefined;
  }

  /** A new part. Beginning another one under the same id ends the first. */
  begin(kind: Kind, id: string, meta?: Meta): void {
    const entry: Open = { part: { type: kind, text: "" }, meta: undefined };
    mergeMeta(entry, meta);
    this.open.set(`${kind} ${id}`, entry);
    this.content.push(entry.part);
  }

  /** Ignored for a part that was never begun. */
  say(kind: Kind, id: string, piece: string, meta?: Meta): void {
    const entry = this.open.get(`${kind} ${id}`);
    if (!entry) return;
    mergeMeta(entry, meta);
    if (piece === "") return;
    this.weigh(piece);
    // The rest is read to its end all the same: what the answer cost is reported there.
    this.add(entry, kind === "text" && this.cutter ? this.cutter.take(piece) : piece);
  }

  end(kind: Kind, id: string, meta?: Meta): void {
    const entry = this.open.get(`${kind} ${id}`);
    if (!entry) return;
    mergeMeta(entry, meta);
    if (kind === "text" && this.cutter) this.add(entry, this.cutter.rest());
  }

  /** Characters of an input that is still coming in. */
  weigh(piece: string): void {
    this.characters += piece.length;
    if (this.characters > MOST_CHARACTERS) throw tooLarge(`more than ${MOST_CHARACTERS} characters in one answer`);
  }

  call(call: { id: string; name: string; input: string; meta?: Meta | undefined }): void {
    // Where the input also came in pieces it is counted twice, which only halves a generous bound.
    this.weigh(call.input);
    if (++this.calls > MOST_CALLS) throw tooLarge(`more than ${MOST_CALLS} tool calls in one answer`);
    if (this.listening.oneCall && this.calls > 1) return;
    if (hasSignature(call.meta)) {
      const { model } = this.listening;
      this.content.push({ type: "thinking", text: "", meta: { ...call.meta, model, for: call.id } });
    }
    this.content.push({ type: "tool-call", id: call.id, name: call.name, input: parseInput(call.input) });
  }

  /** The provider said that, and why, the answer is complete. */
  finish(reason: Reason): void {
    this.reason = reason;
  }

  /** The whole answer. Throws when the stream ended before the answer did. */
  settle(): CollectedReply {
    if (!this.reason) throw new Error("the answer ended early");
    const hasCalls = this.content.some((part) => part.type === "tool-call");
    return {
      content: settle(this.content, this.open, this.listening.model),
      finish: this.cutter?.hasStopped ? "stop" : toFinish(this.reason, hasCalls),
    };
  }

  private add(entry: Open, piece: string): void {
    if (piece === "") return;
    entry.part.text += piece;
    this.listening.onDelta({ type: entry.part.type, text: piece });
  }
}

/** Later words win inside each provider's corner: a signature comes at the end, an id at the start. */
function mergeMeta(entry: Open, meta: Meta | undefined): void {
  if (!meta) return;
  entry.meta ??= {};
  for (const [corner, words] of Object.entries(meta)) entry.meta[corner] = { ...entry.meta[corner], ...words };
}

/**
 * Input that is no JSON object comes back as its text with what is wrong with it, in words for people and models alike. So does
 * one nested deeper than any tool needs, with its beginning only.
 */
function parseInput(text: string): Json {
  if (text.trim() === "") return {};
  try {
    const value = parseJson(text) as Json;
    if (isObject(value)) return value;
    return { unreadable: text, problem: "not a JSON object" } satisfies UnreadableInput;
  } catch (error) {
    if (error instanceof TooDeep) return { unreadable: text.slice(0, 200), problem: error.message };
    return { unreadable: text, problem: `not valid JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** Thinking gets its meta, signed texts their signature before them, and what is empty goes. */
function settle(content: Content, open: Map<string, Open>, model: string): Content {
  const metas = new Map<object, Meta | undefined>();
  for (const entry of open.values()) metas.set(entry.part, entry.meta);
  const settled: Content = [];
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

function hasSignature(meta: Meta | undefined): meta is Meta {
  return Boolean(meta) && Object.values(meta!).some((corner) => SIGNATURES.some((word) => Boolean(corner[word])));
}

function toFinish(reason: Reason, hasCalls: boolean): CollectedReply["finish"] {
  if (reason === "length" || reason === "refusal") return reason;
  // Some local servers say "stop" after a tool call.
  return hasCalls ? "tool-calls" : reason;
}
