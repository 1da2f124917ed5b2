/**
 * Live events over the WebSocket, through restarts of the gateway.
 *
 * W1: whoever comes back says the last number it saw and gets what it missed; after a restart of the gateway it is told so.
 */
import { AppError, type LiveEvent } from "../../../core/domain/index.ts";
import { backoffMs, type Clock } from "../../../core/kit/index.ts";
import type { EventFrame, Frame } from "../../../core/protocol/index.ts";
import { type FindPlace, notRunning } from "../connection.ts";

export interface EventParts {
  find: FindPlace;
  clock: Clock;
  onEvent(event: LiveEvent): void;
  /** Connected, again or for the first time. `restarted`: by another process. */
  onOpen(how: { first: boolean; restarted: boolean }): void;
  onLost(next: { inMs: number }): void;
}

export interface Events {
  close(): void;
}

/** From a fifth of a second, so that a quick restart is hardly seen, to five. */
const BACKOFF = { firstMs: 200, mostMs: 5000, jitter: 0.2 };
const WRONG_TOKEN = 4003;

/** Resolves when connected for the first time; rejects when that fails. Later losses are mended without end. */
export async function followEvents(parts: EventParts): Promise<Events> {
  const { WebSocket } = await import("ws");
  let closed = false;
  let tries = 0;
  let boot: string | undefined;
  let lastSeq = 0;
  let close = () => {};

  const connect = async (): Promise<void> => {
    const { url, token } = await parts.find();
    await new Promise<void>((resolve, reject) => {
      const socket = new WebSocket(`${url.replace(/^http/, "ws")}/ws`);
      let isOpen = false;
      close = () => socket.terminate();
      socket.on("open", () => {
        const params = { token, ...(boot ? { boot, lastSeq } : {}) };
        socket.send(JSON.stringify({ type: "req", id: "connect", method: "connect", params }));
      });
      socket.on("message", (data: Buffer) => {
        const frame = JSON.parse(data.toString("utf8")) as Frame;
        if (frame.type !== "event") return;
        if (frame.event === "hello") {
          isOpen = true;
          hello(frame);
          resolve();
        } else if (frame.event === "reload") {
          // What was missed is gone. Whoever is greeted looks at the records anyway.
          lastSeq = frame.seq;
        } else if (frame.seq > lastSeq) {
          lastSeq = frame.seq;
          parts.onEvent({ event: frame.event, ...(frame.payload as object) } as LiveEvent);
        }
      });
      // What went wrong is told by `close`, which always follows.
      let why: Error | undefined;
      socket.on("error", (error) => {
        why = error;
      });
      socket.on("close", (code) => {
        if (isOpen) return lost();
        reject(code === WRONG_TOKEN ? refused() : notRunning(why));
      });
    });
  };

  const hello = (frame: EventFrame): void => {
    const payload = frame.payload as { boot: string; seq: number };
    const first = boot === undefined;
    const restarted = !first && boot !== payload.boot;
    // What was missed follows the greeting; only a new process counts from the start.
    if (first || restarted) lastSeq = payload.seq;
    boot = payload.boot;
    tries = 0;
    parts.onOpen({ first, restarted });
  };

  const lost = (): void => {
    if (closed) return;
    const inMs = backoffMs(BACKOFF, ++tries);
    parts.onLost({ inMs });
    parts.clock.after(inMs, () => {
      if (!closed) connect().catch(lost);
    });
  };

  await connect();
  return {
    close() {
      closed = true;
      close();
    },
  };
}

function refused(): AppError {
  return new AppError("UNAUTHORIZED", {
    message: "Lares refused the token.",
    hint: "`lares token` prints the right one.",
    retry: "after-change",
  });
}
