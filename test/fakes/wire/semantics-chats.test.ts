/** The fakes of Telegram, Slack and Discord keep the semantics their headers claim: adapters are proved against these. */
import { afterEach, expect, it } from "vitest";
import { WebSocket } from "ws";
import { until } from "../../support/index.ts";
import { startDiscord } from "../discord/index.ts";
import { startSlack } from "../slack/index.ts";
import { startTelegram } from "../telegram/index.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

async function kept<T extends { close(): Promise<void> }>(starting: Promise<T>): Promise<T> {
  const fake = await starting;
  closing.push(() => fake.close());
  return fake;
}

/** A connection whose frames are kept. */
async function socket(url: string): Promise<{ frames: Record<string, unknown>[]; ws: WebSocket }> {
  const ws = new WebSocket(url);
  const frames: Record<string, unknown>[] = [];
  ws.on("message", (data) => frames.push(JSON.parse(String(data)) as Record<string, unknown>));
  ws.on("error", () => {});
  await until("the socket", () => ws.readyState === WebSocket.OPEN);
  return { frames, ws };
}

it("telegram: an update is there until a higher offset is asked for, and a second poller ends the first", async () => {
  const fake = await kept(startTelegram());
  const call = async (method: string, body: object = {}) => {
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    return (await (await fetch(`${fake.url}/bot${fake.token}/${method}`, init)).json()) as {
      result: { update_id: number; message_id: number }[];
      description: string;
    };
  };
  const waiting = call("getUpdates", { timeout: 5 });
  await until("a poll", () => fake.polls === 1);
  const other = call("getUpdates", { timeout: 5 });
  expect((await waiting).description).toContain("Conflict: terminated by other getUpdates request");
  const id = fake.say(5, 5, "hello");
  expect((await other).result.map((u) => u.update_id)).toEqual([id]);
  expect((await call("getUpdates", { offset: id })).result).toHaveLength(1);
  expect((await call("getUpdates", { offset: id + 1 })).result).toHaveLength(0);
  expect(fake.pending()).toBe(0);
  for (const [text, why] of [
    ["<b>x", "can't parse entities: Can't find end tag"],
    ["<h1>x</h1>", "can't parse entities: Unsupported start tag"],
    ["y".repeat(4097), "message is too long"],
  ])
    expect((await call("sendMessage", { chat_id: 5, text, parse_mode: "HTML" })).description).toContain(why);
  await call("sendMessage", { chat_id: 5, text: "a &lt; b", parse_mode: "HTML" });
  const same = { chat_id: 5, message_id: fake.sent[0]!.message_id, text: "a < b" };
  expect((await call("editMessageText", same)).description).toContain("message is not modified");
});

it("slack: what is not acked comes again, three times, also over a new connection, and is then lost", async () => {
  const fake = await kept(startSlack());
  const open = async () => {
    const headers = { authorization: `Bearer ${fake.appToken}` };
    const answer = await fetch(`${fake.url}/api/apps.connections.open`, { method: "POST", headers });
    return socket(((await answer.json()) as { url: string }).url);
  };
  const first = await open();
  fake.say("C1", "U1", "acked");
  const envelope = await until("the envelope", () => first.frames[1]);
  first.ws.send(JSON.stringify({ envelope_id: envelope.envelope_id }));
  await until("the ack", () => fake.acked.length === 1);
  fake.ackMs = 20;
  fake.say("C1", "U1", "ignored");
  await until("a retry", () => first.frames.some((f) => f.retry_attempt === 1));
  first.ws.terminate();
  const second = await open();
  await until("given up", () => fake.lost.length === 1);
  expect(second.frames.slice(1).every((f) => (f.retry_attempt as number) > 1)).toBe(true);
});

it("discord: RESUME replays what came after the number, and a nonce is one message", async () => {
  const fake = await kept(startDiscord());
  const url = fake.url.replace("http", "ws");
  const first = await socket(url);
  first.ws.send(JSON.stringify({ op: 2, d: { token: fake.token, intents: 1 << 9 } }));
  const ready = (await until("READY", () => first.frames.find((f) => f.t === "READY"))) as {
    d: { session_id: string };
  };
  fake.say("5", "1", "heard");
  await until("the message", () => first.frames.find((f) => f.t === "MESSAGE_CREATE"));
  first.ws.terminate();
  fake.say("5", "1", "missed");
  const second = await socket(url);
  const session_id = ready.d.session_id;
  second.ws.send(JSON.stringify({ op: 6, d: { token: fake.token, session_id, seq: 2 } }));
  await until("RESUMED", () => second.frames.find((f) => f.t === "RESUMED"));
  expect(second.frames.filter((f) => f.t === "MESSAGE_CREATE")).toHaveLength(1);
  const say = async () => {
    const headers = { authorization: `Bot ${fake.token}`, "content-type": "application/json" };
    const body = JSON.stringify({ content: "once", nonce: "n1", enforce_nonce: true });
    const answer = await fetch(`${fake.url}/api/v10/channels/5/messages`, { method: "POST", headers, body });
    return ((await answer.json()) as { id: string }).id;
  };
  expect(await say()).toBe(await say());
  expect(fake.sent).toHaveLength(1);
});
