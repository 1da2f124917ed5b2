/** One answer's stream of server-sent events, from its bytes to the finished reply. */
import { StringDecoder } from "node:string_decoder";
import { createParser } from "eventsource-parser";
import { findObject } from "../../../core/domain/index.ts";
import type { HttpAnswer } from "./http.ts";
import type { EventReader } from "./read/index.ts";
import { reportedIn, type TokenCounts } from "./reported.ts";

export interface StreamListener {
  /** The provider said something. */
  onEvent: () => void;
  /** What the provider has reported as used so far in this stream: paid for, also when the answer is never finished. */
  onUsage: (tokens: TokenCounts) => void;
}

/** Reads to the end of the stream. Rejects with what the provider sent as an error, or with what broke the connection. */
export async function readEvents(answer: HttpAnswer, reader: EventReader, listener: StreamListener): Promise<void> {
  let reported: TokenCounts | undefined;
  const parser = createParser({
    onEvent({ data }) {
      // How OpenAI and those who imitate it end a stream; everything was said before.
      if (data === "[DONE]") return;
      const event = parseEvent(data);
      listener.onEvent();
      const more = reportedIn(event, reported);
      if (more) {
        reported = more;
        listener.onUsage(more);
      }
      reader.take(event);
    },
  });
  const decoder = new StringDecoder("utf8");
  await answer.read((piece) => parser.feed(decoder.write(piece)));
}

function parseEvent(data: string): Record<string, unknown> {
  try {
    return findObject(JSON.parse(data)) ?? {};
  } catch {
    throw new Error("a part of the answer was not valid JSON");
  }
}
