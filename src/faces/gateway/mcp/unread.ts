/**
 * Streams that nobody reads. The SDK puts every notification into a stream's queue, however long the queue is, so a client that keeps
 * its connection open and stops reading would fill the memory.
 *
 * MCPSERVER-10: what waits for one stream is bounded; beyond that, its connection is closed.
 */

/** Thousands of notifications. A client that is this far behind opens a new stream and reads what it follows again. */
const MOST_WAITING = 1024 * 1024;

/** The same response, with a bound on what waits in it. `end` closes the connection. Answers that aren't streams stay as they are. */
export function boundUnread(response: Response, end: () => void): Response {
  const { body, status, headers } = response;
  if (!body || !headers.get("content-type")?.startsWith("text/event-stream")) return response;
  const source = body.getReader();
  const bounded = new ReadableStream<Uint8Array>(
    { start: (waiting) => void pump(source, waiting, end), cancel: (reason) => source.cancel(reason) },
    new ByteLengthQueuingStrategy({ highWaterMark: MOST_WAITING }),
  );
  return new Response(bounded, { status, headers });
}

/** Reads without waiting for the client: only so can be seen how much waits for it. One long message alone is let through. */
async function pump(
  source: ReadableStreamDefaultReader<Uint8Array>,
  waiting: ReadableStreamDefaultController<Uint8Array>,
  end: () => void,
): Promise<void> {
  try {
    for (;;) {
      const { done, value } = await source.read();
      if (done) return waiting.close();
      if ((waiting.desiredSize ?? 0) <= 0) {
        // With the connection goes the queue: the HTTP server lets go of the stream when it closes.
        end();
        return await source.cancel();
      }
      waiting.enqueue(value);
    }
  } catch (error) {
    // Changes nothing for a client that left: its stream is over already.
    waiting.error(error);
  }
}
