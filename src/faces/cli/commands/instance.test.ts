/** Commands about the instance: agents, channels, tokens, usage, audit, dashboard. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { ManualClock } from "../../../core/kit/index.ts";
import type { Result } from "../../../core/protocol/index.ts";
import { cli, type FakeGateway, fakeGateway, type Handlers, NOW, type RunOptions } from "../testing.ts";

let gateway: FakeGateway;
afterEach(() => gateway.close());

async function run(argv: string[], handlers: Handlers, options: Partial<RunOptions> = {}) {
  gateway = await fakeGateway(handlers);
  const ran = cli(argv, { home: gateway.home, clock: new ManualClock(NOW), ...options });
  return { code: await ran.code, out: ran.out(), err: ran.err() };
}

describe("usage", () => {
  const line = (cost: number | null, over: object = {}) => ({
    inputTokens: 900,
    outputTokens: 100,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    cost,
    calls: 2,
    unknownPrice: cost === null ? 2 : 0,
    ...over,
  });
  const summary: Result<"usage.summary"> = {
    from: "2025-06-14",
    to: "2025-06-15",
    total: line(0.42, { inputTokens: 16_500, calls: 5, unknownPrice: 2 }),
    days: [
      { ...line(0.02), day: "2025-06-14" },
      { ...line(0.4, { inputTokens: 3900 }), day: "2025-06-15" },
    ],
    models: [
      { ...line(0.42), model: "anthropic/claude" },
      { ...line(null), model: "local/own" },
      { ...line(0, { unknownPrice: 2 }), model: "new/model" },
      { ...line(0), model: null },
    ],
    agents: [{ ...line(0), agent: "main" }],
  };

  it("answers first, then by day, model and agent; an unknown price says so", async () => {
    const { out, code } = await run(["usage", "--days", "2"], { "usage.summary": () => summary });
    expect(out.split("\n")[0]).toBe("16.6k tokens in 2 days up to 2025-06-15, $0.42, unknown for 2 calls.");
    expect(out).toMatch(/2025-06-14 {2}2 calls {2}1k tokens {2}\$0\.020 {2}▇{5}\n/);
    expect(out).toMatch(/2025-06-15 {2}2 calls {2}4k tokens {2}\$0\.40 {3}▇{20}\n/);
    expect(out).toMatch(/local\/own +2 calls {2}1k tokens {2}price unknown/);
    expect(out).toMatch(/new\/model +2 calls {2}1k tokens {2}price unknown/);
    expect(out).toMatch(/no model answered +2 calls/);
    expect(out).toMatch(/main +2 calls {2}1k tokens {2}\$0\n/);
    expect(out).not.toContain("$0.00");
    expect(code).toBe(0);
  });

  it("asks for the reader's days, today included", async () => {
    await run(["usage", "--days", "2", "--agent", "main"], { "usage.summary": () => summary });
    const [asked] = gateway.callsOf("usage.summary") as { from: string; to: string; zoneOffsetMinutes: number }[];
    expect(asked).toMatchObject({ agent: "main", zoneOffsetMinutes: 0 - new Date(NOW).getTimezoneOffset() });
    expect(Date.parse(asked!.to) - Date.parse(asked!.from)).toBe(86_400_000);
    expect(asked!.to).toBe(new Date(NOW - new Date(NOW).getTimezoneOffset() * 60_000).toISOString().slice(0, 10));
  });

  it("--json is the summary with its currency; nothing used is a sentence", async () => {
    const { out } = await run(["usage", "--json"], { "usage.summary": () => summary });
    expect(JSON.parse(out)).toEqual({ ...summary, currency: "USD" });
    await gateway.close();
    const none = { ...summary, total: line(0, { calls: 0 }), days: [], models: [], agents: [] };
    const { out: quiet } = await run(["usage"], { "usage.summary": () => none });
    expect(quiet).toBe("No model calls in 30 days up to 2025-06-15.\n");
  });
});

describe("tokens", () => {
  const tokens = [
    { id: "tk_aaaa1111", name: "backup", scopes: ["read" as const], createdAt: NOW, createdBy: "owner" },
    {
      id: "tk_bbbb2222",
      name: "phone",
      scopes: ["write" as const],
      createdAt: NOW,
      createdBy: "owner",
      lastUsedAt: NOW - 60_000,
    },
  ];
  const login = { id: "lg_cccc3333", name: "owner", browser: "Firefox", scopes: ["admin" as const], createdAt: NOW };
  const logins = [{ ...login, lastUsedAt: NOW, expiresAt: NOW + 1, current: false }];
  const handlers: Handlers = {
    "tokens.list": () => ({ tokens, logins }),
    "tokens.revoke": ({ id }) => ({ id, revoked: true }),
    "tokens.create": ({ name, scopes }) => ({ id: "tk_dddd4444", token: "lares_new", name, scopes, createdAt: NOW }),
  };

  it("list shows tokens and logins with their rights", async () => {
    const { out } = await run(["tokens", "list"], handlers);
    expect(out).toContain("2 tokens and 1 browser login can sign in");
    expect(out).toMatch(/token {2}aa1111 {2}backup {3}read +never used/);
    expect(out).toMatch(/token {2}bb2222 {2}phone {4}write {2}used 1 min ago/);
    expect(out).toMatch(/login {2}cc3333 {2}Firefox {2}admin {2}used just now/);
  });

  it("create prints the token alone on stdout; it may only read unless more is said", async () => {
    const { out, err } = await run(["tokens", "create", "ci"], handlers);
    expect(out).toBe("lares_new\n");
    expect(err).toContain("with these rights: read. It won't be shown again.");
    expect(gateway.callsOf("tokens.create")).toEqual([{ name: "ci", scopes: ["read"] }]);
    await gateway.close();
    await run(["tokens", "create", "ci", "--scope", "write", "--scope", "approvals"], handlers);
    expect(gateway.callsOf("tokens.create")).toEqual([{ name: "ci", scopes: ["write", "approvals"] }]);
  });

  it("a right that does not exist is wrong usage", async () => {
    const { code, err } = await run(["tokens", "create", "ci", "--scope", "root"], handlers);
    expect(err).toContain("read, write, approvals, admin, peer");
    expect(code).toBe(2);
  });

  it.each([
    ["phone", "tk_bbbb2222"],
    ["b2222", "tk_bbbb2222"],
    ["lg_cccc3333", "lg_cccc3333"],
  ])("revoke %s ends the one that is meant", async (typed, id) => {
    const { out } = await run(["tokens", "revoke", typed], handlers);
    expect(gateway.callsOf("tokens.revoke")).toEqual([{ id }]);
    expect(out).toContain("Revoked");
  });

  it("an ending that is too short to be meant ends nothing", async () => {
    const { code } = await run(["tokens", "revoke", "222"], handlers);
    expect(code).toBe(5);
    expect(gateway.callsOf("tokens.revoke")).toEqual([]);
  });

  it("revoke of an unknown one ends nothing", async () => {
    const { code, err } = await run(["tokens", "revoke", "phnoe"], handlers);
    expect(err).toBe('There is no token "phnoe". Did you mean "phone"?\n');
    expect(code).toBe(5);
    expect(gateway.callsOf("tokens.revoke")).toEqual([]);
  });
});

describe("agents", () => {
  const agent = {
    agent: "main",
    isDefault: true,
    policy: "ask",
    sessions: 3,
    files: [{ name: "SOUL.md", bytes: 2048, changedAt: NOW - 3_600_000 }],
  };

  it("list, get and create say who, which model and which policy", async () => {
    const { out } = await run(["agents", "list"], { "agents.list": () => ({ agents: [agent] }) });
    expect(out).toBe("1 agent.\n  ●  main  the default model  policy ask  3 conversations\n");
    await gateway.close();
    const got = await run(["agents", "get", "main"], { "agents.get": () => agent });
    expect(got.out).toContain("main, the default agent: 3 conversations.");
    expect(got.out).toMatch(/SOUL\.md {2}2 kB {2}1 h ago/);
  });

  it("create takes the soul from a file or stdin", async () => {
    const handlers: Handlers = { "agents.create": ({ agent: name }) => ({ ...agent, agent: name, isDefault: false }) };
    const file = join(mkdtempSync(join(tmpdir(), "lares-soul-")), "cook.md");
    writeFileSync(file, "You cook.");
    const { out } = await run(["agents", "create", "cook", "--soul", file], handlers);
    expect(gateway.callsOf("agents.create")).toEqual([{ agent: "cook", soul: "You cook." }]);
    expect(out).toContain("Created cook. Talk to it: lares chat --agent cook");
    await gateway.close();
    await run(["agents", "create", "cook", "--soul", "-"], handlers, { input: "You bake." });
    expect(gateway.callsOf("agents.create")).toEqual([{ agent: "cook", soul: "You bake." }]);
    await gateway.close();
    const none = await run(["agents", "create", "cook", "--soul", "/nowhere"], handlers);
    expect(none.code).toBe(5);
    expect(gateway.callsOf("agents.create")).toEqual([]);
  });
});

describe("channels", () => {
  const channel = {
    name: "webhook/a",
    channel: "webhook",
    account: "a",
    state: "ok" as const,
    connected: true,
    hearing: null,
    sending: null,
    restarts: 0,
    unreadable: 0,
  };

  it("list says how each is; none teaches the next step", async () => {
    const bad = { ...channel, name: "webhook/b", state: "down" as const, detail: "The address\u001b[2J refused." };
    const { out } = await run(["channels", "list"], { "channels.list": () => ({ channels: [channel, bad] }) });
    expect(out).toContain("2 channels, 1 failed.");
    expect(out).toContain("✕ down  webhook/b  The address\\x1b[2J refused.");
    await gateway.close();
    const none = await run(["channels", "list"], { "channels.list": () => ({ channels: [] }) });
    expect(none.out).toContain("lares channels add");
  });

  it("status names what is not read any more", async () => {
    const deliveries = { waiting: 0, sent: 0, uncertain: 0, failed: 0 };
    const found = { ...channel, unreadable: 1, passedOver: ["message 17\u001b[2J"], deliveries };
    const { out } = await run(["channels", "status", "webhook/a"], { "channels.status": () => found });
    expect(out).toMatch(/skipped +message 17\\x1b\[2J: crashed Lares twice/);
  });

  it("status ends with 1 when it has failed", async () => {
    const deliveries = { waiting: 1, sent: 2, uncertain: 3, failed: 4 };
    const status = (state: "ok" | "down"): Handlers => ({
      "channels.status": () => ({ ...channel, state, deliveries }),
    });
    const good = await run(["channels", "status", "webhook/a"], status("ok"));
    expect(good.out).toContain("2 sent, 1 pending, 3 not confirmed, 4 failed");
    expect(good.code).toBe(0);
    await gateway.close();
    expect((await run(["channels", "status", "webhook/a"], status("down"))).code).toBe(1);
  });
});

describe("security audit", () => {
  const findings: Result<"security.audit">["findings"] = [
    { id: "mode:token", level: "bad", text: "The token is open to others.", hint: "chmod 600 token" },
    { id: "hosts", level: "warn", text: "Names are served.", hint: "Remove them." },
    { id: "bind", level: "ok", text: "Only this machine can reach Lares.", hint: "not shown" },
  ];

  it("says what is open with its fix, and ends with 1 when something must not be", async () => {
    const { out, code } = await run(["security", "audit"], { "security.audit": () => ({ worst: "bad", findings }) });
    expect(out).toBe(
      [
        "2 things to review.",
        "  ✕ The token is open to others.",
        "    chmod 600 token",
        "  ! Names are served.",
        "    Remove them.",
        "  ✓ Only this machine can reach Lares.",
        "",
      ].join("\n"),
    );
    expect(code).toBe(1);
  });

  it("a warning alone does not fail", async () => {
    const audit = () => ({ worst: "warn" as const, findings: findings.slice(1) });
    expect((await run(["security", "audit"], { "security.audit": audit })).code).toBe(0);
  });
});

it("dashboard prints the link alone on stdout", async () => {
  const code = () => ({ code: "abc", url: "http://127.0.0.1:7717/login?code=abc", expiresAt: NOW + 600_000 });
  const { out, err } = await run(["dashboard"], { "login.code": code });
  expect(out).toBe("http://127.0.0.1:7717/login?code=abc\n");
  expect(err).toContain("works once");
});
