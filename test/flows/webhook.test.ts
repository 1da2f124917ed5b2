/** The webhook channel in and out, and the outbox behind it: retry, honest uncertainty, never twice (I1, I2, I6). */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  callExec,
  type FarSide,
  Lares,
  requestsWith,
  sendHook,
  startFarSide,
  startLares,
  startModel,
  until,
} from "../support/index.ts";

let model: Awaited<ReturnType<typeof startModel>>;
let far: FarSide;
/** Shows a message as often as it is sent, as most chat platforms do. */
let plain: FarSide;
let lares: Lares;
beforeAll(async () => {
  [model, far, plain] = await Promise.all([startModel(), startFarSide(), startFarSide({ dedupes: false })]);
  lares = await startLares({
    env: model.env,
    config: {
      outbox: { firstRetryMs: 20, mostRetryMs: 100 },
      channels: {
        webhook: {
          dedupes: { secret: far.secret, url: far.url, dedupes: true, approvers: ["boss"] },
          plain: { secret: plain.secret, url: plain.url, dedupes: false },
          closed: { secret: far.secret, senders: ["friend"] },
        },
      },
    },
  });
});
afterAll(async () => {
  await lares?.dispose();
  await Promise.all([model?.close(), far?.close(), plain?.close()]);
});
afterEach(() => {
  far.behave({ how: "take" });
  plain.behave({ how: "take" });
});

const shown = (at: FarSide, chat: string) => at.shown.filter((m) => m.chat === chat).map((m) => m.text);
const deliveries = async (turn: string) =>
  (await lares.rpc("turns.get", { turn })).deliveries.map((d) => ({ state: d.state, attempts: d.attempts }));

describe("in", () => {
  it("a signed message is durable when it is acknowledged, and answered at the far side, signed", async () => {
    const { status, json } = await sendHook(lares, "dedupes", far.secret, {
      id: "in1",
      chat: "c-in1",
      text: "say:hello there",
    });
    expect(status).toBe(202);
    expect(json).toMatchObject({ duplicate: false });
    await until("the answer", () => shown(far, "c-in1")[0]);
    expect(shown(far, "c-in1")).toEqual(["hello there"]);
    expect(far.badSignatures).toBe(0);
    await until("the record", async () => (await deliveries(json.turn!))[0]?.state === "sent");
  });

  it("a bad signature, a stale one and none are 401, and nothing is stored", async () => {
    const post = (headers: Record<string, string>) =>
      lares.request("POST", "/channels/webhook/dedupes", {
        body: { id: "bad", chat: "c-bad", sender: { id: "x" }, text: "say:never" },
        headers,
      });
    const now = String(Math.floor(Date.now() / 1000));
    const { sign } = await import("../../src/edges/channels/index.ts");
    const body = JSON.stringify({ id: "bad", chat: "c-bad", sender: { id: "x" }, text: "say:never" });
    const old = String(Math.floor(Date.now() / 1000) - 3600);
    for (const headers of [
      {},
      { "x-lares-timestamp": now, "x-lares-signature": "sha256=00" },
      { "x-lares-timestamp": now, "x-lares-signature": sign("another-secret-0123456", now, body) },
      { "x-lares-timestamp": old, "x-lares-signature": sign(far.secret, old, body) },
      { "x-lares-timestamp": now, "x-lares-signature": sign(far.secret, old, body) },
    ]) {
      const answer = await post(headers as Record<string, string>);
      expect(answer.status).toBe(401);
      expect(answer.json.error).toMatchObject({ code: "UNAUTHORIZED", hint: expect.stringMatching(/\w/) });
    }
    expect((await lares.rpc("sessions.list", { search: "c-bad" })).sessions).toEqual([]);
    expect(requestsWith(model, "say:never")).toEqual([]);
  });

  it("the same platform id is one turn and one answer, however often and over a restart", async () => {
    const message = { id: "dup1", chat: "c-dup", text: "delay:100 say:only once" };
    const first = await Promise.all([1, 2, 3].map(() => sendHook(lares, "dedupes", far.secret, message)));
    expect(new Set(first.map((a) => a.json.turn)).size).toBe(1);
    expect(first.filter((a) => a.json.duplicate === false)).toHaveLength(1);
    await until("the answer", () => shown(far, "c-dup")[0]);
    await lares.restart();
    const later = await sendHook(lares, "dedupes", far.secret, message);
    expect(later.json).toEqual({ turn: first[0]!.json.turn, duplicate: true });
    expect(shown(far, "c-dup")).toEqual(["only once"]);
    expect(requestsWith(model, "only once")).toHaveLength(1);
    // The same id in another chat is another message.
    expect((await sendHook(lares, "dedupes", far.secret, { ...message, chat: "c-dup2" })).json.duplicate).toBe(false);
  });

  it("who is not on the list is 403, an unknown account 404, a wrong body 400", async () => {
    const send = (account: string, sender: string) =>
      sendHook(lares, account, far.secret, { id: `f-${account}-${sender}`, chat: "c-f", sender, text: "x" });
    expect((await send("closed", "stranger")).status).toBe(403);
    expect((await send("closed", "friend")).status).toBe(202);
    expect((await send("nowhere", "friend")).status).toBe(404);
    const empty = await sendHook(lares, "dedupes", far.secret, { id: "", chat: "c", text: "x" });
    expect(empty).toMatchObject({ status: 400, json: { error: { code: "BAD_REQUEST" } } });
  });

  it.each(["   ", "\u2800", "\u200b"])(
    "a text that nobody can read is 400 and says so, not that the sender is unknown: %j",
    async (text) => {
      const { status, json } = await sendHook(lares, "dedupes", far.secret, { id: "blank", chat: "c-blank", text });
      expect(status).toBe(400);
      expect(JSON.stringify(json)).toContain("no text that can be read");
    },
  );

  it("an approval is asked in the chat and answered there by someone who may, not by another", async () => {
    await sendHook(lares, "dedupes", far.secret, {
      id: "ap1",
      chat: "c-ap",
      sender: "boss",
      text: `${callExec("echo approved-output")} then: say:{results}`,
    });
    const question = await until("the question", () => shown(far, "c-ap").find((text) => text.includes("approve ")));
    expect(question).toContain("echo approved-output");
    const code = /approve (\w+)/.exec(question)![1]!;
    await sendHook(lares, "dedupes", far.secret, {
      id: "ap2",
      chat: "c-ap",
      sender: "stranger",
      text: `/approve ${code}`,
    });
    await until("the refusal", () => shown(far, "c-ap").find((text) => /can't answer approvals/.test(text)));
    await sendHook(lares, "dedupes", far.secret, { id: "ap3", chat: "c-ap", sender: "boss", text: `/approve ${code}` });
    await until("the outcome", () =>
      shown(far, "c-ap").find((text) => text.includes("approved-output") && !text.includes("approve ")),
    );
  });
});

describe("out", () => {
  it("while the far side is down the answer waits, and comes when it is up again", async () => {
    await far.down();
    const { json } = await sendHook(lares, "dedupes", far.secret, { id: "d1", chat: "c-d1", text: "say:patience" });
    await until("a retry", async () => ((await deliveries(json.turn!))[0]?.attempts ?? 0) >= 2);
    const status = await lares.rpc("status", {});
    expect(status.deliveries.waiting).toBeGreaterThan(0);
    expect(status.channels.find((c) => c.name === "webhook/dedupes")?.state).toBe("down");
    await far.up();
    await until("the answer", () => shown(far, "c-d1")[0]);
    await until("the record", async () => (await deliveries(json.turn!))[0]?.state === "sent");
    expect(shown(far, "c-d1")).toEqual(["patience"]);
  });

  it("an answer that could not be delivered before kill -9 is delivered after it", async () => {
    await far.down();
    const { json } = await sendHook(lares, "dedupes", far.secret, { id: "d2", chat: "c-d2", text: "say:survivor" });
    await until("a try", async () => ((await deliveries(json.turn!))[0]?.attempts ?? 0) >= 1);
    await lares.kill9();
    await far.up();
    await lares.start();
    await until("the answer", () => shown(far, "c-d2")[0]);
    expect(shown(far, "c-d2")).toEqual(["survivor"]);
  });

  it("a far side that deduplicates and loses its answer: repeated with the same key, shown once", async () => {
    far.behave({ how: "take-then-fail", status: 502, times: 3 });
    const { json } = await sendHook(lares, "dedupes", far.secret, { id: "d3", chat: "c-d3", text: "say:exactly one" });
    await until("the record", async () => (await deliveries(json.turn!))[0]?.state === "sent");
    expect(shown(far, "c-d3")).toEqual(["exactly one"]);
    const arrivals = far.arrivals.filter((m) => m.chat === "c-d3");
    expect(arrivals).toHaveLength(4);
    expect(new Set(arrivals.map((m) => m.key)).size).toBe(1);
  });

  it("one that does not deduplicate: not repeated, marked uncertain, one honest note", async () => {
    plain.behave({ how: "take-then-fail", status: 500, times: 1 });
    const { json } = await sendHook(lares, "plain", plain.secret, { id: "u1", chat: "c-u1", text: "say:perhaps" });
    await until("the note", () => shown(plain, "c-u1").find((text) => /couldn't confirm/.test(text)));
    expect(shown(plain, "c-u1").filter((text) => text === "perhaps")).toHaveLength(1);
    expect(shown(plain, "c-u1")).toHaveLength(2);
    await until("the note to be recorded", async () => (await deliveries(json.turn!))[1]?.state === "sent");
    expect((await deliveries(json.turn!)).map((d) => d.state)).toEqual(["uncertain", "sent"]);
    expect((await lares.rpc("status", {})).deliveries.uncertain).toBeGreaterThan(0);
    // And that stays so.
    await lares.restart();
    expect(await lares.chat("w", "say:after")).toMatchObject({ response: "after" });
    expect(shown(plain, "c-u1")).toHaveLength(2);
  });

  it("a note that cannot be confirmed gets no note of its own", async () => {
    plain.behave({ how: "take-then-fail", status: 500, times: 2 });
    const { json } = await sendHook(lares, "plain", plain.secret, { id: "u2", chat: "c-u2", text: "say:perhaps not" });
    await until("both", async () => (await deliveries(json.turn!)).filter((d) => d.state === "uncertain").length === 2);
    expect(shown(plain, "c-u2")).toHaveLength(2);
  });

  it("a refusal that will not change is not repeated", async () => {
    far.behave({ how: "refuse", status: 400, times: 1 });
    const { json } = await sendHook(lares, "dedupes", far.secret, { id: "n1", chat: "c-n1", text: "say:no" });
    await until("the record", async () => (await deliveries(json.turn!))[0]?.state === "failed");
    expect(far.arrivals.filter((m) => m.chat === "c-n1")).toHaveLength(1);
    expect((await lares.rpc("status", {})).deliveries.failed).toBeGreaterThan(0);
  });

  it("one chat's messages arrive in the order of their turns (OUTBOX-3)", async () => {
    far.behave({ how: "refuse", status: 429, times: 2 });
    const turns = [];
    for (let i = 0; i < 5; i++) {
      const sent = await sendHook(lares, "dedupes", far.secret, { id: `o${i}`, chat: "c-o", text: `say:answer ${i}` });
      await lares.rpc("turns.wait", { turn: sent.json.turn! });
      turns.push(sent.json.turn!);
    }
    await until("all", () => shown(far, "c-o").length === 5);
    expect(shown(far, "c-o")).toEqual([0, 1, 2, 3, 4].map((i) => `answer ${i}`));
  });

  it("a long answer comes in pieces, in order, nothing missing", async () => {
    const words = Array.from({ length: 6000 }, (_, i) => `w${i}`).join(" ");
    await sendHook(lares, "dedupes", far.secret, { id: "l1", chat: "c-l1", text: `say:${words}` });
    const said = () => shown(far, "c-l1").flatMap((piece) => piece.trim().split(/\s+/));
    await until("the last piece", () => said().at(-1) === "w5999");
    expect(shown(far, "c-l1").length).toBeGreaterThan(1);
    expect(said().join(" ") === words).toBe(true);
  });
});

it("a delivery that expires is given up and says so", async () => {
  const brief = new Lares({
    env: model.env,
    config: {
      outbox: { firstRetryMs: 20, mostRetryMs: 50, expireAfterHours: 0.0001 },
      channels: { webhook: { gone: { secret: far.secret, url: "http://127.0.0.1:9/none" } } },
    },
  });
  try {
    await brief.start();
    const { json } = await sendHook(brief, "gone", far.secret, { id: "x1", chat: "c-x", text: "say:too late" });
    const turn = await until("the expiry", async () => {
      const now = await brief.rpc("turns.get", { turn: json.turn! });
      return now.deliveries[0]?.state === "expired" ? now : undefined;
    });
    expect(turn.deliveries[0]!.error).toMatch(/in time/);
    expect((await brief.rpc("status", {})).deliveries.failed).toBe(1);
  } finally {
    await brief.dispose();
  }
});
