/** What a program may see when it is started: the folders that its definition names, and a reason where the sandbox hides one. */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { needs, startLares, startModel } from "../support/index.ts";
import { callTool, forecast, MCP_SERVER, searchTools } from "../support/mcp.ts";
import { scratch } from "../support/scratch.ts";
import { until } from "../support/until.ts";

async function start(sky: object) {
  const model = await startModel();
  const lares = await startLares({
    env: model.env,
    config: { policy: { allow: { mcp: ["sky/*"] } }, mcp: { servers: { sky } } },
  });
  onTestFinished(async () => {
    await lares.dispose();
    await model.close();
  });
  return { lares, model };
}

/** A modern server that asks for the roots before it answers. */
function askingForRoots(...more: string[]) {
  const dir = scratch("roots");
  const [script, log] = [join(dir, "script.json"), join(dir, "log")];
  const asks = { forecast: { requests: { r: { method: "roots/list" } }, state: "s" } };
  writeFileSync(script, JSON.stringify({ tools: [forecast], era: "modern", asks, log }));
  return { log, sky: { command: process.execPath, args: [MCP_SERVER, script, ...more], sandbox: false } };
}

it.each([
  ["the folders its arguments name, and nothing else", [scratch("docs")]],
  ["the workspace, when they name none", []],
])("a server gets as roots: %s", async (_, folders) => {
  const { log, sky } = askingForRoots(...folders);
  const at = await start(sky);
  await at.lares.chat("ana", `${searchTools} then: say:ok`);
  await at.lares.chat("ana", `${callTool({ city: "Rome" })} then: say:done`);
  const [, roots = ""] = /went on forecast (.*) s$/m.exec(readFileSync(log, "utf8")) ?? [];
  const wanted = folders.length > 0 ? folders : [at.lares.workspace("main")];
  expect(JSON.parse(roots).r.roots.map(({ uri }: { uri: string }) => uri)).toEqual(
    wanted.map((one) => `file://${one}`),
  );
});

const canShut = needs("bwrap", "what a server's sandbox hides, and its network");

describe.skipIf(!canShut)("in the sandbox", () => {
  it("a script beside the home of Lares starts, although its folder can't be shown", async () => {
    const at = await start({ command: process.execPath, args: ["nothing"], startSeconds: 20 });
    const beside = dirname(at.lares.home);
    const script = join(beside, `server-${process.pid}.mjs`);
    onTestFinished(() => rmSync(script));
    copyFileSync(MCP_SERVER, script);
    const plan = join(at.lares.workspace("main"), "script.json");
    mkdirSync(dirname(plan), { recursive: true });
    writeFileSync(plan, JSON.stringify({ tools: [forecast] }));
    await at.lares.rpc("config.set", { path: "mcp.servers.sky.args", value: [script, plan] });
    expect(await at.lares.rpc("mcp.test", { name: "sky" })).toMatchObject({ ok: true, tools: 1 });
  });

  it.skipIf(!canShut)(
    "one that needs more of that folder fails with the path that is hidden, why, and the way out",
    async () => {
      const at = await start({ command: process.execPath, args: ["nothing"], startSeconds: 20 });
      const beside = dirname(at.lares.home);
      const script = join(beside, `needs-${process.pid}.mjs`);
      writeFileSync(script, `import "./missing-${process.pid}.mjs";`);
      const missing = join(beside, `missing-${process.pid}.mjs`);
      writeFileSync(missing, "process.exit(0)");
      onTestFinished(() => {
        for (const file of [script, missing]) rmSync(file);
      });
      await at.lares.rpc("config.set", { path: "mcp.servers.sky.args", value: [script] });
      const { ok, why } = await at.lares.rpc("mcp.test", { name: "sky" });
      expect(ok).toBe(false);
      expect(why).toContain(`The sandbox shows it only ${script}, because the folder ${beside} `);
      expect(why).toMatch(/Move it to a separate folder, or .*: mcp\.servers\.sky\.sandbox: false$/);
      expect((await at.lares.rpc("mcp.list", {})).servers[0]).toMatchObject({ state: "failed", why });
    },
  );

  it("a program that is named by its path is shown with its project", async () => {
    const dir = scratch("project");
    const script = join(dir, "run.mjs");
    writeFileSync(script, `#!${process.execPath}\nimport "./server.mjs";\n`, { mode: 0o755 });
    copyFileSync(MCP_SERVER, join(dir, "server.mjs"));
    const plan = join(scratch("plan"), "script.json");
    writeFileSync(plan, JSON.stringify({ tools: [forecast] }));
    const at = await start({ command: script, args: [plan], startSeconds: 20 });
    expect(await at.lares.rpc("mcp.test", { name: "sky" })).toMatchObject({ ok: true });
  });
});

describe.skipIf(!canShut)("the network in the sandbox (MCP-30)", () => {
  /** A server that says whether it reached a port of this machine. */
  async function reaching(more: object) {
    const open = createServer((socket) => socket.end()).listen(0, "127.0.0.1");
    onTestFinished(() => void open.close());
    await until("a port", () => open.address() !== null);
    const { port } = open.address() as AddressInfo;
    const dir = scratch("reaching");
    const [script, plan] = [join(dir, "reach.mjs"), join(dir, "script.json")];
    copyFileSync(MCP_SERVER, join(dir, "server.mjs"));
    writeFileSync(plan, JSON.stringify({ tools: [forecast] }));
    const reach = `await new Promise((done) => connect(${port}, "127.0.0.1", () => done(console.error("reached")))`;
    const failed = `.on("error", ({ code }) => done(console.error(code))));`;
    writeFileSync(script, `import { connect } from "node:net";\n${reach}${failed}\nawait import("./server.mjs");\n`);
    const { lares } = await start({ command: process.execPath, args: [script, plan], startSeconds: 20, ...more });
    const { complaints } = await lares.rpc("mcp.test", { name: "sky" });
    return complaints.join(" ");
  }

  it.each([
    ["open unless its definition says otherwise", {}, "reached"],
    ["open where its definition says so", { network: true }, "reached"],
    ["closed where its definition says so", { network: false }, "ECONNREFUSED"],
  ])("is %s, whatever commands may do", async (_, more, said) => {
    expect(await reaching(more)).toContain(said);
  });
});
