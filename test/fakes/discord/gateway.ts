/**
 * The fake Discord's gateway: sessions with their log, over real WebSockets.
 *
 * Documentation: see server.ts
 */
import type { WebSocket } from "ws";
import type { DiscordFake, Loose } from "./types.ts";

interface Session {
  id: string;
  seq: number;
  log: { s: number; t: string; d: Loose }[];
  intents: number;
  socket?: WebSocket;
}

export class Gateway {
  readonly sockets = new Set<WebSocket>();
  private readonly sessions = new Map<string, Session>();
  private readonly fake: DiscordFake;
  private made = 0;

  constructor(fake: DiscordFake) {
    this.fake = fake;
  }

  connect(socket: WebSocket): void {
    this.sockets.add(socket);
    let session: Session | undefined;
    const send = (op: number, d: unknown) => socket.send(JSON.stringify({ op, d, s: null, t: null }));
    send(10, { heartbeat_interval: this.fake.heartbeatMs, _trace: [] });
    socket.on("error", () => {});
    socket.on("close", () => {
      this.sockets.delete(socket);
      if (session?.socket === socket) delete session.socket;
    });
    socket.on("message", (data) => {
      const { op, d } = JSON.parse(String(data)) as { op: number; d: Loose };
      if (op === 1 && !this.fake.zombie) send(11, null);
      if (op !== 2 && op !== 6) return;
      if (d.token !== this.fake.token) return socket.close(4004, "Authentication failed.");
      if (op === 2) {
        if (!Number.isInteger(d.intents)) return socket.close(4013, "Invalid intent(s).");
        session = this.identify(socket, Number(d.intents));
        return;
      }
      const found = this.sessions.get(String(d.session_id));
      if (!found) return send(9, false);
      if (Number(d.seq) > found.seq) return socket.close(4007, "Invalid seq.");
      session = found;
      this.resume(socket, found, Number(d.seq));
    });
  }

  /** To every session, also those without a socket now: what they miss is replayed on RESUME. */
  dispatch(t: string, d: Loose | ((intents: number) => Loose | undefined)): void {
    for (const session of this.sessions.values()) {
      const body = typeof d === "function" ? d(session.intents) : d;
      if (body) this.push(session, t, body);
    }
  }

  listening(): number {
    return [...this.sessions.values()].filter((session) => session.socket).length;
  }

  forget(): void {
    this.sessions.clear();
  }

  private identify(socket: WebSocket, intents: number): Session {
    this.fake.identifies++;
    const session: Session = { id: `session-${++this.made}`, seq: 0, log: [], intents, socket };
    this.sessions.set(session.id, session);
    this.push(session, "READY", {
      v: 10,
      user: this.fake.bot,
      guilds: [],
      session_id: session.id,
      resume_gateway_url: this.fake.url.replace("http", "ws"),
      application: { id: "700000000000000001", flags: 0 },
    });
    return session;
  }

  private resume(socket: WebSocket, session: Session, after: number): void {
    this.fake.resumes++;
    session.socket = socket;
    for (const one of session.log) if (one.s > after) socket.send(JSON.stringify({ op: 0, ...one }));
    socket.send(JSON.stringify({ op: 0, s: session.seq, t: "RESUMED", d: {} }));
  }

  private push(session: Session, t: string, d: Loose): void {
    const one = { s: ++session.seq, t, d };
    session.log.push(one);
    if (!this.fake.zombie) session.socket?.send(JSON.stringify({ op: 0, ...one }));
  }
}
