/** Live events over the WebSocket, through restarts of the gateway (core/protocol/live.ts has the rules). */
import { AppError, type LiveEvent } from "../../../core/domain/index.ts";
import type { Clock } from "../../../core/kit/index.ts";
import { LiveLine, nextTryMs } from "../../../core/protocol/client.ts";
import type { FindGateway } from "../connection.ts";
import { silent, socketFailure } from "../unreachable.ts";

/** As long as for a short question. */
const HELLO_MS = 10_000;

export interface EventParts {
  find: FindGateway;
  clock: Clock;
  onEvent(event: LiveEvent): void;
  /** Connected, again or for the first time. `restarted`: by another process. */
  onOpen(how: { first: boolean; restarted: boolean }): void;
  /** `why`: it runs, but does not let this in. */
  onLost(next: { inMs: number; why?: string }): void;
}

export interface Events {
  close(): void;
}

/** Resolves when connected for the first time; rejects when that fails. Later it reconnects as often as needed. */
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
      // A stopped process still accepts connections, and never says hello.
      const stop = parts.clock.after(HELLO_MS, () => {
        reject(silent(url));
        socket.terminate();
      });
      close = () => socket.terminate();
      greeted = () => {
        stop();
        isOpen = true;
        resolve();
      };
      socket.on("open", () => line.opened((text) => socket.send(text), { token }));
      socket.on("message", (data: Buffer) => line.take(data.toString("utf8")));
      // `close` always follows and reports what went wrong.
      let cause: Error | undefined;
      socket.on("error", (error) => {
        cause = error;
      });
      socket.on("unexpected-response", (_request, response) => {
        reject(socketFailure({ status: response.statusCode ?? 0, url }));
        socket.terminate();
      });
      socket.on("close", (code) => {
        stop();
        line.lost();
        if (isOpen) return lost();
        reject(socketFailure({ code, cause, url }));
      });
    });
  };

  const lost = (error?: unknown): void => {
    if (closed) return;
    const inMs = nextTryMs(failed++);
    const isDown = !(error instanceof AppError) || error.code === "GATEWAY_DOWN";
    parts.onLost({ inMs, ...(isDown ? {} : { why: error.message }) });
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
