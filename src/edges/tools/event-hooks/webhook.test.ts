import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { HookPayload } from "../../../core/contracts/index.ts";
import { ManualClock } from "../../../core/kit/index.ts";
import { eventHooksConfig } from "./config.ts";
import { makeWebhook } from "./webhook.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const payload: HookPayload = { event: "session.closed", id: "session.closed/s/1", at: 0, session: "s", how: "reset" };

async function listen(answer: (url: string) => { status: number; location?: string; body?: string; type?: string }) {
  const seen: { url: string; headers: Record<string, unknown>; body: string }[] = [];
  const server = createServer((req, res) => {
    let body = "";
    req.on("data", (chunk: Buffer) => {
      body += chunk.toString("utf8");
    });
    req.on("end", () => {
      seen.push({ url: req.url ?? "", headers: req.headers, body });
      const { status, location, body: said = "", type = "application/json" } = answer(req.url ?? "");
      res.writeHead(status, { "content-type": type, ...(location ? { location } : {}) }).end(said);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/in`;
  const { webhooks } = eventHooksConfig.parse({ webhooks: { a: { url, secret: SECRET, events: ["session.closed"] } } });
  const clock = new ManualClock(1_750_000_000_000);
  return { seen, clock, send: () => makeWebhook(webhooks.a!, clock)(payload, new AbortController().signal) };
}

test("a delivery is signed as Standard Webhooks says, and has the same id each time (HOOKRUN-4)", async () => {
  const { seen, send, clock } = await listen(() => ({ status: 204 }));
  await send();
  clock.advance(60_000);
  await send();
  const [first, second] = seen;
  expect(first!.headers["webhook-id"]).toBe(second!.headers["webhook-id"]);
  expect(first!.headers["webhook-timestamp"]).toBe("1750000000");
  expect(second!.headers["webhook-timestamp"]).toBe("1750000060");
  expect(first!.headers["webhook-signature"]).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/);
  expect(first!.headers["webhook-signature"]).not.toBe(second!.headers["webhook-signature"]);
  expect(JSON.parse(first!.body)).toEqual({
    type: "session.closed",
    timestamp: "1970-01-01T00:00:00.000Z",
    data: payload,
  });
});

test("a redirect is not followed, and anything but 2xx is a failure (HOOKRUN-5)", async () => {
  const { seen, send } = await listen((url) => (url === "/in" ? { status: 307, location: "/else" } : { status: 200 }));
  await expect(send()).rejects.toThrow(/answered with 307/);
  expect(seen.map(({ url }) => url)).toEqual(["/in"]);
});

test.each([
  ["JSON", "application/json; charset=utf-8", '{"deny":"no"}', { deny: "no" }],
  ["a text that looks like JSON", "text/plain", '{"deny":"no"}', undefined],
  ["nothing", "application/json", "", undefined],
])("%s is an answer, or none", async (_what, type, body, expected) => {
  const { send } = await listen(() => ({ status: 200, type, body }));
  expect(await send()).toEqual(expected);
});

test.each([
  ["http elsewhere", "http://audit.example.com/x"],
  ["a login in the address", "https://me:secret@audit.example.com/x"],
  ["another scheme", "ftp://audit.example.com/x"],
])("%s is refused in the settings", (_what, url) => {
  const webhooks = { a: { url, secret: SECRET, events: ["turn.ended"] } };
  expect(eventHooksConfig.safeParse({ webhooks }).success).toBe(false);
});
