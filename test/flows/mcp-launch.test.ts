/** What a program may see when it is started: the folders that its definition names, and a reason where the sandbox hides one. */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { startLares, startModel } from "../support/index.ts";
import { callTool, forecast, MCP_SERVER, searchTools } from "../support/mcp.ts";
import { needs } from "../support/not-run.ts";
import { scratch } from "../support/scratch.ts";

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

describe.skipIf(!needs("bwrap", "what the sandbox shows to an MCP server"))("in the sandbox", () => {
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

  it("one that needs more of that folder fails with the path that is hidden, why, and the way out", async () => {
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
  });

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
