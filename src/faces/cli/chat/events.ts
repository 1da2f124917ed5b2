/** Live events over the WebSocket, through restarts of the gateway (core/protocol/live.ts has the rules). */
import { AppError, type LiveEvent } from "../../../core/domain/index.ts";
import type { Clock } from "../../../core/kit/index.ts";
import { isRefused, LiveLine, nextTryMs } from "../../../core/protocol/client.ts";
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

/** Resolves when connected for the first time; rejects when that fails. Later losses are mended without end. */
export async function followEvents(parts: EventParts): Promise<Events> {
  const { WebSocket } = await import("ws");
  let closed = false;
  let failed = 0;
  let close = () => {};
  let greeted = () => {};
  const line = new LiveLine({
    onOpen: (how) => {
      failed = 0;
      parts.onOpen(how);
      greeted();
    },
    onEvent: parts.onEvent,
  });

  const connect = async (): Promise<void> => {
    const { url, token } = await parts.find();
    await new Promise<void>((resolve, reject) => {
      const socket = new WebSocket(`${url.replace(/^http/, "ws")}/ws`);
      let isOpen = false;
      close = () => socket.terminate();
      greeted = () => {
        isOpen = true;
        resolve();
      };
      socket.on("open", () => line.opened((text) => socket.send(text), { token }));
      socket.on("message", (data: Buffer) => line.take(data.toString("utf8")));
      // What went wrong is told by `close`, which always follows.
      let why: Error | undefined;
      socket.on("error", (error) => {
        why = error;
      });
      socket.on("close", (code) => {
        line.lost();
        if (isOpen) return lost();
        reject(isRefused(code) ? refused() : notRunning(why));
      });
    });
  };

  const lost = (): void => {
    if (closed) return;
    const inMs = nextTryMs(failed++);
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
