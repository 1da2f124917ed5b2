/**
 * Reads what an answer has used while its bytes pass by. It holds at most one line, changes nothing, and never fails: an answer that it
 * can't read is passed on all the same, and counted by its length.
 */
import type { ModelApi } from "../../../core/contracts/index.ts";
import { asList, asObject, assertNever, asText, findObject } from "../../../core/domain/index.ts";
import { reportedIn, type TokenCounts } from "../wire/reported.ts";

/** Longest line that is looked at. The Responses API repeats the whole answer in its last one. */
const MOST_LINE_BYTES = 8 * 1024 * 1024;
const NEWLINE = 0x0a;
const DATA = Buffer.from("data:");

export class UsageTap {
  /** As far as the provider reported it. */
  reported: TokenCounts | undefined;
  /** Of text, thinking and tool input, as they streamed. */
  characters = 0;
  /** The provider said that the answer is complete. */
  isWhole = false;
  private readonly api: ModelApi;
  private readonly isStream: boolean;
  private held: Buffer[] = [];
  private heldBytes = 0;
  private isTooLong = false;

  constructor(api: ModelApi, isStream: boolean) {
    this.api = api;
    this.isStream = isStream;
  }

  feed(piece: Buffer): void {
    if (!this.isStream) {
      this.hold(piece);
      return;
    }
    let from = 0;
    for (let end = piece.indexOf(NEWLINE); end >= 0; end = piece.indexOf(NEWLINE, from)) {
      this.line(piece.subarray(from, end));
      from = end + 1;
    }
    if (from < piece.length) this.hold(piece.subarray(from));
  }

  /** The answer has come to its end. */
  end(): void {
    if (this.isStream) this.line(Buffer.alloc(0));
    else this.read(this.release());
  }

  private hold(part: Buffer): void {
    this.heldBytes += part.length;
    if (this.heldBytes > MOST_LINE_BYTES) {
      this.isTooLong = true;
      this.held = [];
    } else this.held.push(part);
  }

  private release(): Buffer {
    const all = this.isTooLong ? Buffer.alloc(0) : Buffer.concat(this.held);
    this.held = [];
    this.heldBytes = 0;
    this.isTooLong = false;
    return all;
  }

  private line(rest: Buffer): void {
    this.hold(rest);
    const line = this.release();
    if (line.length > DATA.length && line.subarray(0, DATA.length).equals(DATA)) this.read(line.subarray(DATA.length));
  }

  private read(json: Buffer): void {
    const event = parse(json);
    if (!event) return;
    this.reported = reportedIn(event, this.reported) ?? this.reported;
    this.characters += countCharacters(this.api, event);
    this.isWhole ||= !this.isStream || endsAnswer(this.api, event);
  }
}

function parse(json: Buffer): Record<string, unknown> | undefined {
  try {
    return findObject(JSON.parse(json.toString("utf8")));
  } catch {
    return undefined;
  }
}

/** Whether the provider's count is complete with this event. */
function endsAnswer(api: ModelApi, event: Record<string, unknown>): boolean {
  switch (api) {
    case "anthropic":
      return event.type === "message_delta" && findObject(event.usage) !== undefined;
    case "openai-chat":
      return findObject(event.usage) !== undefined;
    case "openai-responses":
      return findObject(asObject(event.response).usage) !== undefined && event.type !== "response.created";
    case "google":
      return asList(event.candidates).some((one) => asText(asObject(one).finishReason) !== undefined);
    default:
      return assertNever(api);
  }
}

function countCharacters(api: ModelApi, event: Record<string, unknown>): number {
  switch (api) {
    case "anthropic": {
      const delta = asObject(event.delta);
      return lengths(delta.text, delta.thinking, delta.partial_json);
    }
    case "openai-chat": {
      const delta = asObject(asObject(asList(event.choices)[0]).delta);
      const calls = asList(delta.tool_calls).map((call) => asObject(asObject(call).function).arguments);
      return lengths(delta.content, delta.reasoning_content, ...calls);
    }
    case "openai-responses":
      return lengths(event.delta);
    case "google": {
      const content = asObject(asObject(asList(event.candidates)[0]).content);
      return lengths(...asList(content.parts).map((part) => asObject(part).text));
    }
    default:
      return assertNever(api);
  }
}

function lengths(...texts: unknown[]): number {
  return texts.reduce((sum: number, text) => sum + (typeof text === "string" ? text.length : 0), 0);
}
