/** What the pages for models, approvals, schedules, spend and the log stand on. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { createLog } from "../../src/ground/observe/index.ts";
import { type ModelServer, startModelServer } from "../fakes/model-server/index.ts";
import { pretend } from "../support/pretend.ts";
import { openInstance, openScripted, RpcError, type TestInstance, until } from "./support.ts";

const KEY = "sk-live-very-secret-0123456789";
let instance: TestInstance;
let model: ModelServer | undefined;
afterEach(async () => {
  await instance.stop();
  await model?.close();
  model = undefined;
});

const file = () => readFileSync(join(instance.home, "lares.yaml"), "utf8");

test("a model is tried, connected and used by the next message; the key is in the vault and nowhere else (PROVIDERS-1)", async () => {
  model = await startModelServer();
  const baseUrl = `${model.url}/v1`;
  instance = await openInstance({ config: "# mine\nlimits:\n  modelCalls: 7 # few\n" });
  expect((await instance.rpc("status", {})).model.practice).toBe(true);
  const before = await instance.rpc("models.providers", {});
  expect(before.providers.map((p) => p.provider)).toEqual(["anthropic", "openai", "google", "openrouter", "ollama"]);
  expect(before.providers.every((p) => !p.ready)).toBe(true);

  const given = { provider: "openai", key: KEY, baseUrl, model: "scripted" };
  const tried = await instance.rpc("models.test", given);
  expect(tried).toMatchObject({ ok: true, model: "openai/scripted" });
  expect(model.requests).toHaveLength(1);
  expect(file()).not.toContain("openai");
  expect((await instance.rpc("status", {})).model.practice).toBe(true);

  const done = await instance.rpc("models.connect", { ...given, idempotencyKey: "c1" });
  expect(done).toMatchObject({ provider: "openai", primary: "openai/scripted", kept: "vault" });
  // The same again under the same key is the same answer, not a second change.
  expect(await instance.rpc("models.connect", { ...given, idempotencyKey: "c1" })).toEqual(done);
  expect(file()).toContain("# mine");
  expect(file()).toContain("# few");
  expect(file()).toContain("vault:MODEL_KEY_OPENAI");
  expect(file()).not.toContain(KEY);
  const said = await instance.rpc("chat.send", { message: "say:hello there" });
  expect(said).toMatchObject({ response: "hello there", model: "openai/scripted" });
  const { providers } = await instance.rpc("models.providers", {});
  expect(providers.find((p) => p.provider === "openai")).toMatchObject({ ready: true, from: "config", key: "vault" });
  expect(JSON.stringify(providers)).not.toContain(KEY);
  expect(JSON.stringify(await instance.rpc("config.get", {}))).not.toContain(KEY);

  await instance.restart();
  expect(await instance.rpc("chat.send", { message: "say:still here" })).toMatchObject({ response: "still here" });

  expect(await instance.rpc("models.disconnect", { provider: "openai" })).toMatchObject({
    primary: "practice/practice",
  });
  expect(file()).not.toContain("openai");
  expect((await instance.rpc("status", {})).model.practice).toBe(true);
  expect(instance.written.join("")).not.toContain(KEY);
});

test("what does not work is said in words: a wrong key, a silent address, no model, no address", async () => {
  model = await startModelServer();
  instance = await openInstance();
  model.use(() => pretend({ fail: { kind: "auth" } }));
  const refused = await instance.rpc("models.test", {
    provider: "anthropic",
    key: KEY,
    baseUrl: model.url,
    model: "claude-x",
  });
  expect(refused.ok).toBe(false);
  expect(refused.message).toBeTruthy();
  expect(JSON.stringify(refused)).not.toContain(KEY);
  const nobody = await instance.rpc("models.test", {
    provider: "mine",
    baseUrl: "http://127.0.0.1:9/v1",
    model: "m",
  });
  expect(nobody).toMatchObject({ ok: false, model: "mine/m" });
  const without = await instance.rpc("models.test", { provider: "anthropic" });
  expect(without.ok).toBe(false);
  expect(without.message).toMatch(/not set up/);
  await expect(instance.rpc("models.connect", { provider: "mine", model: "m" })).rejects.toMatchObject({
    code: "BAD_REQUEST",
  });
  await expect(
    instance.rpc("models.connect", { provider: "mine", baseUrl: "http://127.0.0.1:9/v1" }),
  ).rejects.toBeInstanceOf(RpcError);
  await expect(instance.rpc("models.disconnect", { provider: "mine" })).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("a kept key is not sent to another address (PROVIDERS-2)", async () => {
  model = await startModelServer();
  const seen: string[] = [];
  instance = await openInstance();
  await instance.rpc("models.connect", { provider: "mine", key: KEY, baseUrl: "http://127.0.0.1:9/v1", model: "m" });
  await instance.rpc("models.test", { provider: "mine", baseUrl: `${model.url}/v1`, model: "m" });
  for (const request of model.requests) seen.push(JSON.stringify(request));
  expect(seen).toHaveLength(1);
  expect(seen.join("")).not.toContain(KEY);
});

test("testing and connecting need the admin right", async () => {
  instance = await openInstance();
  const { token } = await instance.rpc("tokens.create", { name: "w", scopes: ["read", "write"] });
  await expect(instance.rpc("models.test", { provider: "openai" }, { token })).rejects.toMatchObject({ status: 403 });
  await expect(instance.rpc("models.connect", { provider: "openai" }, { token })).rejects.toMatchObject({
    status: 403,
  });
  expect((await instance.rpc("models.providers", {}, { token })).providers.length).toBe(5);
});

test("a secret that is not in the vault is a problem with its line, and the section keeps its values", async () => {
  instance = await openInstance({ config: "limits:\n  modelCalls: 7\n" });
  const { problems } = await instance.rpc("config.check", {
    text: 'models:\n  providers:\n    openai:\n      keys: ["vault:NOT_THERE"]\n',
  });
  expect(problems[0]).toMatchObject({ line: 4 });
  expect(problems[0]!.message).toContain("NOT_THERE");
});

test("an approval says its rule and who asked; a kept rule is listed, forgotten, and then asked for again", async () => {
  instance = await openScripted();
  const script = 'tool:exec {"command":"touch x"} then: say:done';
  const first = await instance.rpc("chat.send", { message: script, user: "ana", wait: false });
  const [asked] = await until("the question", async () => {
    const { approvals } = await instance.rpc("approvals.list", {});
    return approvals.length ? approvals : undefined;
  });
  expect(asked!.rule).toContain("touch");
  expect(asked!.askedBy).toMatchObject({ channel: "http" });
  expect(asked!.askedBy!.person).toContain("ana");
  await instance.rpc("approvals.resolve", { id: asked!.id, decision: "allow-always" });
  await instance.rpc("turns.wait", { turn: first.turn });
  const { rules } = await instance.rpc("approvals.rules", {});
  expect(rules).toMatchObject([{ agent: "main", rule: asked!.rule, approval: asked!.id }]);
  expect(await instance.rpc("approvals.rules", { agent: "other" })).toEqual({ rules: [] });
  const { token } = await instance.rpc("tokens.create", { name: "w", scopes: ["read", "write"] });
  const forget = { agent: "main", rule: asked!.rule! };
  await expect(instance.rpc("approvals.forget", forget, { token })).rejects.toMatchObject({ status: 403 });
  expect(await instance.rpc("approvals.forget", forget)).toEqual({ forgotten: true });
  expect(await instance.rpc("approvals.forget", forget)).toEqual({ forgotten: false });
  expect((await instance.rpc("chat.send", { message: script, user: "ana", wait: false })).turn).toBeTruthy();
  await until(
    "it to be asked again",
    async () => (await instance.rpc("approvals.list", {})).approvals.length === 1 || undefined,
  );
});

test("a schedule's preview: words, five times, a reason with an example; nothing is made", async () => {
  instance = await openInstance();
  const zone = "Europe/Lisbon";
  const days = await instance.rpc("schedule.preview", { cron: "0 7 * * 1-5", zone });
  expect(days.words).toBe("weekdays 07:00, Lisbon");
  expect(days.next).toHaveLength(5);
  expect(days.next).toEqual([...days.next].sort((a, b) => a - b));
  expect(await instance.rpc("schedule.preview", { in: "30 minutes" })).toMatchObject({ next: [expect.any(Number)] });
  await expect(instance.rpc("schedule.preview", { cron: "0 99 * * *" })).rejects.toMatchObject({ code: "BAD_REQUEST" });
  expect(await instance.rpc("schedule.list", {})).toEqual({ jobs: [], total: 0, planned: 0 });
  const job = await instance.rpc("schedule.add", { every: "1 hour", prompt: "hello", name: "hourly" });
  expect(job.recent).toEqual([]);
});

test("the log keeps what happened while stderr shows warnings only; never a text", async () => {
  const out: string[] = [];
  const log = createLog({ level: "warn", keep: "info", stream: { write: (line) => out.push(line) } });
  instance = await openInstance({ log });
  await instance.rpc("chat.send", { message: "my secret birthday plan" });
  const lines = await until("the turn's line", async () => {
    const { lines } = await instance.rpc("logs.tail", {});
    return lines.some((l) => l.what === "turn answered") ? lines : undefined;
  });
  expect(lines.map((l) => l.what)).toContain("Lares started");
  expect(lines.find((l) => l.what === "turn answered")!.facts).toMatchObject({ agent: "main", ms: expect.any(Number) });
  expect(JSON.stringify(lines)).not.toContain("birthday");
  expect(out).toEqual([]);
});

test("what was spent today stands against its cap", async () => {
  instance = await openInstance({ config: "budgets:\n  perDay:\n    dollars: 5\n" });
  const { budgets } = await instance.rpc("budget.use", {});
  expect(budgets).toMatchObject([{ of: "all", caps: { dollars: 5 }, spent: { dollars: 0 } }]);
  expect((await instance.rpc("budget.use", { agent: "main" })).budgets.map((b) => b.of)).toEqual(["all", "agent"]);
});
