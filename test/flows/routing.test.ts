/** Who answers whom, in which session: rules by priority, identity links, scopes; over the webhook channel and HTTP. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type FarSide,
  type HookMessage,
  type Lares,
  requestsWith,
  sendHook,
  startFarSide,
  startLares,
  startModel,
  until,
  userTexts,
} from "../support/index.ts";

const AGENTS = ["person", "account", "chat", "channel", "pattern", "research", "high", "linked", "grouped", "shared"];

let model: Awaited<ReturnType<typeof startModel>>;
let far: FarSide;
let lares: Lares;
beforeAll(async () => {
  [model, far] = await Promise.all([startModel(), startFarSide()]);
  const account = { secret: far.secret, url: far.url };
  lares = await startLares({
    env: model.env,
    config: {
      agents: Object.fromEntries(AGENTS.map((name) => [name, {}])),
      channels: { webhook: { one: account, two: account, three: account } },
      routing: {
        identities: { ana: ["webhook:ana-w", "http:ana-h"], lin: ["webhook:lin-w", "http:lin-h"] },
        rules: [
          { agent: "channel", channel: "webhook", account: "one", priority: -10 },
          { agent: "account", account: "two" },
          { agent: "chat", chat: "room-7" },
          { agent: "person", person: "ana", priority: 5 },
          { agent: "pattern", pattern: "invoice*due", priority: 1 },
          { agent: "research", prefix: "/research", priority: 20 },
          { agent: "high", pattern: "urgent", priority: 10 },
          { agent: "linked", person: "lin", scope: "per-peer", priority: 30 },
          { agent: "grouped", chat: "group-1", scope: "per-chat", priority: 30 },
          { agent: "shared", chat: "hall", scope: "main", priority: 30 },
        ],
      },
    },
  });
});
afterAll(async () => {
  await lares?.dispose();
  await model?.close();
  await far?.close();
});

let count = 0;
async function hook(account: string, message: Omit<HookMessage, "id">) {
  const { status, json } = await sendHook(lares, account, far.secret, { id: `r${++count}`, ...message });
  expect(status).toBe(202);
  const { session, agent } = await lares.rpc("turns.get", { turn: json.turn! });
  return { session, agent, turn: json.turn! };
}

describe("rules", () => {
  it.each([
    ["channel and account", "channel", "one", { chat: "c1", text: "hello" }],
    ["account", "account", "two", { chat: "c1", text: "hello" }],
    ["chat", "chat", "three", { chat: "room-7", text: "hello" }],
    ["person, by an identity link", "person", "three", { chat: "c2", sender: "ana-w", text: "hello" }],
    ["pattern with a star", "pattern", "three", { chat: "c3", text: "The Invoice 7 is due" }],
    ["prefix command", "research", "three", { chat: "c4", text: "/research the moon" }],
    ["no rule: the default agent", "main", "three", { chat: "c5", text: "hello" }],
    [
      "a pattern whose pieces are in another order does not match",
      "main",
      "three",
      { chat: "c6", text: "due invoice" },
    ],
    ["a word that only begins like the prefix does not match", "main", "three", { chat: "c7", text: "/researcher x" }],
    ["the higher priority wins over an earlier rule", "high", "two", { chat: "room-7", text: "urgent: fire" }],
    ["the earlier rule wins among equals", "account", "two", { chat: "room-7", text: "hello" }],
    ["a prefix goes before a person", "research", "three", { chat: "c8", sender: "ana-w", text: "/research x" }],
  ])("%s", async (_what, agent, account, message) => {
    expect((await hook(account, message)).agent).toBe(agent);
  });

  it("the prefix word is not part of what the model sees", async () => {
    const { turn } = await hook("three", { chat: "c9", text: "/research say:found the moon" });
    expect((await lares.rpc("turns.wait", { turn })).response).toBe("found the moon");
    expect(userTexts(requestsWith(model, "found the moon")[0]!)).toEqual(["say:found the moon"]);
  });

  it("a caller that names an agent gets it", async () => {
    expect((await lares.chat("x", "urgent say:hi", { agent: "pattern" })).agent).toBe("pattern");
  });
});

describe("sessions", () => {
  it("by default each channel, account, chat and person has a session of its own", async () => {
    const sessions = [
      await hook("three", { chat: "p1", text: "a" }),
      await hook("three", { chat: "p2", text: "a" }),
      await hook("three", { chat: "p1", sender: "somebody", text: "a" }),
      await hook("three", { chat: "p1", thread: "t1", text: "a" }),
      await hook("two", { chat: "p1", text: "a" }),
    ].map((m) => m.session);
    sessions.push((await lares.chat("p1", "a")).session);
    expect(new Set(sessions).size).toBe(sessions.length);
    expect((await hook("three", { chat: "p1", text: "b" })).session).toBe(sessions[0]);
  });

  it("per-peer: one person's linked accounts share a session over channels, and each answer goes where it was asked", async () => {
    const first = await hook("three", { chat: "dm", sender: "lin-w", text: "say:by webhook" });
    await lares.rpc("turns.wait", { turn: first.turn });
    const second = await lares.chat("lin-h", "say:by http");
    expect(second.session).toBe(first.session);
    expect(userTexts(requestsWith(model, "say:by http")[0]!)).toEqual(["say:by webhook", "say:by http"]);
    await until("the webhook's answer", () => far.shown.find((m) => m.text === "by webhook"));
    expect(far.shown.filter((m) => m.text === "by http")).toEqual([]);
  });

  it("per-chat: everybody in a group shares one", async () => {
    const a = await hook("three", { chat: "group-1", sender: "u1", text: "a" });
    const b = await hook("three", { chat: "group-1", sender: "u2", text: "b" });
    expect(b.session).toBe(a.session);
  });

  it("main: the agent has one session for all", async () => {
    const a = await hook("three", { chat: "hall", sender: "u1", text: "a" });
    const b = await hook("two", { chat: "hall", sender: "u9", text: "b" });
    expect([a.session, b.session]).toEqual(["agent:shared:main", "agent:shared:main"]);
  });

  it("a chat id cannot pose as another session", async () => {
    const honest = await hook("three", { chat: "room", thread: "x", text: "a" });
    const sly = await hook("three", { chat: "room:x", text: "a" });
    expect(sly.session).not.toBe(honest.session);
  });
});
