/**
 * The events of an answer's stream, in the words of each protocol. The libraries write our requests; their way of reading (five
 * web streams and a schema per event) cost as much as the rest of a turn, see docs/decisions/2026-11-16-own-answer-readers.md.
 *
 * READ-1: what a provider adds to its protocol is skipped, never a failure.
 * READ-2: an answer counts as complete only when the provider said why it ended.
 */
import { assertNever } from "../../../../core/domain/index.ts";
import type { Api } from "../../providers.ts";
import type { Answer } from "../answer.ts";
import { AnthropicReader } from "./anthropic.ts";
import { GoogleReader } from "./google.ts";
import { ChatReader } from "./openai-chat.ts";
import { ResponsesReader } from "./openai-responses.ts";

export interface EventReader {
  /** One event. Throws what the provider sent as an error, as it came. */
  take(event: Record<string, unknown>): void;
  /** The stream is over. */
  end(): void;
  /** Google's word to go on with an answer that one request could not hold. Read after `end`, for the next stream. */
  continuation?: string | undefined;
}

/** `jsonTool`: the request asked for JSON by way of a tool, whose input is the answer (`options.ts`). */
export function makeReader(api: Api, answer: Answer, { jsonTool = false } = {}): EventReader {
  switch (api) {
    case "anthropic":
      return new AnthropicReader(answer, jsonTool);
    case "openai-chat":
      return new ChatReader(answer);
    case "openai-responses":
      return new ResponsesReader(answer);
    case "google":
      return new GoogleReader(answer);
    default:
      return assertNever(api);
  }
}
