/**
 * OpenAI Chat Completions, as OpenAI and the many who imitate it stream it.
 *
 * Documentation: https://platform.openai.com/docs/api-reference/chat-streaming
 */

import type { Answer, Reason } from "../answer.ts";
import { type Loose, record, records, text } from "../loose.ts";
import { COMPATIBLE } from "../sdk.ts";
import { CallPieces } from "./call-pieces.ts";
import type { EventReader } from "./index.ts";

const REASONS: Readonly<Record<string, Reason>> = { stop: "stop", length: "length", content_filter: "refusal" };

/** The protocol has one text and one train of thought, without ids. */
const ID = "0";

export class ChatReader implements EventReader {
  private readonly answer: Answer;
  private readonly calls: CallPieces;
  private speaking: "text" | "thinking" | undefined;
  private reason: string | undefined;
  private hasRefusal = false;

  constructor(answer: Answer) {
    this.answer = answer;
    this.calls = new CallPieces((piece) => answer.weigh(piece));
  }

  take(event: Loose): void {
    if (event.error !== undefined && event.error !== null) throw event.error;
    const [choice] = records(event.choices);
    if (!choice) return;
    this.reason = text(choice.finish_reason) ?? this.reason;
    const delta = record(choice.delta);
    if (!delta) return;
    this.say("thinking", text(delta.reasoning_content) ?? text(delta.reasoning));
    for (const piece of toPieces(delta.content)) this.say(piece.kind, piece.text);
    if (text(delta.refusal)) {
      this.hasRefusal = true;
      this.say("text", text(delta.refusal));
    }
    const pieces = records(delta.tool_calls);
    if (pieces.length && this.speaking === "thinking") this.stop();
    for (const piece of pieces) this.calls.take(piece);
  }

  end(): void {
    this.stop();
    for (const { id, name, input, signature } of this.calls.all()) {
      this.answer.call({
        id,
        name,
        input,
        meta: signature ? { [COMPATIBLE]: { thoughtSignature: signature } } : undefined,
      });
    }
    if (this.reason === undefined) return;
    const reason = REASONS[this.reason] ?? "other";
    this.answer.finish(reason === "stop" && this.hasRefusal ? "refusal" : reason);
  }

  private say(kind: "text" | "thinking", piece: string | undefined): void {
    if (!piece) return;
    if (this.speaking !== kind) {
      this.stop();
      this.answer.begin(kind, ID);
      this.speaking = kind;
    }
    this.answer.say(kind, ID, piece);
  }

  private stop(): void {
    if (this.speaking) this.answer.end(this.speaking, ID);
    this.speaking = undefined;
  }
}

/** Mostly a string; Mistral sends parts, thinking among them. */
function toPieces(content: unknown): Piece[] {
  if (typeof content === "string") return [{ kind: "text", text: content }];
  return records(content).flatMap((part): Piece[] => {
    if (part.type === "text") return [{ kind: "text", text: text(part.text) }];
    if (part.type !== "thinking") return [];
    const thought = records(part.thinking).map((piece) => (piece.type === "text" ? (text(piece.text) ?? "") : ""));
    return [{ kind: "thinking", text: thought.join("") }];
  });
}

interface Piece {
  kind: "text" | "thinking";
  text: string | undefined;
}
