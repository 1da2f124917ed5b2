/**
 * OpenAI Chat Completions, as OpenAI and the many who imitate it stream it.
 *
 * Documentation: https://platform.openai.com/docs/api-reference/chat-streaming
 */

import { asText, findObject, listObjects } from "../../../../core/domain/index.ts";
import type { Answer, Reason } from "../answer.ts";
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

  take(event: Record<string, unknown>): void {
    if (event.error !== undefined && event.error !== null) throw event.error;
    const [choice] = listObjects(event.choices);
    if (!choice) return;
    this.reason = asText(choice.finish_reason) ?? this.reason;
    const delta = findObject(choice.delta);
    if (!delta) return;
    this.say("thinking", asText(delta.reasoning_content) ?? asText(delta.reasoning));
    for (const piece of toPieces(delta.content)) this.say(piece.kind, piece.text);
    if (asText(delta.refusal)) {
      this.hasRefusal = true;
      this.say("text", asText(delta.refusal));
    }
    const pieces = listObjects(delta.tool_calls);
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
  return listObjects(content).flatMap((part): Piece[] => {
    if (part.type === "text") return [{ kind: "text", text: asText(part.text) }];
    if (part.type !== "thinking") return [];
    const thought = listObjects(part.thinking).map((piece) =>
      piece.type === "text" ? (asText(piece.text) ?? "") : "",
    );
    return [{ kind: "thinking", text: thought.join("") }];
  });
}

interface Piece {
  kind: "text" | "thinking";
  text: string | undefined;
}
