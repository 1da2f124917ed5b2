/**
 * Google's streamGenerateContent: each event is a piece of the one candidate's parts.
 *
 * Documentation: https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent
 */
import { asText, findObject, listObjects } from "../../../../core/domain/index.ts";
import type { Answer, Meta, Reason } from "../answer.ts";
import type { EventReader } from "./index.ts";

const REASONS: Readonly<Record<string, Reason>> = {
  STOP: "stop",
  MAX_TOKENS: "length",
  CONTINUATION: "length",
  IMAGE_SAFETY: "refusal",
  RECITATION: "refusal",
  SAFETY: "refusal",
  BLOCKLIST: "refusal",
  PROHIBITED_CONTENT: "refusal",
  SPII: "refusal",
};

/** What it says of a prompt that was not blocked. */
const NOT_BLOCKED = new Set(["", "BLOCK_REASON_UNSPECIFIED", "BLOCKED_REASON_UNSPECIFIED"]);

export class GoogleReader implements EventReader {
  private readonly answer: Answer;
  private speaking: "text" | "thinking" | undefined;
  private at = 0;
  private isBlocked = false;
  continuation: string | undefined;

  constructor(answer: Answer) {
    this.answer = answer;
  }

  take(event: Record<string, unknown>): void {
    const error = findObject(event.error);
    if (error) throw failure(error);
    const blocked = asText(findObject(event.promptFeedback)?.blockReason);
    if (blocked !== undefined && !NOT_BLOCKED.has(blocked)) {
      this.isBlocked = true;
      this.answer.finish("refusal");
    }
    const [candidate] = listObjects(event.candidates);
    if (!candidate || this.isBlocked) return;
    const parts = listObjects(findObject(candidate.content)?.parts);
    for (const part of parts) if (typeof part.text === "string") this.say(part, part.text);
    for (const part of parts) this.call(part);
    this.finish(candidate);
  }

  end(): void {
    this.stop();
  }

  private say(part: Record<string, unknown>, words: string): void {
    const meta = readSignature(part);
    const kind = part.thought === true ? "thinking" : "text";
    if (words === "") {
      // A separate signature, at the end of what was said.
      if (this.speaking === "text") this.answer.say("text", this.id, "", meta);
      return;
    }
    if (this.speaking !== kind) {
      this.stop();
      this.at++;
      this.speaking = kind;
      this.answer.begin(kind, this.id, meta);
    }
    this.answer.say(kind, this.id, words, meta);
  }

  private call(part: Record<string, unknown>): void {
    const call = findObject(part.functionCall);
    const name = asText(call?.name);
    if (!call || !name) return;
    const { args } = call;
    const input = typeof args === "string" ? args : JSON.stringify(args ?? {});
    const id = asText(call.id) ?? `call_${crypto.randomUUID()}`;
    this.answer.call({ id, name, input, meta: readSignature(part) });
  }

  private finish(candidate: Record<string, unknown>): void {
    const why = asText(candidate.finishReason);
    if (why === undefined) return;
    if (why === "MALFORMED_FUNCTION_CALL") throw new Error("the provider ended the answer with an error");
    this.continuation = why === "CONTINUATION" ? asText(candidate.continuationToken) : undefined;
    this.answer.finish(REASONS[why] ?? "other");
  }

  private stop(): void {
    if (this.speaking) this.answer.end(this.speaking, this.id);
    this.speaking = undefined;
  }

  private get id(): string {
    return String(this.at);
  }
}

function readSignature(part: Record<string, unknown>): Meta | undefined {
  const signature = asText(part.thoughtSignature);
  return signature ? { google: { thoughtSignature: signature } } : undefined;
}

/** An error event carries the status the response no longer could. */
function failure(error: Record<string, unknown>): unknown {
  return { statusCode: error.code, responseBody: JSON.stringify({ error }), message: asText(error.message) ?? "" };
}
