/**
 * OpenAI Responses: items (messages, reasoning, function calls), each added, streamed and done.
 *
 * Documentation: https://platform.openai.com/docs/api-reference/responses-streaming
 */
import type { Answer, Meta, Reason } from "../answer.ts";
import { type Loose, record, records, text } from "../loose.ts";
import type { EventReader } from "./index.ts";

const REASONS: Readonly<Record<string, Reason>> = { max_output_tokens: "length", content_filter: "refusal" };

/** Now and then OpenAI's models wrap several calls into one of this tool, which nobody offered them. */
const PARALLEL = "multi_tool_use.parallel";
const FUNCTIONS = "functions.";

export class ResponsesReader implements EventReader {
  private readonly answer: Answer;
  /** Reasoning items by id: how many summaries have begun. */
  private readonly summaries = new Map<string, number>();
  private hasRefusal = false;

  constructor(answer: Answer) {
    this.answer = answer;
  }

  take(event: Loose): void {
    const id = text(event.item_id) ?? "";
    switch (event.type) {
      case "response.output_item.added":
        this.added(record(event.item) ?? {});
        break;
      case "response.output_text.delta":
        this.answer.say("text", id, text(event.delta) ?? "");
        break;
      case "response.refusal.delta":
        this.hasRefusal = true;
        this.answer.say("text", id, text(event.delta) ?? "");
        break;
      case "response.reasoning_summary_part.added":
        this.summary(id, Number(event.summary_index));
        break;
      case "response.reasoning_summary_text.delta":
        this.answer.say("thinking", `${id}:${event.summary_index}`, text(event.delta) ?? "");
        break;
      case "response.function_call_arguments.delta":
        this.answer.weigh(text(event.delta) ?? "");
        break;
      case "response.output_item.done":
        this.done(record(event.item) ?? {});
        break;
      case "response.completed":
      case "response.incomplete":
        this.finish(record(event.response) ?? {});
        break;
      case "response.failed":
        throw record(event.response)?.error ?? event;
      case "error":
        throw event.error ?? event;
      default:
        break;
    }
  }

  end(): void {}

  private added(item: Loose): void {
    const id = text(item.id) ?? "";
    if (item.type === "message") this.answer.begin("text", id);
    if (item.type !== "reasoning") return;
    this.summaries.set(id, 1);
    this.answer.begin("thinking", `${id}:0`, reasoningMeta(item));
  }

  /** The first summary is begun with its item, which may have none. */
  private summary(id: string, index: number): void {
    const begun = this.summaries.get(id);
    if (begun === undefined || !(index >= begun)) return;
    this.summaries.set(id, index + 1);
    this.answer.begin("thinking", `${id}:${index}`, { openai: { itemId: id, reasoningEncryptedContent: null } });
  }

  private done(item: Loose): void {
    const id = text(item.id) ?? "";
    switch (item.type) {
      case "message":
        this.answer.end("text", id);
        break;
      case "reasoning":
        // What is encrypted comes with the item's end and belongs to all of it; the last summary carries it.
        this.answer.end("thinking", `${id}:${(this.summaries.get(id) ?? 1) - 1}`, reasoningMeta(item));
        break;
      case "function_call": {
        const call = { id: text(item.call_id) ?? id, name: text(item.name) ?? "", input: text(item.arguments) ?? "" };
        for (const one of call.name === PARALLEL ? separate(call) : [call]) this.answer.call(one);
        break;
      }
      default:
        break;
    }
  }

  private finish(response: Loose): void {
    const why = text(record(response.incomplete_details)?.reason);
    if (why === undefined) this.answer.finish(this.hasRefusal ? "refusal" : "stop");
    else this.answer.finish(REASONS[why] ?? "other");
  }
}

function reasoningMeta(item: Loose): Meta {
  const encrypted = text(item.encrypted_content) ?? null;
  return { openai: { itemId: text(item.id) ?? "", reasoningEncryptedContent: encrypted } };
}

interface Call {
  id: string;
  name: string;
  input: string;
}

/** The calls inside; the wrapper itself when it holds anything else. */
function separate(call: Call): Call[] {
  try {
    const uses = records(record(JSON.parse(call.input))?.tool_uses);
    const calls = uses.map((use, i) => {
      const named = text(use.recipient_name) ?? "";
      if (!named.startsWith(FUNCTIONS)) throw new Error("not a function of ours");
      return {
        id: `${call.id}_${i}`,
        name: named.slice(FUNCTIONS.length),
        input: JSON.stringify(use.parameters ?? {}),
      };
    });
    return calls.length ? calls : [call];
  } catch {
    return [call];
  }
}
