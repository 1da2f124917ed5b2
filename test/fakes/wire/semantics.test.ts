/** The fakes of chat platforms keep the acknowledgement semantics their headers claim: adapters are proved against these. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { WebSocket } from "ws";
import { until } from "../../support/index.ts";
import { pretend } from "../../support/pretend.ts";
import { startMatrixFake } from "../matrix/index.ts";
import { startMattermostFake } from "../mattermost/index.ts";
import { startSignalFake } from "../signal-cli/index.ts";
import { startWhatsAppFake } from "../whatsapp-cloud/index.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

async function kept<T extends { down(): Promise<void> }>(starting: Promise<T>): Promise<T> {
  const fake = await starting;
  closing.push(() => fake.down());
  return fake;
}

it("matrix: one since token gives the same events again, a gap is limited and readable, a transaction is one event", async () => {
  const fake = await kept(startMatrixFake());
  const call = async (path: string, init: RequestInit = {}) =>
    (await (
      await fetch(`${fake.url}/_matrix/client/v3${path}`, {
        ...init,
        headers: { authorization: `Bearer ${fake.token}`, "content-type": "application/json" },
      })
    ).json()) as Record<string, never>;
  fake.say("!r", "@ann:x", "zero");
  const first = await call("/sync");
  const waiting = call(`/sync?since=${first.next_batch}&timeout=5000`);
  fake.say("!r", "@ann:x", "one");
  const woken = await waiting;
  expect(await call(`/sync?since=${first.next_batch}`)).toEqual(woken);
  for (let i = 0; i < 30; i++) fake.say("!r", "@ann:x", `more ${i}`);
  const long = pretend<{
    rooms: { join: Record<string, { timeline: { events: object[]; limited: boolean; prev_batch: string } }> };
  }>(await call(`/sync?since=${woken.next_batch}`));
  const { timeline } = long.rooms.join["!r"]!;
  expect(timeline).toMatchObject({ limited: true });
  expect(timeline.events).toHaveLength(10);
  const gap = pretend<{ chunk: object[] }>(
    await call(`/rooms/!r/messages?dir=b&from=${timeline.prev_batch}&to=${woken.next_batch}&limit=100`),
  );
  expect(gap.chunk).toHaveLength(20);
  const send = () => call("/rooms/!r/send/m.room.message/t1", { method: "PUT", body: '{"body":"once"}' });
  expect(await send()).toEqual(await send());
  expect(fake.sent.map((m) => m.text)).toEqual(["once"]);
});

it("mattermost: a pending id is one post until the server forgets it; a stream that comes back gets what it missed", async () => {
  const fake = await kept(startMattermostFake());
  fake.say("c1", "u1", "hi");
  const post = async (pending: string) => {
    const body = JSON.stringify({ channel_id: "c1", message: "x", pending_post_id: pending });
    const headers = { authorization: `Bearer ${fake.token}`, "content-type": "application/json" };
    const response = await fetch(`${fake.url}/api/v4/posts`, { method: "POST", headers, body });
    return ((await response.json()) as { id: string }).id;
  };
  const first = await post("p1");
  expect(await post("p1")).toBe(first);
  fake.forget();
  expect(await post("p1")).not.toBe(first);
  const events: { event: string; seq: number; data: { connection_id?: string } }[] = [];
  const open = (query: string) => {
    const ws = new WebSocket(`${fake.url.replace("http", "ws")}/api/v4/websocket${query}`, {
      headers: { authorization: `Bearer ${fake.token}`, "content-type": "application/json" },
    });
    ws.on("message", (raw: Buffer) => events.push(JSON.parse(raw.toString("utf8"))));
    ws.on("error", () => {});
    closing.push(async () => ws.terminate());
  };
  open("");
  const hello = await until("hello", () => events[0]);
  fake.stream.cut();
  fake.say("c1", "u1", "while away");
  open(`?connection_id=${hello.data.connection_id}&sequence_number=1`);
  await until("what was missed", () => events[1]);
  expect(events[1]).toMatchObject({ event: "posted", seq: 1 });
  fake.forget();
  open(`?connection_id=${hello.data.connection_id}&sequence_number=2`);
  await until("a new line", () => events.find((e) => e.event === "hello" && e !== hello));
});

it("signal-cli: waits while nobody listens, and what was handed over is not handed over again", async () => {
  const fake = await kept(startSignalFake());
  fake.say("+1", "+1", "first");
  expect(fake.waiting).toBe(1);
  const listen = async () => {
    const gone = new AbortController();
    closing.push(async () => gone.abort());
    const response = await fetch(`${fake.url}/api/v1/events`, { signal: gone.signal });
    let text = "";
    void (async () => {
      for await (const chunk of response.body!) text += Buffer.from(chunk).toString("utf8");
    })().catch(() => {});
    return { gone, read: () => text };
  };
  const one = await listen();
  await until("it", () => one.read().includes("first"));
  one.gone.abort();
  await until("nobody", () => fake.listening === 0);
  const two = await listen();
  fake.say("+1", "+1", "second");
  await until("the next", () => two.read().includes("second"));
  expect(two.read()).not.toContain("first");
});

it("whatsapp: an event is posted again, byte for byte, until it is answered with 200", async () => {
  const fake = await kept(startWhatsAppFake());
  const bodies: string[] = [];
  const hook = createServer((req, res) => {
    let body = "";
    req.on("data", (chunk: Buffer) => {
      body += chunk;
    });
    req.on("end", () => {
      if (req.method === "POST") bodies.push(body);
      res.writeHead(req.method === "GET" || bodies.length > 2 ? 200 : 503).end();
    });
  });
  await new Promise<void>((resolve) => hook.listen(0, "127.0.0.1", resolve));
  closing.push(async () => {
    hook.closeAllConnections();
    hook.close();
  });
  await fake.subscribe(`http://127.0.0.1:${(hook.address() as AddressInfo).port}/hook`);
  fake.say("1", "1", "hello");
  await until("200", () => fake.unanswered === 0);
  expect(bodies).toHaveLength(3);
  expect(new Set(bodies).size).toBe(1);
});
