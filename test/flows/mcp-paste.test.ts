/** Definitions as other programs write them: placeholders, comments, empty lists, files that aren't there. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { PROGRAM, type RpcFailed, startLares } from "../support/index.ts";
import { forecast, MCP_SERVER } from "../support/mcp.ts";
import { scratch } from "../support/scratch.ts";

async function start() {
  const lares = await startLares();
  onTestFinished(() => lares.dispose());
  const run = (...args: string[]) => {
    const env = { PATH: process.env.PATH ?? "", HOME: lares.home, LARES_TOKEN: lares.token, NO_COLOR: "1" };
    const done = spawnSync(process.execPath, [PROGRAM, "mcp", ...args, "--home", lares.home], {
      env,
      encoding: "utf8",
    });
    return { code: done.status, text: done.stdout + done.stderr };
  };
  const add = (text: string | object) =>
    lares.rpc("mcp.add", { text: typeof text === "string" ? text : JSON.stringify(text) });
  const yaml = () => readFileSync(join(lares.home, "lares.yaml"), "utf8");
  return { lares, run, add, yaml };
}

/** A server that notes the variable SKY_KEY and its arguments behind the script. */
function scripted(...args: string[]) {
  const dir = scratch("paste");
  const [script, log] = [join(dir, "script.json"), join(dir, "log")];
  writeFileSync(script, JSON.stringify({ tools: [forecast], log }));
  return { log, command: process.execPath, args: [MCP_SERVER, script, ...args] };
}

it("a variable in a pasted definition comes from the vault, or the definition waits with the sentence which secret to set", async () => {
  const at = await start();
  const { log, command, args } = scripted("--token=${env:SKY_TOKEN}", "--at=${workspaceFolder}/x", "${REGION:-eu}");
  const text = { mcpServers: { sky: { command, args, env: { SKY_KEY: "${SKY_KEY}" } } } };
  const first = await at.add(text);
  expect(first).toMatchObject({ added: [], needs: [{ secret: "SKY_TOKEN" }, { secret: "SKY_KEY" }] });
  expect(first.refused[0]!.reason).toContain("lares secrets set SKY_TOKEN");
  await at.lares.rpc("secrets.set", { name: "SKY_TOKEN", value: "token-123456" });
  await at.lares.rpc("secrets.set", { name: "SKY_KEY", value: "key-123456" });
  expect(await at.add(text)).toMatchObject({ added: [{ name: "sky" }], needs: [] });
  expect(at.yaml()).toContain("vault:SKY_TOKEN");
  expect(at.yaml()).not.toMatch(/token-123456|key-123456|\$\{/);
  await at.lares.rpc("config.set", { path: "mcp.servers.sky.sandbox", value: false });
  expect(await at.lares.rpc("mcp.test", { name: "sky" })).toMatchObject({ ok: true });
  const workspace = at.lares.workspace("main");
  expect(readFileSync(log, "utf8")).toContain(`key key-123456 --token=token-123456 --at=${workspace}/x eu`);
});

it("what a definition asks the person (VS Code's inputs) is a secret of that server, named with what it is for", async () => {
  const at = await start();
  const text = {
    inputs: [{ type: "promptString", id: "gh-token", description: "GitHub token", password: true }],
    servers: {
      gh: { type: "http", url: "https://gh.example/mcp", headers: { Authorization: "Bearer ${input:gh-token}" } },
    },
  };
  const { refused, needs } = await at.add(text);
  expect(needs).toEqual([{ secret: "MCP_GH_GH_TOKEN", about: "GitHub token" }]);
  expect(refused[0]!.reason).toBe(
    'it needs MCP_GH_GH_TOKEN ("GitHub token"), and the vault doesn\'t have that: lares secrets set MCP_GH_GH_TOKEN',
  );
  await at.lares.rpc("secrets.set", { name: "MCP_GH_GH_TOKEN", value: "ghp-123456" });
  expect(await at.add(text)).toMatchObject({ added: [{ name: "gh" }] });
  expect(at.yaml()).toContain("Bearer vault:MCP_GH_GH_TOKEN");
});

it("what can't be filled in is refused and named, never passed on as it stands", async () => {
  const at = await start();
  const { refused } = await at.add({ mcpServers: { a: { command: "x", args: ["${command:pick}"] } } });
  expect(refused).toEqual([{ name: "a", reason: 'it has "${command:pick}" in it, which Lares can\'t fill in' }]);
});

it("a file that is imported shows which secrets of the vault it takes, and waits where one isn't there", async () => {
  const at = await start();
  const file = join(scratch("import"), "mcp.json");
  writeFileSync(file, JSON.stringify({ mcpServers: { sky: { command: "x", env: { KEY: "${GITHUB_TOKEN}" } } } }));
  const look = async () => (await at.lares.rpc("mcp.import", { file })).items;
  expect(await look()).toMatchObject([
    {
      state: "left out",
      why: expect.stringContaining("lares secrets set GITHUB_TOKEN"),
      needs: [{ secret: "GITHUB_TOKEN" }],
    },
  ]);
  await at.lares.rpc("secrets.set", { name: "GITHUB_TOKEN", value: "ghp-123456" });
  const [item] = await look();
  expect(item).toMatchObject({ state: "new", gets: ["KEY (from the vault: GITHUB_TOKEN)"] });
  await at.lares.rpc("mcp.import", { file, yes: [item!.id] });
  expect((await look())[0]).toMatchObject({ state: "there already" });
});

it("comments and commas too many are read over, in a paste and in files", async () => {
  const at = await start();
  const text = '{ // mine\n "mcpServers": { /* two */ "sky": { "command": "x", "args": ["a",], }, }, }';
  expect(await at.add(text)).toMatchObject({ added: [{ name: "sky" }] });
  await expect(at.add("mcpServers sky")).rejects.toThrow("This isn't JSON");
});

it.each([
  ["{}", /no server definitions in it/],
  ['{"mcpServers": {}}', /its list of servers is empty/],
  ['{"servers": {}, "inputs": []}', /its list of servers is empty/],
])("a paste or file with nothing in it (%s) is answered in a sentence", async (text, says) => {
  const at = await start();
  expect((await at.add(text)).refused).toMatchObject([{ reason: expect.stringMatching(says) }]);
  const file = join(scratch("empty"), "mcp.json");
  writeFileSync(file, text);
  expect(at.run("import", file).text).toMatch(says);
});

it("a file or folder that isn't there, or has no servers in it, is named; a folder with one is read", async () => {
  const at = await start();
  const dir = scratch("folder");
  expect(at.run("import", join(dir, "none"))).toMatchObject({
    code: 5,
    text: expect.stringContaining(`There is no file or folder ${join(dir, "none")}.`),
  });
  const nothing = await at.lares.rpc("mcp.import", { file: dir }).catch(({ error }: RpcFailed) => error);
  expect(nothing).toMatchObject({ message: `There are no MCP servers in the folder ${dir}.` });
  mkdirSync(join(dir, ".vscode"));
  writeFileSync(join(dir, ".vscode", "mcp.json"), '{ "servers": { "sky": { "command": "x" } } }');
  expect((await at.lares.rpc("mcp.import", { file: dir })).items).toMatchObject([{ name: "sky", state: "new" }]);
});

it("removing a server removes the secrets stored for it alone, and none that something else uses", async () => {
  const at = await start();
  const sky = {
    command: "x",
    args: ["--token=abc123456789"],
    env: { API_KEY: "def123456789", OTHER_TOKEN: "ghi123456789" },
  };
  const far = { url: "https://far.example/mcp", headers: { Authorization: "Bearer vault:MCP_SKY_OTHER_TOKEN" } };
  await at.add({ mcpServers: { sky } });
  await at.add({ mcpServers: { far } });
  await at.lares.rpc("secrets.set", { name: "MINE", value: "jkl123456789" });
  const names = async () => (await at.lares.rpc("secrets.list", {})).secrets.map(({ name }) => name).sort();
  expect(await names()).toEqual(["MCP_SKY_API_KEY", "MCP_SKY_OTHER_TOKEN", "MCP_SKY_TOKEN", "MINE"]);
  // A reference in the middle of a value is one, too.
  await expect(at.lares.rpc("secrets.remove", { name: "MCP_SKY_TOKEN" })).rejects.toThrow("lares.yaml refers to");
  expect(at.run("remove", "sky", "--yes").text).toContain("Removed from the vault: MCP_SKY_");
  expect(await names()).toEqual(["MCP_SKY_OTHER_TOKEN", "MINE"]);
  expect(await at.lares.rpc("mcp.remove", { name: "far" })).toEqual({ removed: true, secrets: [] });
});

it("a pinned name that is no tool of the server is reported, with the nearest one that is", async () => {
  const at = await start();
  const { command, args } = scripted();
  await at.add({ mcpServers: { sky: { command, args } } });
  await at.lares.rpc("config.set", { path: "mcp.servers.sky.sandbox", value: false });
  await at.lares.rpc("config.set", { path: "mcp.servers.sky.pin", value: ["forcast"] });
  const attention = async () => (await at.lares.rpc("attention.list", {})).items.map(({ text }) => text).join();
  expect(await attention()).toBe("");
  await at.lares.rpc("mcp.test", { name: "sky" });
  const says = "it is pinned (mcp.servers.sky.pin), and the server has no such tool; did you mean forecast?";
  expect(await attention()).toContain(says);
  expect(at.run("tools", "sky").text).toContain(`Can't be used: forcast: ${says}`);
});
