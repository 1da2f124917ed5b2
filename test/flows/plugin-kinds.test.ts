/** What a plugin can be beside tools and hooks: commands, a channel, a model and a watcher, each with a right that is shown before the yes. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { until, userTexts } from "../support/index.ts";
import { makePlugin, startPlugins } from "../support/plugin.ts";
import { scratch } from "../support/scratch.ts";

const DROPBOX = fileURLToPath(new URL("../../examples/plugin/dropbox", import.meta.url));

async function startDropbox(more: object = {}) {
  const account = { plugin: "dropbox", owners: ["owner"], dialect: "raw" };
  const world = await startPlugins({ channels: { external: { drop: account } }, ...more });
  const at = (folder: string) => join(world.lares.home, "plugins/data/dropbox", folder);
  const put = (name: string, text: string) => {
    mkdirSync(at("in"), { recursive: true });
    // In one step, as a program would that knows somebody is reading.
    writeFileSync(join(at("in"), `.${name}`), text);
    renameSync(join(at("in"), `.${name}`), join(at("in"), `${name}.txt`));
  };
  const files = (folder: string) =>
    existsSync(at(folder)) ? readdirSync(at(folder)).filter((name) => !name.startsWith(".")) : [];
  const answers = () => files("out").map((name) => readFileSync(join(at("out"), name), "utf8"));
  const status = async () =>
    (await world.lares.rpc("channels.list", {})).channels.find(({ account: name }) => name === "drop");
  return { ...world, put, files, answers, status };
}

it("examples/plugin/dropbox: a channel of a plugin passes messages both ways, and its right is shown before the yes (EXTERNAL-4)", async () => {
  const { lares, install, put, answers, files, model } = await startDropbox();
  const { rights } = await lares.rpc("plugins.stage", { from: DROPBOX });
  expect(rights).toEqual([
    expect.stringMatching(/^run node /),
    "add the command /dropbox:note",
    "pass on messages as a channel, for accounts that you connect to it",
  ]);
  await install(DROPBOX);
  put("one", "say:hello from the folder");
  await until("the answer", () => answers().includes("hello from the folder"));
  await until("the file to be taken", () => files("in").length === 0);
  expect(model.requests).toHaveLength(1);
});

it("a channel of a plugin loses nothing and doubles nothing over kill -9 (EXTERNAL-1, EXTERNAL-2)", async () => {
  const { lares, install, put, answers, files } = await startDropbox();
  await install(DROPBOX);
  put("one", "say:first");
  await until("the first answer", () => answers().length === 1);
  await lares.kill9();
  for (const name of ["two", "three"]) put(name, `say:${name}`);
  await lares.start();
  await until("all answers", () => answers().length === 3, { withinMs: 30_000 });
  await until("the files to be taken", () => files("in").length === 0);
  expect(answers().sort()).toEqual(["first", "three", "two"]);
});

it("a plugin without the right isn't asked to be a channel, and the account says why", async () => {
  const { install, lares } = await startPlugins({
    channels: { external: { drop: { plugin: "sky", owners: ["owner"] }, gone: { plugin: "rain", owners: ["owner"] } } },
  });
  await install(makePlugin("sky"));
  const detail = async (name: string) =>
    (await lares.rpc("channels.list", {})).channels.find(({ account }) => account === name)?.detail;
  await until("the reason", async () => (await detail("drop"))?.includes('wasn\'t granted the right "channel"'), {
    withinMs: 20_000,
  });
  expect(await detail("gone")).toContain('There is no plugin "rain"');
  await expect(
    lares.rpc("config.set", { path: "channels.external.both", value: { plugin: "sky", token: "0123456789abcdef" } }),
  ).rejects.toThrow("either a token or a plugin");
});

it("a plugin adds the commands it was granted and no others; their text is the agent's to read", async () => {
  const { lares, install, model } = await startPlugins({
    plugins: { config: { sky: { prompts: ["standup", "secret"] } } },
  });
  const { rights } = await lares.rpc("plugins.stage", {
    from: makePlugin("rain", { rights: { tools: [], commands: ["standup"] } }),
  });
  expect(rights).toContain("add the command /rain:standup");
  await install(makePlugin("sky", { rights: { tools: ["act"], commands: ["standup"] } }));
  await lares.chat("ana", "/sky:standup");
  expect(userTexts(model.requests.at(-1)!).join("\n")).toContain("This is standup.");
  const { response } = await lares.chat("ana", "/help");
  expect(response).toContain("/sky:standup");
  expect(response).not.toContain("secret");
  const asked = model.requests.length;
  await lares.chat("ana", "/sky:secret");
  expect(
    model.requests
      .slice(asked)
      .map(({ raw }) => raw)
      .join(),
  ).not.toContain("This is secret.");
});

const PARROT = fileURLToPath(new URL("../../examples/plugin/parrot", import.meta.url));

it("examples/plugin/parrot: a plugin answers as a model, over a socket in its data folder and without the network (PLUGINS-10)", async () => {
  const { lares, install, model } = await startPlugins({
    models: { providers: { polly: { plugin: "parrot", models: { one: { contextWindow: 32_000 } } } } },
  });
  const { rights } = await lares.rpc("plugins.stage", { from: PARROT });
  expect(rights).toContain(
    "answer as a model, and read the conversations it answers, for providers that you connect to it",
  );
  await install(PARROT);
  await lares.rpc("config.set", { path: "agents.main.model", value: "polly/one" });
  expect((await lares.chat("ana", "Pieces of eight!")).response).toContain("Pieces of eight!");
  expect(model.requests).toEqual([]);
  // Its process is gone with the kill; the next call starts it again, over the socket that the old one left.
  await lares.kill9();
  await lares.start();
  expect((await lares.chat("ana", "Again, again!")).response).toContain("Again, again!");
});

it("PL-07: a plugin that is no model, or whose socket is a link to another program's, is not asked (PLUGINS-10)", async () => {
  const { lares, install } = await startPlugins({
    models: { patienceMs: 0, providers: { sky: { plugin: "sky", models: { one: {} } } } },
    agents: { main: { model: "sky/one" } },
  });
  const heard: string[] = [];
  const other = createServer((request, response) => {
    heard.push(request.url ?? "");
    response.end("{}");
  });
  const place = join(scratch("other"), "other.sock");
  await new Promise<void>((resolve) => other.listen(place, resolve));
  onTestFinished(() => void other.close());
  await install(makePlugin("sky"));
  const failed = async () => (await lares.rpc("turns.get", { turn: (await lares.chat("ana", "say:hi")).turn! })).state;
  expect(await failed()).toBe("failed");
  await lares.rpc("plugins.remove", { name: "sky" });
  await install(makePlugin("sky", { rights: { model: true } }));
  mkdirSync(join(lares.home, "plugins/data/sky"), { recursive: true });
  symlinkSync(place, join(lares.home, "plugins/data/sky/model.sock"));
  expect(await failed()).toBe("failed");
  expect(heard).toEqual([]);
});

const DISK = fileURLToPath(new URL("../../examples/plugin/disk", import.meta.url));

it("examples/plugin/disk: what a plugin finds wakes the agent, once; the first look wakes nobody, and its right is shown", async () => {
  const { lares, install, model } = await startPlugins({
    plugins: { config: { disk: { freeMb: 0 } } },
    watch: { space: { kind: "plugin", plugin: "disk", about: "/", everySeconds: 0.3, prompt: "say:I will clean up" } },
  });
  const { rights } = await lares.rpc("plugins.stage", { from: DISK });
  expect(rights).toContain("look at something and wake agents, for watches that you set up with it");
  await install(DISK);
  const looked = async () => (await lares.rpc("wakes.list", {})).wakes.find(({ kind }) => kind === "watch");
  // The looks before it was installed failed.
  const isGood = async () => {
    const now = await looked();
    return now?.lastAt !== undefined && now.problem === undefined;
  };
  await until("a good look", isGood, { withinMs: 30_000, instead: looked });
  expect(model.requests).toEqual([]);
  // Now any amount is too little.
  await lares.rpc("config.set", { path: "plugins.config.disk.freeMb", value: 1e12 });
  await until("the agent to be woken", () => model.requests.length > 0, { withinMs: 30_000, instead: looked });
  expect(userTexts(model.requests[0]!).join("\n")).toMatch(/MB are free on \//);
  const turns = async (open: boolean) => (await lares.rpc("turns.list", { open })).turns.length;
  await until("its turn to end", async () => (await turns(true)) === 0);
  const woken = await turns(false);
  await lares.kill9();
  await lares.start();
  const before = (await looked())?.lastAt;
  await until("another look", async () => (await looked())?.lastAt !== before, { withinMs: 30_000, instead: looked });
  expect(await turns(false)).toBe(woken);
});
