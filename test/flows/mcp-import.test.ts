/** Servers of other programs and of repositories: shown first, added with a yes to exactly what was shown, never started by it. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { PROGRAM, startLares, startModel } from "../support/index.ts";
import { callTool, searchTools } from "../support/mcp.ts";
import { scratch } from "../support/scratch.ts";

/** `files`: below the user's home. */
async function start(files: Record<string, string | object> = {}) {
  const home = scratch("user");
  for (const [path, content] of Object.entries(files)) write(join(home, path), content);
  const model = await startModel();
  const lares = await startLares({ env: { ...model.env, HOME: home } });
  onTestFinished(async () => {
    await lares.dispose();
    await model.close();
  });
  const look = async (file?: string) => (await lares.rpc("mcp.import", file === undefined ? {} : { file })).items;
  return { lares, home, look };
}

function write(path: string, content: string | object): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
}

const server = (...args: string[]) => ({ command: "/usr/bin/touch", args });

it("a repository's own .mcp.json starts nothing, and a yes is good for exactly the command that was shown (MC-13, MCP-18)", async () => {
  const at = await start();
  const [proof, other] = [join(at.home, "proof"), join(at.home, "other")];
  const workspace = at.lares.workspace("main");
  const files = [".mcp.json", "mcp.json", ".cursor/mcp.json"].map((name) => join(workspace, name));
  for (const file of files) write(file, { mcpServers: { evil: server(proof) } });
  // Nothing happens by itself: not at a start, not when an agent works there or asks for such a tool.
  for (const text of [searchTools, 'tool:list {"path":"."}', callTool({}, "evil__x")])
    await at.lares.chat("ana", `${text} then: say:done`);
  await at.lares.restart();
  expect((await at.lares.rpc("mcp.list", {})).servers).toEqual([]);
  const [shown] = await at.look();
  expect(shown).toMatchObject({
    name: "evil",
    product: "a repository",
    state: "new",
    target: `/usr/bin/touch ${proof}`,
  });
  // The file changes between the look and the yes.
  write(files[0]!, { mcpServers: { evil: server(other) } });
  const late = await at.lares.rpc("mcp.import", { yes: [shown!.id] });
  expect(late).toMatchObject({ added: [], notes: [expect.stringContaining("changed since you looked")] });
  expect((await at.lares.rpc("mcp.list", {})).servers).toEqual([]);
  // A yes to what it says now adds a copy and starts nothing.
  write(files[0]!, { mcpServers: { evil: server(proof) } });
  expect((await at.lares.rpc("mcp.import", { yes: [shown!.id] })).added).toEqual(["evil"]);
  expect(existsSync(proof)).toBe(false);
  expect((await at.look())[0]).toMatchObject({ state: "there already" });
  // What the file says later changes nothing that was agreed to, and asks again.
  for (const change of [server(other), { ...server(proof), env: { MODE: "new" } }, { ...server(proof), cwd: "/tmp" }]) {
    write(files[0]!, { mcpServers: { evil: change } });
    const [changed] = await at.look();
    expect(changed).toMatchObject({ state: "changed" });
    expect(changed!.id).not.toBe(shown!.id);
    expect((await at.lares.rpc("mcp.list", {})).servers[0]!.target).toBe(`/usr/bin/touch ${proof}`);
  }
  expect([existsSync(proof), existsSync(other)]).toEqual([false, false]);
});

it("finds the servers of the programs on this machine, moves their keys into the vault, and leaves their files alone", async () => {
  const secret = "sk-very-secret-0123456789";
  const claude = {
    numStartups: 7,
    mcpServers: { docs: server("a") },
    projects: { "/p": { mcpServers: { p: server("b") } } },
  };
  const files = {
    ".config/Claude/claude_desktop_config.json": {
      mcpServers: { gh: { ...server("c"), env: { GITHUB_TOKEN: secret } } },
    },
    ".claude.json": claude,
    ".cursor/mcp.json": { mcpServers: { old: { type: "sse", url: "https://old.example/sse" } } },
    ".config/Code/User/mcp.json": "{ // mine\n servers: { code: { command: '/usr/bin/touch', args: ['d'], } } }",
    ".openclaw/openclaw.json": { mcp: { servers: { claw: { url: "https://claw.example/mcp" } } } },
    ".hermes/config.yaml": "model: x\nmcp_servers:\n  wings:\n    command: /usr/bin/touch\n    args: [e]\n",
  };
  const at = await start(files);
  const items = await at.look();
  expect(items.map(({ name, product, state }) => [name, product, state])).toEqual([
    ["gh", "Claude Desktop", "new"],
    ["p", "Claude Code", "new"],
    ["docs", "Claude Code", "new"],
    ["old", "Cursor", "left out"],
    ["code", "VS Code", "new"],
    ["claw", "OpenClaw", "new"],
    ["wings", "Hermes", "new"],
  ]);
  expect(JSON.stringify(items)).not.toContain(secret);
  expect(items[0]!.gets).toEqual(["GITHUB_TOKEN"]);
  const before = Object.keys(files).map((name) => readFileSync(join(at.home, name), "utf8"));
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [PROGRAM, "mcp", "import", ...args, "--home", at.lares.home], {
      encoding: "utf8",
      env: { PATH: process.env.PATH ?? "", HOME: at.home, LARES_TOKEN: at.lares.token },
    });
  const refused = run();
  expect(refused.status).toBe(2);
  expect(refused.stdout).toContain("+ code  /usr/bin/touch d");
  expect((await at.lares.rpc("mcp.list", {})).servers).toEqual([]);
  expect(run("--only", "gh", "--yes").stdout).toContain("Added gh");
  expect(run("--yes").status).toBe(0);
  expect((await at.lares.rpc("mcp.list", {})).servers.map(({ name }) => name).sort()).toEqual([
    "claw",
    "code",
    "docs",
    "gh",
    "p",
    "wings",
  ]);
  const yaml = readFileSync(join(at.lares.home, "lares.yaml"), "utf8");
  expect(yaml).toContain("vault:MCP_GH_GITHUB_TOKEN");
  expect(yaml).not.toContain(secret);
  // A second run finds the same definitions, keys included.
  expect(run("--yes").stdout).toContain("Nothing to add.");
  expect(Object.keys(files).map((name) => readFileSync(join(at.home, name), "utf8"))).toEqual(before);
});

it("files that are no settings are named with the reason and read no further", async () => {
  const at = await start();
  const workspace = at.lares.workspace("main");
  write(join(at.home, "secret.json"), { mcpServers: { leak: server("x") } });
  symlinkSync(join(at.home, "secret.json"), join(workspace, ".mcp.json"));
  write(join(workspace, ".cursor/mcp.json"), "[".repeat(100_000));
  spawnSync("mkfifo", [join(workspace, "pipe.json")]);
  const items = await at.look();
  expect(items.map(({ state }) => state)).toEqual(["left out", "left out"]);
  expect(await at.look(join(workspace, "pipe.json"))).toMatchObject([{ state: "left out" }]);
  await expect(at.look(join(workspace, "none.json"))).rejects.toThrow("There is no file or folder");
  expect(JSON.stringify(items)).not.toContain("touch");
});
