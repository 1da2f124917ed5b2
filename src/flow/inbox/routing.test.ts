import { describe, expect, test } from "vitest";
import { expectLinear } from "../../../test/support/growth.ts";
import { type AgentId, asId, type InboundMessage, type SessionKey } from "../../core/domain/index.ts";
import { inboxConfig } from "./config.ts";
import { place } from "./routing.ts";

const message = (over: Partial<InboundMessage> = {}): InboundMessage => ({
  route: { channel: "telegram", account: "bot", chat: "42" },
  sender: { id: "42" },
  text: "hello",
  ...over,
});
const config = (over: object = {}) => inboxConfig.parse(over);
const agentOf = (rules: object[], m = message(), over: object = {}) => place(config({ rules, ...over }), m).agent;

describe("who answers", () => {
  test.each([
    ["person by platform id", { person: "telegram:42" }, {}],
    ["account", { account: "bot" }, {}],
    ["chat", { chat: "42" }, {}],
    ["channel", { channel: "telegram" }, {}],
    ["pattern", { pattern: "hel*o" }, {}],
    ["pattern in any case", { pattern: "HELLO" }, {}],
    ["prefix", { prefix: "/research" }, { text: "/research cats" }],
    ["several conditions together", { channel: "telegram", chat: "42" }, {}],
  ])("a rule by %s matches", (_name, when, over) => {
    expect(agentOf([{ agent: "other", ...when }], message(over))).toBe("other");
  });

  test.each([
    ["person", { person: "telegram:43" }],
    ["account", { account: "other-bot" }],
    ["chat", { chat: "43" }],
    ["channel", { channel: "slack" }],
    ["pattern", { pattern: "good*bye" }],
    ["prefix of a longer word", { prefix: "/hel" }],
    ["one of several conditions", { channel: "telegram", chat: "43" }],
  ])("a rule whose %s differs does not match", (_name, when) => {
    expect(agentOf([{ agent: "other", ...when }], message({ text: "/hello there" }))).toBe("main");
  });

  test("the higher priority wins, equal ones in the order of the file (INBOX-1)", () => {
    const rules = [
      { agent: "first", channel: "telegram" },
      { agent: "second", channel: "telegram" },
      { agent: "vip", chat: "42", priority: 5 },
    ];
    expect(agentOf(rules)).toBe("vip");
    expect(agentOf(rules.slice(0, 2))).toBe("first");
  });

  test("without a match the default agent answers, and the caller's wish goes before the rules", () => {
    expect(agentOf([], message(), { defaultAgent: "butler" })).toBe("butler");
    expect(agentOf([{ agent: "other" }], message({ agent: asId<AgentId>("mine") }))).toBe("mine");
  });

  test("a routing prefix is taken off the text; a bare prefix stays", () => {
    const rules = [{ agent: "other", prefix: "/research" }];
    expect(place(config({ rules }), message({ text: "/research  cats and dogs" })).text).toBe("cats and dogs");
    expect(place(config({ rules }), message({ text: "/research" })).text).toBe("/research");
  });

  test("a pattern made to be slow is answered at once", () => {
    const pattern = `${"a*".repeat(200)}b`;
    expectLinear(
      (size) => expect(agentOf([{ agent: "other", pattern }], message({ text: "a".repeat(size) }))).toBe("main"),
      100_000,
    );
  });
});

describe("in which session", () => {
  const group = message({ route: { channel: "telegram", account: "bot", chat: "g1", thread: "7" } });
  test.each([
    ["main", message(), "agent:main:main"],
    ["per-peer", message(), "agent:main:peer:telegram%3A42"],
    ["per-channel-peer", message(), "agent:main:telegram:bot:42"],
    ["per-channel-peer", group, "agent:main:telegram:bot:g1:7:42"],
    ["per-chat", group, "agent:main:telegram:bot:g1:7"],
  ])("scope %s", (scope, m, key) => {
    expect(place(config({ scope }), m).session).toBe(key);
  });

  test("identity links join one person's accounts", () => {
    const linked = config({ scope: "per-peer", identities: { ana: ["telegram:42", "http:ana"] } });
    const http = message({ route: { channel: "http", account: "owner", chat: "ana" }, sender: { id: "ana" } });
    expect(place(linked, message()).session).toBe(place(linked, http).session);
    expect(place(linked, message()).person).toBe("ana");
  });

  test("no chat id can pose as another session (INBOX-2)", () => {
    const evil = message({ route: { channel: "telegram", account: "bot", chat: "42:99" }, sender: { id: "x" } });
    const plain = message({
      route: { channel: "telegram", account: "bot", chat: "42", thread: "99" },
      sender: { id: "x" },
    });
    expect(place(config(), evil).session).not.toBe(place(config(), plain).session);
    expect(place(config(), message({ route: { ...evil.route, chat: "a#command" } })).session).not.toContain("#");
  });

  test("a session the caller names is used as it is", () => {
    expect(place(config(), message({ session: asId<SessionKey>("agent:main:main") })).session).toBe("agent:main:main");
  });
});
