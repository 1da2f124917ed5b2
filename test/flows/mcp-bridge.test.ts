/** `lares mcp serve`: a program starts it, speaks MCP on its pipes, and never notices that the gateway restarted. */
import { spawn } from "node:child_process";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Lares, PROGRAM, startLares, startModel, until } from "../support/index.ts";
import { ERAS, type Era, openMcpBridge } from "../support/mcp-client.ts";

async function start() {
  const model = await startModel();
  const lares = await startLares({ env: model.env });
  onTestFinished(async () => {
    await lares.dispose();
    await model.close();
  });
  return { lares, model };
}

async function open(lares: Lares, era: Era) {
  const scopes = ["read", "write"] as const;
  const { token } = await lares.rpc("tokens.create", { name: "an editor", scopes: [...scopes] });
  const mcp = await openMcpBridge({ home: lares.home, token }, era);
  onTestFinished(() => mcp.close().catch(() => {}));
  return mcp;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe.each(ERAS)("%s era", (era) => {
  it("asks over stdio, and a gateway killed in the middle is not noticed: one message, one answer (CLI-8)", async () => {
    const { lares } = await start();
    const mcp = await open(lares, era);
    expect(mcp.client.getProtocolEra()).toBe(era);
    expect(await mcp.names()).toContain("ask");
    const asked = mcp.call("ask", { message: "delay:1500 say:still here" });
    const turns = async () => (await lares.rpc("turns.list", {})).turns;
    await until("the message to be taken", async () => (await turns()).length === 1);
    await lares.restart();
    expect((await asked).text).toBe("still here");
    expect(await turns()).toHaveLength(1);
    expect((await mcp.call("ask", { message: "say:second" })).text).toBe("second");
    await mcp.close();
    await until("the bridge to end", () => !isAlive(mcp.pid));
  });

  it("what a client follows is followed again after a restart (CLI-8)", async () => {
    const { lares } = await start();
    const mcp = await open(lares, era);
    const changed: string[] = [];
    mcp.client.setNotificationHandler("notifications/resources/updated", ({ params }) => void changed.push(params.uri));
    const uri = "lares://approvals";
    if (era === "legacy") await mcp.client.subscribeResource({ uri });
    else await mcp.client.listen({ resourceSubscriptions: [uri] });
    await lares.restart();
    await until("a look at what may have changed", () => changed.includes(uri));
    changed.length = 0;
    await mcp.call("ask", { message: 'tool:exec {"command":"touch made"} then: say:done', wait: 0 });
    await until("a notification", () => changed.includes(uri));
    expect((await mcp.read(uri)).approvals).toHaveLength(1);
  });
});

it("without a gateway it says so at once; a line that is no JSON is answered, not fatal", async () => {
  const { lares } = await start();
  const run = (home: string) =>
    spawn(process.execPath, [PROGRAM, "mcp", "serve", "--home", home], {
      env: { PATH: process.env.PATH, HOME: home, LARES_TOKEN: lares.token },
      stdio: ["pipe", "pipe", "pipe"],
    });
  const bridge = run(lares.home);
  const said = new Promise<string>((resolve) => bridge.stdout.once("data", (chunk: Buffer) => resolve(String(chunk))));
  bridge.stdin.write("{nonsense\n");
  expect(JSON.parse(await said)).toMatchObject({ id: null, error: { code: -32_700 } });
  bridge.stdin.end();
  expect(await new Promise((resolve) => bridge.once("close", resolve))).toBe(0);
  await lares.stop();
  const alone = run(lares.home);
  let complaint = "";
  alone.stderr.on("data", (chunk: Buffer) => (complaint += String(chunk)));
  expect(await new Promise((resolve) => alone.once("close", resolve))).toBe(3);
  expect(complaint).toContain("gateway");
});
