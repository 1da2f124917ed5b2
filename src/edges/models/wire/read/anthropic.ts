/**
 * Anthropic Messages: blocks with an index, each started, added to and stopped.
 *
 * Documentation: https://docs.anthropic.com/en/docs/build-with-claude/streaming
 */
import { asText, findObject, listObjects } from "../../../../core/domain/index.ts";
import type { Answer, Reason } from "../answer.ts";
import type { EventReader } from "./index.ts";

const REASONS: Readonly<Record<string, Reason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "refusal",
};

type Block =
  | { kind: "text" | "thinking" }
  | { kind: "call"; id: string; name: string; input: string }
  /** The input of the tool that stands for "answer in JSON" is the answer. */
  | { kind: "json" };

export class AnthropicReader implements EventReader {
  private readonly answer: Answer;
  private readonly jsonTool: boolean;
  private readonly blocks = new Map<string, Block>();
  /** Words beside the JSON tool: they count only where it was not called. */
  private readonly held = new Map<string, string>();
  private hasJson = false;
  private reason: string | undefined;

  constructor(answer: Answer, jsonTool: boolean) {
    this.answer = answer;
    this.jsonTool = jsonTool;
  }

  take(event: Record<string, unknown>): void {
    const id = String(event.index);
    switch (event.type) {
      case "message_start":
        this.startMessage(findObject(event.message) ?? {});
        break;
      case "content_block_start":
        this.start(id, findObject(event.content_block) ?? {});
        break;
      case "content_block_delta":
        this.add(id, findObject(event.delta) ?? {});
        break;
      case "content_block_stop":
        this.stop(id);
        break;
      case "message_delta":
        this.reason = asText(findObject(event.delta)?.stop_reason) ?? this.reason;
        break;
      case "message_stop":
        this.finish();
        break;
      case "error":
        throw event.error;
      default:
        break;
    }
  }

  end(): void {}

  /** Some servers put whole tool calls here. */
  private startMessage(message: Record<string, unknown>): void {
    this.reason = asText(message.stop_reason);
    for (const part of listObjects(message.content)) {
      if (part.type === "tool_use") this.call(part, JSON.stringify(part.input ?? {}));
    }
  }

  private start(id: string, block: Record<string, unknown>): void {
    switch (block.type) {
      case "text":
        if (this.jsonTool) {
          this.held.set(id, "");
          return;
        }
        this.blocks.set(id, { kind: "text" });
        this.answer.begin("text", id);
        break;
      case "thinking":
      case "redacted_thinking": {
        this.blocks.set(id, { kind: "thinking" });
        const data = asText(block.data);
        this.answer.begin("thinking", id, data === undefined ? undefined : { anthropic: { redactedData: data } });
        break;
      }
      case "tool_use": {
        this.held.clear();
        if (this.jsonTool && block.name === "json") {
          this.hasJson = true;
          this.blocks.set(id, { kind: "json" });
          this.answer.begin("text", id);
          return;
        }
        const input = findObject(block.input);
        const begun = input && Object.keys(input).length > 0 ? JSON.stringify(input) : "";
        this.blocks.set(id, { kind: "call", id: asText(block.id) ?? "", name: asText(block.name) ?? "", input: begun });
        break;
      }
      default:
        break;
    }
  }

  private add(id: string, delta: Record<string, unknown>): void {
    const block = this.blocks.get(id);
    switch (delta.type) {
      case "text_delta": {
        const held = this.held.get(id);
        if (held !== undefined) {
          this.answer.weigh(asText(delta.text) ?? "");
          this.held.set(id, held + (asText(delta.text) ?? ""));
        } else this.answer.say("text", id, asText(delta.text) ?? "");
        break;
      }
      case "thinking_delta":
        this.answer.say("thinking", id, asText(delta.thinking) ?? "");
        break;
      case "signature_delta":
        if (typeof delta.signature === "string")
          this.answer.say("thinking", id, "", { anthropic: { signature: delta.signature } });
        break;
      case "input_json_delta": {
        const piece = asText(delta.partial_json) ?? "";
        if (block?.kind === "json") this.answer.say("text", id, piece);
        if (block?.kind !== "call") return;
        this.answer.weigh(piece);
        block.input += piece;
        break;
      }
      default:
        break;
    }
  }

  private stop(id: string): void {
    const block = this.blocks.get(id);
    if (!block) return;
    this.blocks.delete(id);
    if (block.kind === "call") this.answer.call({ ...block, input: block.input || "{}" });
    else this.answer.end(block.kind === "thinking" ? "thinking" : "text", id);
  }

  private call(part: Record<string, unknown>, input: string): void {
    this.answer.call({ id: asText(part.id) ?? "", name: asText(part.name) ?? "", input });
  }

  private finish(): void {
    if (!this.hasJson && this.reason !== "tool_use" && this.reason !== "pause_turn") {
      for (const [id, words] of this.held) {
        this.answer.begin("text", id);
        // Weighed when it came.
        this.answer.say("text", id, words);
        this.answer.end("text", id);
      }
    }
    this.held.clear();
    if (this.reason === undefined) return;
    this.answer.finish(this.reason === "tool_use" && this.hasJson ? "stop" : (REASONS[this.reason] ?? "other"));
  }
}
