/** What failed is shown as failed, everywhere; "nothing needs you" is said only when nothing does. */
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { directiveScript, type ModelServer } from "../fakes/model-server/index.ts";
import { openScripted, type TestInstance } from "./support.ts";

let instance: TestInstance & { model: ModelServer };
beforeAll(async () => {
  instance = await openScripted({ config: "gateway:\n  http:\n    wait: 0.2\n" });
});
afterAll(() => instance.stop());

const say = (message: string, user: string) => instance.rpc("chat.send", { message, user });
const list = (limit = 50, after?: string) => instance.rpc("attention.list", { limit, ...(after ? { after } : {}) });
const total = async () => (await instance.rpc("status", {})).attention;

test("a quiet instance needs nobody; failed turns and questions are counted, and say what they are", async () => {
  await say("say:fine", "ana");
  expect(await list()).toMatchObject({ items: [], total: 0 });
  expect(await total()).toBe(0);
  const failed = await say("fail:auth", "ana");
  const asked = await say('tool:exec {"command":"touch x && echo y"}', "bo");
  const { items } = await list();
  expect(items.map((one) => one.kind)).toEqual(["approval", "turn"]);
  expect(items[0]).toMatchObject({ approval: asked.approval!.id, turn: asked.turn, dismissible: false });
  expect(items[1]).toMatchObject({ turn: failed.turn, state: "failed", failure: "auth", dismissible: true });
  expect(items[1]!.text).toContain("rejected its key");
  expect(await total()).toBe(2);
  // The list of conversations and of turns say the same.
  const { sessions } = await instance.rpc("sessions.list", {});
  expect(sessions.find((s) => s.session === failed.session)!.last).toMatchObject({ state: "failed", failure: "auth" });
  expect(sessions.find((s) => s.session === asked.session)!.last).toMatchObject({ state: "parked" });
  const { turns } = await instance.rpc("turns.list", { session: failed.session });
  expect(turns.map((t) => [t.state, t.failure])).toEqual([
    ["failed", "auth"],
    ["answered", undefined],
  ]);
  const view = await instance.rpc("turns.get", { turn: failed.turn });
  expect(view.failure).toBe("auth");
  expect(view.steps[0]).toMatchObject({ state: "done", outcome: "failed", failure: "auth" });
  await instance.rpc("approvals.resolve", { id: asked.approval!.id, decision: "deny" });
  await instance.rpc("turns.wait", { turn: asked.turn });
  expect((await instance.rpc("turns.get", { turn: asked.turn })).approvals[0]).toMatchObject({
    state: "denied",
    answeredBy: "owner",
  });
});

test("what happened is dismissed for good, over restarts; what is still so cannot be", async () => {
  const asked = await say('tool:exec {"command":"touch x && echo y"}', "cy");
  const before = await list();
  const turn = before.items.find((one) => one.kind === "turn")!;
  const left = await instance.rpc("attention.dismiss", { ids: [turn.id] });
  expect(left).toEqual({ dismissed: 1, total: before.total - 1 });
  await instance.restart();
  expect((await list()).items.map((one) => one.id)).toEqual([`approval:${asked.approval!.id}`]);
  await expect(instance.rpc("attention.dismiss", { ids: [`approval:${asked.approval!.id}`] })).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining("can't be dismissed"),
  });
  await instance.rpc("approvals.resolve", { id: asked.approval!.id, decision: "deny" });
  await instance.rpc("turns.wait", { turn: asked.turn });
  expect(await total()).toBe(0);
});

test("the list is paged over everything, newest first, nothing twice", async () => {
  for (let i = 0; i < 7; i++) await say("fail:format", `many-${i}`);
  const seen: string[] = [];
  let after: string | undefined;
  do {
    const page = await list(3, after);
    expect(page.total).toBe(7);
    seen.push(...page.items.map((one) => one.id));
    after = page.next;
  } while (after);
  expect(seen).toHaveLength(7);
  expect(new Set(seen).size).toBe(7);
  expect(await instance.rpc("attention.dismiss", { all: true })).toEqual({ dismissed: 7, total: 0 });
});

test("a command that failed and a call that was refused are no successes in the turn's steps", async () => {
  await instance.rpc("config.set", { path: "policy.mode", value: "record" });
  const steps = async (message: string) => {
    const { turn } = await say(message, "steps");
    return (await instance.rpc("turns.get", { turn })).steps;
  };
  const named = async (message: string, name: string) =>
    (await steps(message)).filter((step) => step.name.startsWith(name));
  const exec = (command: string) => `tool:exec ${JSON.stringify({ command })} then: say:done`;
  // An effect, whose result is wrapped in the journal.
  expect(await named(exec("cat nofile; exit 3"), "tool:")).toEqual([
    expect.objectContaining({ kind: "effect", outcome: "failed", exit: 3, reason: expect.any(String) }),
  ]);
  expect(await named(exec("true"), "tool:")).toMatchObject([{ outcome: "ok", exit: 0 }]);
  // A step, whose result is not.
  expect(await named('tool:read {"path":"nofile"} then: say:done', "tool:")).toMatchObject([
    { kind: "step", outcome: "failed", reason: expect.stringContaining("nofile") },
  ]);
  // A model that said nothing is asked once more; that call is no success either.
  const replies = [{ toolCalls: [{ name: "list", input: { path: "." } }] }, { text: "" }, { text: "done" }];
  instance.model.use(() => replies.shift()!);
  expect(await named("x", "model:")).toMatchObject([
    { outcome: "ok" },
    { outcome: "failed", failure: "empty" },
    { outcome: "ok" },
  ]);
  instance.model.use(() => ({ text: "half a", finish: "length" }));
  expect(await named("x", "model:")).toMatchObject([{ outcome: "cut" }]);
  instance.model.use(directiveScript());
  const refused = await steps('tool:write {"path":"/etc/lares-was-here","content":"x"} then: say:done');
  expect(refused.filter((step) => step.name.startsWith("judge:"))).toMatchObject([
    { outcome: "denied", reason: expect.stringMatching(/\w/) },
  ]);
  expect(refused.filter((step) => step.name.startsWith("tool:"))).toEqual([]);
  await instance.rpc("config.set", { path: "policy.mode", value: "ask" });
});

test("a failed job and a channel that is down", async () => {
  const { id } = await instance.rpc("schedule.add", { name: "broken", every: "1 day", prompt: "fail:auth" });
  await instance.rpc("schedule.run", { id });
  await expect.poll(async () => (await list()).items.map((one) => one.kind), { timeout: 10_000 }).toContain("job");
  const job = (await list()).items.find((one) => one.kind === "job")!;
  expect(job.text).toMatch(/^The job "broken" failed: /);
  // Its run's turn is the job's: it is not counted twice.
  expect((await list()).items.filter((one) => one.kind === "turn")).toEqual([]);
  const taken = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  const { port } = taken.address() as { port: number };
  await instance.rpc("config.set", {
    path: "channels.irc.home",
    value: { host: "127.0.0.1", port, tls: false, nick: "lares", owners: ["ana"] },
  });
  await expect.poll(async () => (await list()).items.map((one) => one.kind), { timeout: 10_000 }).toContain("channel");
  expect((await list()).items.find((one) => one.kind === "channel")!.text).toMatch(/^irc\/home /);
  taken.close();
});

test("a message that was refused, and a watcher that cannot look", async () => {
  const refusing = createHttpServer((_request, response) => response.writeHead(410).end("gone"));
  await new Promise<void>((resolve) => refusing.listen(0, "127.0.0.1", resolve));
  const { port } = refusing.address() as { port: number };
  const url = `http://127.0.0.1:${port}/`;
  await instance.rpc("config.set", { path: "channels.webhook.shop", value: { secret: "a-long-enough-secret", url } });
  const deliver = { channel: "webhook", account: "shop", chat: "c1" };
  const { id } = await instance.rpc("schedule.add", { name: "told", every: "1 day", prompt: "say:hello", deliver });
  await instance.rpc("schedule.run", { id });
  const kinds = async () => (await list()).items.map((one) => one.kind);
  await expect.poll(kinds, { timeout: 20_000 }).toContain("delivery");
  const delivery = (await list()).items.find((one) => one.kind === "delivery")!;
  expect(delivery).toMatchObject({
    dismissible: true,
    text: expect.stringMatching(/^A message to webhook\/shop was not/),
  });
  await instance.rpc("config.set", { path: "web.privateHosts", value: [`127.0.0.1:${port}`] });
  const feed = { kind: "feed", url: `${url}feed.xml`, prompt: "new" };
  await instance.rpc("config.set", { path: "watch.feed", value: feed });
  await expect.poll(kinds, { timeout: 20_000 }).toContain("watch");
  const watch = (await list()).items.find((one) => one.kind === "watch")!;
  expect(watch).toMatchObject({ dismissible: false, text: expect.stringMatching(/^feed cannot be watched: /) });
  refusing.close();
});

test("turns that one budget declines are one thing with a count, and are dismissed together (ATTENTION-2)", async () => {
  // Some that other tests left stay.
  const { total: left } = await instance.rpc("attention.dismiss", { all: true });
  await instance.rpc("config.set", { path: "budgets.perDay", value: { tokens: 1 } });
  const reasons = new Set<string>();
  for (let i = 0; i < 4; i++) {
    const { turn } = await say(`say:${"more words ".repeat(40 * i)}`, `poor-${i}`);
    const { state, reason } = await instance.rpc("turns.get", { turn });
    expect(state).toBe("declined");
    reasons.add(reason!);
  }
  expect(reasons.size).toBe(4);
  const { items: all, total: listed } = await list();
  const items = all.filter((one) => one.dismissible);
  expect(items).toMatchObject([{ kind: "turn", state: "declined", failure: "budget", count: 4 }]);
  expect([listed, await total()]).toEqual([left + 1, left + 1]);
  expect(items[0]!.text).toMatch(/raise budgets\.perDay\.tokens\. 4 turns ended like this\.$/);
  expect(await instance.rpc("attention.dismiss", { ids: [items[0]!.id] })).toEqual({ dismissed: 1, total: left });
  await instance.restart();
  expect((await list()).items.filter((one) => one.dismissible)).toEqual([]);
  await instance.rpc("config.set", { path: "budgets.perDay" });
});
