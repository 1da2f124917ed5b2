/** One WebSocket at `/ws`: what is known about its other end, and what can be said to it. */
import type { IncomingMessage } from "node:http";
import type { WebSocket } from "ws";
import type { Speaker } from "../../../core/contracts/index.ts";
import type { EventFrame, Principal } from "../../../core/protocol/index.ts";
import type { Pipe, SocketOutput } from "./outgoing.ts";

export class SocketClient {
  readonly socket: WebSocket;
  readonly address: string;
  readonly incoming: IncomingMessage;
  principal: Principal | undefined;
  outgoing: SocketOutput | undefined;
  /** It speaks for a channel: no methods, no events, only messages (see `edges/channels/external`). */
  speaker: Speaker | undefined;
  readonly gone = new AbortController();
  login: NodeJS.Timeout | undefined;
  /** Counted among those who have shown nothing yet. */
  isStranger = false;
  /** Requests that are not answered yet. */
  underWay = 0;
  isAlive = true;
  /** Events up to this number were before its time; later ones it has been sent. */
  from = 0;

  constructor(socket: WebSocket, incoming: IncomingMessage, address: string) {
    this.socket = socket;
    this.incoming = incoming;
    this.address = address;
  }

  get isGone(): boolean {
    return this.gone.signal.aborted;
  }

  answer(id: string, payload: unknown): void {
    this.reply({ type: "res", id, ok: true, payload });
  }

  reply(frame: object): void {
    if (!this.isGone) this.socket.send(JSON.stringify(frame));
  }

  send(frame: EventFrame): void {
    this.socket.send(JSON.stringify(frame));
  }

  /** Closes it, by force when the other end does not follow within a second. */
  close(code: number, reason: string): void {
    this.socket.close(code, reason);
    const cut = setTimeout(() => this.socket.terminate(), 1000);
    cut.unref();
    this.socket.once("close", () => clearTimeout(cut));
  }

  /** Where its events go. */
  pipe(close: Pipe["close"]): Pipe {
    const { socket } = this;
    return {
      get bufferedAmount() {
        return socket.bufferedAmount;
      },
      send: (text) => socket.send(text),
      close,
    };
  }
}
