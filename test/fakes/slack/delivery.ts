/**
 * How the fake Slack brings an event: in an envelope over a socket or as a signed post, again until acknowledged, thrice.
 *
 * Documentation: see server.ts
 */
import { createHmac } from "node:crypto";
import type { WebSocket } from "ws";
import type { Loose, SlackFake } from "./types.ts";

interface Pending {
  id: string;
  type: "events_api" | "interactive";
  payload: Loose;
  attempt: number;
  reason: string;
  on?: WebSocket;
  timer?: NodeJS.Timeout;
}

const RETRIES = 3;

export class Delivery {
  readonly sockets = new Set<WebSocket>();
  private readonly pending = new Map<string, Pending>();
  private readonly fake: SlackFake;
  private envelopes = 0;

  constructor(fake: SlackFake) {
    this.fake = fake;
  }

  offer(type: Pending["type"], payload: Loose): void {
    const one: Pending = { id: `env-${++this.envelopes}`, type, payload, attempt: 0, reason: "" };
    this.pending.set(one.id, one);
    void this.send(one);
  }

  connect(socket: WebSocket): void {
    this.sockets.add(socket);
    socket.send(
      JSON.stringify({
        type: "hello",
        num_connections: this.sockets.size,
        debug_info: { host: "fake", approximate_connection_time: 18_060 },
        connection_info: { app_id: "A0TEST" },
      }),
    );
    socket.on("message", (data) => this.done((JSON.parse(String(data)) as { envelope_id: string }).envelope_id));
    socket.on("error", () => {});
    socket.on("close", () => {
      this.sockets.delete(socket);
      for (const one of this.pending.values()) if (one.on === socket) this.again(one, "connection_closed");
    });
    for (const one of this.pending.values()) if (!one.on) this.again(one, "reconnected");
  }

  stop(): void {
    for (const one of this.pending.values()) clearTimeout(one.timer);
    this.pending.clear();
  }

  private async send(one: Pending): Promise<void> {
    const { fake } = this;
    const url = one.type === "interactive" ? fake.interactiveUrl : fake.eventsUrl;
    if (url) return this.post(one, url);
    const socket = [...this.sockets].at(-1);
    if (!socket && !fake.holdsWhileAway) return this.lose(one);
    if (socket) {
      one.on = socket;
      const { id: envelope_id, type, payload, attempt, reason } = one;
      const accepts_response_payload = type === "interactive";
      const retry = { retry_attempt: attempt, retry_reason: reason };
      socket.send(JSON.stringify({ envelope_id, type, payload, accepts_response_payload, ...retry }));
    }
    one.timer = setTimeout(() => this.again(one, "timeout"), fake.ackMs);
  }

  private async post(one: Pending, url: string): Promise<void> {
    const { fake } = this;
    const isForm = one.type === "interactive";
    const json = JSON.stringify(one.payload);
    const body = isForm ? new URLSearchParams({ payload: json }).toString() : json;
    const timestamp = String(Math.floor(Date.now() / 1000));
    const ok = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": isForm ? "application/x-www-form-urlencoded" : "application/json",
        "x-slack-request-timestamp": timestamp,
        "x-slack-signature": slackSignature(fake.signingSecret, timestamp, body),
        ...(one.attempt ? { "x-slack-retry-num": String(one.attempt), "x-slack-retry-reason": one.reason } : {}),
      },
      body,
      signal: AbortSignal.timeout(Math.max(fake.ackMs, 3000)),
    }).then(
      async (response) => {
        await response.arrayBuffer();
        return response.ok;
      },
      () => false,
    );
    if (ok) this.done(one.id);
    else one.timer = setTimeout(() => this.again(one, "http_error"), Math.min(fake.ackMs, 100));
  }

  private again(one: Pending, reason: string): void {
    clearTimeout(one.timer);
    if (!this.pending.has(one.id)) return;
    if (one.on || this.fake.eventsUrl) one.attempt++;
    one.reason = reason;
    delete one.on;
    if (one.attempt > RETRIES) this.lose(one);
    else void this.send(one);
  }

  private done(id: string): void {
    const one = this.pending.get(id);
    if (!one) return;
    clearTimeout(one.timer);
    this.pending.delete(id);
    this.fake.acked.push(eventIdOf(one));
  }

  private lose(one: Pending): void {
    this.pending.delete(one.id);
    this.fake.lost.push(eventIdOf(one));
  }
}

const eventIdOf = (one: Pending) => String(one.payload.event_id ?? one.id);

export function slackSignature(secret: string, timestamp: string, body: string): string {
  return `v0=${createHmac("sha256", secret).update(`v0:${timestamp}:${body}`).digest("hex")}`;
}
