/** A receiver of Lares' signed webhooks: a real HTTP server that checks each signature with the code that checks inbound ones. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Hook } from "../../src/edges/hooks/config.ts";
import { check, shown } from "../../src/edges/hooks/verify.ts";
import { pretend } from "./pretend.ts";

export interface ReceivedEvent {
  id: string;
  event: string;
  data: Record<string, unknown>;
}

export type Reply = { status?: number; json?: unknown; text?: string; hangs?: true };

export interface HookReceiver {
  url: string;
  secret: string;
  /** Every delivery with a good signature, repeated ones too. */
  received: ReceivedEvent[];
  badSignatures: number;
  /** How deliveries are answered from now on. */
  reply: (to: ReceivedEvent) => Reply;
  events(name: string): ReceivedEvent[];
  close(): Promise<void>;
}

export async function startHookReceiver(): Promise<HookReceiver> {
  const secret = `whsec_${Buffer.from("a-secret-of-the-receiver-0123456789").toString("base64")}`;
  const hook = pretend<Hook>({ scheme: "standard", secret });
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      const body = Buffer.concat(chunks);
      const headers = pretend<Record<string, string>>(req.headers);
      const found = shown(hook, headers, Date.now());
      if (!found || !check(hook, found, headers, body).ok) {
        receiver.badSignatures++;
        res.writeHead(401).end();
        return;
      }
      const { type, data } = JSON.parse(body.toString("utf8")) as { type: string; data: Record<string, unknown> };
      const one = { id: headers["webhook-id"]!, event: type, data };
      receiver.received.push(one);
      const { status = 200, json, text, hangs } = receiver.reply(one);
      if (hangs) return;
      res.writeHead(status, json === undefined ? {} : { "content-type": "application/json" });
      res.end(json === undefined ? (text ?? "") : JSON.stringify(json));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const receiver: HookReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    secret,
    received: [],
    badSignatures: 0,
    reply: () => ({}),
    events: (name) => receiver.received.filter(({ event }) => event === name),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return receiver;
}
