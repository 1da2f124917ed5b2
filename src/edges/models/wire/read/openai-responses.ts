/**
 * OpenAI Responses: items (messages, reasoning, function calls), each added, streamed and done.
 *
 * Documentation: https://platform.openai.com/docs/api-reference/responses-streaming
 */
import { asText, findObject, listObjects } from "../../../../core/domain/index.ts";
import type { Answer, Meta, Reason } from "../answer.ts";
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

  take(event: Record<string, unknown>): void {
    const id = asText(event.item_id) ?? "";
    switch (event.type) {
      case "response.output_item.added":
        this.added(findObject(event.item) ?? {});
        break;
      case "response.output_text.delta":
        this.answer.say("text", id, asText(event.delta) ?? "");
        break;
      case "response.refusal.delta":
        this.hasRefusal = true;
        this.answer.say("text", id, asText(event.delta) ?? "");
        break;
      case "response.reasoning_summary_part.added":
        this.summary(id, Number(event.summary_index));
        break;
      case "response.reasoning_summary_text.delta":
        this.answer.say("thinking", `${id}:${event.summary_index}`, asText(event.delta) ?? "");
        break;
      case "response.function_call_arguments.delta":
        this.answer.weigh(asText(event.delta) ?? "");
        break;
      case "response.output_item.done":
        this.done(findObject(event.item) ?? {});
        break;
      case "response.completed":
      case "response.incomplete":
        this.finish(findObject(event.response) ?? {});
        break;
      case "response.failed":
        throw findObject(event.response)?.error ?? event;
      case "error":
        throw event.error ?? event;
      default:
        break;
    }
  }

  end(): void {}

  private added(item: Record<string, unknown>): void {
    const id = asText(item.id) ?? "";
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

  private done(item: Record<string, unknown>): void {
    const id = asText(item.id) ?? "";
    switch (item.type) {
      case "message":
        this.answer.end("text", id);
        break;
      case "reasoning":
        // What is encrypted comes with the item's end and belongs to all of it; the last summary carries it.
        this.answer.end("thinking", `${id}:${(this.summaries.get(id) ?? 1) - 1}`, reasoningMeta(item));
        break;
      case "function_call": {
        const call = {
          id: asText(item.call_id) ?? id,
          name: asText(item.name) ?? "",
          input: asText(item.arguments) ?? "",
        };
        for (const one of call.name === PARALLEL ? separate(call) : [call]) this.answer.call(one);
        break;
      }
      default:
        break;
    }
  }

  private finish(response: Record<string, unknown>): void {
    const why = asText(findObject(response.incomplete_details)?.reason);
    if (why === undefined) this.answer.finish(this.hasRefusal ? "refusal" : "stop");
    else this.answer.finish(REASONS[why] ?? "other");
  }
}

function reasoningMeta(item: Record<string, unknown>): Meta {
  const encrypted = asText(item.encrypted_content) ?? null;
  return { openai: { itemId: asText(item.id) ?? "", reasoningEncryptedContent: encrypted } };
}

interface Call {
  id: string;
  name: string;
  input: string;
}

/** The calls inside; the wrapper itself when it holds anything else. */
function separate(call: Call): Call[] {
  try {
    const uses = listObjects(findObject(JSON.parse(call.input))?.tool_uses);
    const calls = uses.map((use, i) => {
      const named = asText(use.recipient_name) ?? "";
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
