/** lares.yaml changes under the running program. */
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { bearer, openInstance, openScripted, Socket, type TestInstance } from "./support.ts";

let instance: TestInstance;
afterEach(() => instance.stop());
const file = () => join(instance.home, "lares.yaml");
const write = (text: string) => writeFileSync(file(), text);

test("a live section changes by itself; comments and the file stay as they are", async () => {
  instance = await openInstance({ config: "# my limits\nlimits:\n  modelCalls: 7\n" });
  const socket = new Socket(instance.app.url, bearer());
  await socket.event("hello");
  const text = "# my limits\nlimits:\n  modelCalls: 9 # more\n";
  write(text);
  expect((await socket.event("config.changed")).payload).toMatchObject({ changed: ["limits"] });
  socket.close();
  expect((await instance.rpc("config.get", { path: "limits.modelCalls" })).value).toBe(9);
  expect(readFileSync(file(), "utf8")).toBe(text);
  expect((await instance.rpc("status", {})).problems).toEqual([]);
});

test("asking for the settings gives what was just saved, and the gate judges by it from then on", async () => {
  instance = await openInstance({ config: "policy:\n  allow:\n    exec: []\n" });
  for (const [rules, verdict] of [
    ['["echo *"]', "allow"],
    ["[]", "ask"],
    ['["echo *"]', "allow"],
  ]) {
    write(`policy:\n  allow:\n    exec: ${rules}\n`);
    await instance.rpc("config.get", {});
    expect(await instance.rpc("policy.explain", { command: "echo a" })).toMatchObject({ verdict });
  }
});

test("a file replaced by rename is noticed, a removed one gives the defaults", async () => {
  instance = await openInstance({ config: "limits:\n  dollars: 1\n" });
  writeFileSync(`${file()}.new`, "limits:\n  dollars: 2\n");
  renameSync(`${file()}.new`, file());
  await instance.app.reload();
  expect((await instance.rpc("config.get", { path: "limits.dollars" })).value).toBe(2);
  rmSync(file());
  await instance.app.reload();
  expect((await instance.rpc("config.get", { path: "limits" })).value).toMatchObject({ dollars: 5 });
});

test("an invalid section keeps its last good values with line, caret and nearest key; the rest changes (SETTINGS-1)", async () => {
  instance = await openInstance({ config: "limits:\n  dollars: 1\noutbox:\n  expireAfterHours: 1\n" });
  const socket = new Socket(instance.app.url, bearer());
  await socket.event("hello");
  const text = "limits:\n  dolars: 2\noutbox:\n  expireAfterHours: 3\n";
  write(text);
  await instance.app.reload();
  const now = await instance.rpc("config.get", {});
  expect(now.value).toMatchObject({ limits: { dollars: 1 }, outbox: { expireAfterHours: 3 } });
  expect(now.quarantined).toEqual(["limits"]);
  expect(now.problems[0]).toMatchObject({ path: "limits.dolars", line: 2 });
  expect(now.problems[0]!.message).toContain("nearest: dollars");
  expect(now.problems[0]!.excerpt).toContain("^");
  expect((await instance.rpc("status", {})).problems[0]).toContain("The section limits keeps its last good values");
  expect((await socket.event("config.changed")).payload).toMatchObject({ changed: ["outbox"] });
  expect(instance.written.join("")).toContain("dolars");
  expect(readFileSync(file(), "utf8")).toBe(text);
  write("limits:\n  dollars: 4\n");
  await instance.app.reload();
  expect((await instance.rpc("status", {})).problems).toEqual([]);
  expect((await instance.rpc("config.get", { path: "limits.dollars" })).value).toBe(4);
  socket.close();
});

test("a file that is no YAML changes nothing and says where", async () => {
  instance = await openInstance({ config: "limits:\n  dollars: 1\n" });
  write("limits:\n  dollars: [1\npolicy: {");
  await instance.app.reload();
  expect((await instance.rpc("config.get", { path: "limits.dollars" })).value).toBe(1);
  const { problems } = await instance.rpc("status", {});
  expect(problems[0]).toMatch(/lares\.yaml line \d/);
  expect(await instance.rpc("config.check", {})).toMatchObject({ ok: false });
});

test("a section that cannot change under way says that it needs a restart, and gets it (SETTINGS-2)", async () => {
  instance = await openInstance({ config: "lanes:\n  interactive: 4\n" });
  write("lanes:\n  interactive: 5\ngateway:\n  hosts: [lares.example]\n  http:\n    maxBodyBytes: 70000\n");
  await instance.app.reload();
  const now = await instance.rpc("config.get", {});
  expect(now.restart).toEqual(["gateway", "lanes"]);
  expect(now.value).toMatchObject({ lanes: { interactive: 4 }, gateway: { http: { maxBodyBytes: 70000 }, hosts: [] } });
  expect((await instance.rpc("status", {})).problems.join()).toContain("needs a restart");
  expect(
    (await instance.ask("/rpc/health", { method: "POST", headers: bearer(), body: "x".repeat(70_100) })).status,
  ).toBe(413);
  await instance.restart();
  expect((await instance.rpc("config.get", { path: "lanes.interactive" })).value).toBe(5);
  expect((await instance.rpc("status", {})).problems).toEqual([]);
});

test("models can change under way", async () => {
  const scripted = await openScripted();
  instance = scripted;
  await instance.rpc("config.set", { path: "models.fallbacks", value: ["openai/second"] });
  expect((await instance.rpc("models.list", {})).models.map((m) => m.id)).toContain("openai/second");
  expect((await instance.rpc("chat.send", { message: "say:still here" })).response).toBe("still here");
});

test("config.set refuses what would not be valid and leaves the file alone; leaving the value out removes the key", async () => {
  instance = await openInstance({ config: "# top\nlimits:\n  dollars: 1 # each\n" });
  await expect(instance.rpc("config.set", { path: "limits.dollars", value: "much" })).rejects.toMatchObject({
    status: 400,
    code: "CONFIG_INVALID",
  });
  await expect(instance.rpc("config.set", { path: "limits.dolars", value: 2 })).rejects.toThrow(/nearest: dollars/);
  expect(readFileSync(file(), "utf8")).toBe("# top\nlimits:\n  dollars: 1 # each\n");
  expect(await instance.rpc("config.set", { path: "limits.dollars", value: 2 })).toMatchObject({
    changed: ["limits"],
    restart: [],
  });
  expect(readFileSync(file(), "utf8")).toBe("# top\nlimits:\n  dollars: 2 # each\n");
  await Promise.all(
    [1, 2, 3].map((n) => instance.rpc("config.set", { path: `agents.a${n}.model`, value: "practice/x" })),
  );
  const agents = (await instance.rpc("agents.list", {})).agents.map((a) => a.agent);
  expect(agents).toEqual(expect.arrayContaining(["a1", "a2", "a3", "main"]));
  await instance.rpc("config.set", { path: "limits.dollars" });
  expect((await instance.rpc("config.get", { path: "limits.dollars" })).value).toBe(5);
});
