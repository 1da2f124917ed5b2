/**
 * The event stream of the fake Mattermost: one numbered line per connection. A connection that comes back with its
 * `connection_id` and the next `sequence_number` it expects gets what it missed (reliable websockets); when the server no
 * longer knows the connection it gets a new id in `hello`, and has to read the gap over REST.
 *
 * Documentation: see server.ts
 */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";

interface Line {
  id: string;
  /** Everything sent on it, by its number. */
  events: string[];
  socket: WebSocket | undefined;
}

export class EventStream {
  private readonly server = new WebSocketServer({ noServer: true });
  private readonly lines = new Map<string, Line>();
  private readonly token: string;
  private counter = 0;
  /** Silent: sockets stay open and nothing is written any more, as on a half-open connection. */
  silent = false;

  constructor(token: string) {
    this.token = token;
  }

  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void {
    const url = new URL(req.url ?? "/", "http://fake");
    if (url.pathname !== "/api/v4/websocket") return void socket.destroy();
    this.server.handleUpgrade(req, socket, head, (ws) => {
      if (req.headers.authorization === `Bearer ${this.token}`) return this.open(ws, url);
      ws.once("message", (raw: Buffer) => {
        const said = JSON.parse(raw.toString("utf8")) as { action?: string; data?: { token?: string }; seq?: number };
        if (said.action !== "authentication_challenge" || said.data?.token !== this.token) return ws.close(4001);
        ws.send(JSON.stringify({ status: "OK", seq_reply: said.seq }));
        this.open(ws, url);
      });
    });
  }

  emit(event: string, data: Record<string, unknown>, broadcast: Record<string, unknown> = {}): void {
    for (const line of this.lines.values()) this.put(line, event, data, broadcast);
  }

  /** Cuts every socket. With `forget` the server also loses the lines, as after its restart. */
  cut(forget = false): void {
    for (const line of this.lines.values()) {
      line.socket?.terminate();
      line.socket = undefined;
    }
    if (forget) this.lines.clear();
  }

  /** The next event of every line is lost on its way: its number is used up. */
  lose(): void {
    for (const line of this.lines.values()) line.events.push("");
  }

  get connected(): number {
    return [...this.lines.values()].filter((line) => line.socket).length;
  }

  private open(ws: WebSocket, url: URL): void {
    const known = this.lines.get(url.searchParams.get("connection_id") ?? "");
    const from = Number(url.searchParams.get("sequence_number") ?? 0);
    const line = known ?? { id: `conn${++this.counter}`, events: [], socket: undefined };
    line.socket = ws;
    this.lines.set(line.id, line);
    ws.on("message", (raw: Buffer) => {
      const said = JSON.parse(raw.toString("utf8")) as { action?: string; seq?: number };
      if (said.action === "ping" && !this.silent) {
        ws.send(JSON.stringify({ status: "OK", data: { text: "pong" }, seq_reply: said.seq }));
      }
    });
    ws.on("close", () => {
      if (line.socket === ws) line.socket = undefined;
    });
    if (known) for (const missed of known.events.slice(from)) ws.send(missed);
    else this.put(line, "hello", { connection_id: line.id, server_version: "11.0.0.fake" }, {});
  }

  private put(line: Line, event: string, data: Record<string, unknown>, broadcast: Record<string, unknown>): void {
    const text = JSON.stringify({ event, data, broadcast, seq: line.events.length });
    line.events.push(text);
    if (!this.silent) line.socket?.send(text);
  }
}
