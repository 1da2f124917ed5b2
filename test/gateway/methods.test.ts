/** The registry as a whole: every method answers what it says, keys hold after a restart, the documents are not stale. */

import { readFileSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { METHODS, type MethodName } from "../../src/core/protocol/index.ts";
import { printMarkdown, printSchema } from "../../src/core/protocol/print.ts";
import type { ModelServer } from "../fakes/model-server/index.ts";
import { pretend } from "../support/pretend.ts";
import { bearer, openInstance, openScripted, type TestInstance } from "./support.ts";

let instance: TestInstance & { model: ModelServer };
let session: string;
let turn: string;
beforeAll(async () => {
  instance = await openScripted({ config: "channels:\n  webhook:\n    shop:\n      secret: 0123456789abcdef0123\n" });
  const said = await instance.rpc("chat.send", { message: "say:hello", user: "all" });
  session = said.session;
  turn = said.turn;
});
afterAll(() => instance.stop());

test("the printed protocol is not stale: run `npx tsx scripts/protocol.mjs`", () => {
  const docs = new URL("../../docs/", import.meta.url);
  expect(readFileSync(new URL("PROTOCOL.md", docs), "utf8")).toBe(printMarkdown());
  // Compared as data: the formatter may lay it out.
  expect(JSON.parse(readFileSync(new URL("protocol.schema.json", docs), "utf8"))).toEqual(JSON.parse(printSchema()));
});

test("methods that change something take a key, others do not; every one has a doc line", () => {
  for (const [name, m] of Object.entries(METHODS)) {
    const shape = pretend<{ shape: Record<string, unknown> }>(m.in).shape;
    expect(Object.hasOwn(shape, "idempotencyKey"), name).toBe(m.mutates);
    expect(m.doc.endsWith("."), name).toBe(true);
  }
});

test("what a method gives is what its schema says", async () => {
  const params: Partial<Record<MethodName, object>> = {
    health: {},
    status: {},
    "chat.send": { message: "say:x", user: "all" },
    "chat.abort": { session },
    "chat.history": { session },
    "chat.live": { session },
    "turns.get": { turn },
    "turns.wait": { turn },
    "turns.list": {},
    "sessions.list": {},
    "sessions.get": { session },
    "sessions.rename": { session, title: "A title" },
    "sessions.export": { session },
    "sessions.prune": { olderThanDays: 1, dryRun: true },
    "approvals.list": {},
    "models.list": {},
    "agents.list": {},
    "agents.get": { agent: "main" },
    "agents.create": { agent: "second", soul: "You are second." },
    "agents.files.get": { agent: "main", file: "SOUL.md" },
    "agents.files.set": { agent: "second", file: "USER.md", text: "Ana" },
    "usage.summary": {},
    "logs.tail": {},
    "config.get": {},
    "config.check": {},
    "config.schema": {},
    "tokens.create": { name: "t", scopes: ["read"] },
    "tokens.list": {},
    "login.code": {},
    "channels.list": {},
    "channels.status": { name: "webhook/shop" },
    "commands.list": {},
    "security.audit": {},
  };
  for (const [name, given] of Object.entries(params) as [MethodName, object][]) {
    const result = await instance.rpc(name, pretend(given));
    const parsed = METHODS[name].out.safeParse(result);
    expect(parsed.success ? [] : parsed.error.issues, name).toEqual([]);
  }
});

describe("idempotency keys", () => {
  test("the same key gives the same result, also after a restart and at the same time", async () => {
    const at = await openInstance();
    try {
      const make = () => at.rpc("tokens.create", { name: "keyed", scopes: ["read"] }, { key: "k1" });
      const [a, b] = await Promise.all([make(), make()]);
      expect(b).toEqual(a);
      await at.restart();
      const c = await make();
      expect(c).toEqual(a);
      expect((await at.rpc("tokens.list", {})).tokens).toHaveLength(1);
      expect((await at.rpc("health", {}, { token: c.token })).ok).toBe(true);
      const agent = { agent: "keyed", idempotencyKey: "k2" };
      const made = await at.rpc("agents.create", agent);
      expect(await at.rpc("agents.create", agent)).toEqual(made);
    } finally {
      await at.stop();
    }
  });

  test("another request under the same key is a conflict, another caller's key is another key", async () => {
    await instance.rpc("sessions.rename", { session, title: "One", idempotencyKey: "r1" });
    await expect(
      instance.rpc("sessions.rename", { session, title: "Two", idempotencyKey: "r1" }),
    ).rejects.toMatchObject({
      status: 409,
    });
    const other = await instance.rpc("tokens.create", { name: "other", scopes: ["read", "write"] });
    await instance.rpc("sessions.rename", { session, title: "Two", idempotencyKey: "r1" }, { token: other.token });
    expect((await instance.rpc("sessions.get", { session })).title).toBe("Two");
  });

  test("a failure is not kept: the same key may try again", async () => {
    const params = { session: "agent:main:none", title: "x", idempotencyKey: "f1" };
    await expect(instance.rpc("sessions.rename", params)).rejects.toMatchObject({ status: 404 });
    await expect(instance.rpc("sessions.rename", params)).rejects.toMatchObject({ status: 404 });
  });

  test("chat.send keeps its own, over HTTP header and parameter alike", async () => {
    const a = await instance.rpc("chat.send", { message: "say:once", user: "key" }, { key: "c1" });
    const b = await instance.rpc("chat.send", { message: "say:once", user: "key", idempotencyKey: "c1" });
    expect(b).toMatchObject({ turn: a.turn, duplicate: true, response: "once" });
  });
});

describe("agents' files", () => {
  test("are read and written with a version, so that nobody's change is lost", async () => {
    const before = await instance.rpc("agents.files.get", { agent: "main", file: "USER.md" });
    const written = await instance.rpc("agents.files.set", {
      agent: "main",
      file: "USER.md",
      text: "Ana, Lisbon",
      version: before.version,
    });
    expect((await instance.rpc("agents.files.get", { agent: "main", file: "USER.md" })).text).toBe("Ana, Lisbon");
    await expect(
      instance.rpc("agents.files.set", { agent: "main", file: "USER.md", text: "Bob", version: before.version }),
    ).rejects.toMatchObject({ status: 409, body: { details: { version: written.version } } });
  });

  test("FS-11 a link is neither read nor written through, and other names do not exist", async () => {
    const outside = join(instance.home, "token");
    writeFileSync(outside, "outside secret");
    const link = join(instance.home, "agents", "main", "HEARTBEAT.md");
    unlinkSync(link);
    symlinkSync(outside, link);
    await expect(instance.rpc("agents.files.get", { agent: "main", file: "HEARTBEAT.md" })).rejects.toMatchObject({
      status: 403,
    });
    await expect(
      instance.rpc("agents.files.set", { agent: "main", file: "HEARTBEAT.md", text: "x" }),
    ).rejects.toMatchObject({ status: 403 });
    expect(readFileSync(outside, "utf8")).toBe("outside secret");
    await expect(
      instance.rpc("agents.files.get", { agent: "main", file: pretend<"SOUL.md">("../../lares.db") }),
    ).rejects.toMatchObject({ status: 400 });
    await expect(instance.rpc("agents.get", { agent: "../main" })).rejects.toMatchObject({ status: 400 });
  });

  test("writing them needs the right admin", async () => {
    const { token } = await instance.rpc("tokens.create", { name: "no admin", scopes: ["read", "write", "approvals"] });
    for (const call of [
      instance.rpc("agents.files.set", { agent: "main", file: "SOUL.md", text: "mine" }, { token }),
      instance.rpc("config.get", {}, { token }),
      instance.rpc("login.code", {}, { token }),
      instance.rpc("security.audit", {}, { token }),
    ]) {
      await expect(call).rejects.toMatchObject({ status: 403, body: { details: { missingScope: "admin" } } });
    }
  });
});

test("usage.summary sums by day, model and agent; an unknown price is unknown, not nothing", async () => {
  const { total, days, models, agents } = await instance.rpc("usage.summary", { zoneOffsetMinutes: 60 });
  expect(total.calls).toBeGreaterThan(0);
  expect(total.cost).toBeNull();
  for (const list of [days, models, agents])
    expect(list.reduce((sum, row) => sum + row.inputTokens, 0)).toBe(total.inputTokens);
  expect(models[0]!.model).toBe("openai/scripted");
  expect((await instance.rpc("usage.summary", { from: "2001-01-01", to: "2001-01-02" })).total.calls).toBe(0);
  await expect(instance.rpc("usage.summary", { from: "2026-02-02", to: "2026-02-01" })).rejects.toMatchObject({
    status: 400,
  });
});

test("/metrics is for those who may read, in Prometheus' form", async () => {
  expect((await instance.ask("/metrics")).status).toBe(401);
  const answer = await instance.ask("/metrics", { headers: bearer() });
  expect(answer.headers["content-type"]).toContain("text/plain");
  for (const line of answer.text.trim().split("\n")) {
    expect(line).toMatch(/^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? -?[0-9.e+-]+)$/);
  }
  for (const name of [
    'lares_turns{state="answered"}',
    "lares_model_calls_total",
    "lares_model_calls_unpriced_total",
    "lares_event_loop_lag_seconds",
    "lares_sockets",
    "process_resident_memory_bytes",
  ]) {
    expect(answer.text).toContain(name);
  }
});
