/** An agent whose body is a daemon: the built program drives the fake of OpenClaw's gateway (test/fakes/openclaw), which outlives it. */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startFakeGateway } from "../fakes/openclaw/gateway.ts";
import { scratch, startLares, until } from "../support/index.ts";

async function start() {
  const work = scratch("openclaw-work");
  const userHome = scratch("openclaw-user");
  const gateway = await startFakeGateway(work);
  onTestFinished(() => gateway.close());
  mkdirSync(join(userHome, ".openclaw"));
  const settings = { gateway: { port: gateway.port, auth: { token: gateway.token } } };
  writeFileSync(join(userHome, ".openclaw", "openclaw.json"), JSON.stringify(settings));
  const lares = await startLares({
    config: { gateway: { http: { wait: 3 } }, agents: { main: { runtime: "openclaw" } } },
    env: { HOME: userHome },
  });
  onTestFinished(() => lares.dispose());
  const marks = (mark: string) => readdirSync(work).filter((name) => name.startsWith(`mark.${mark}.`)).length;
  const sends = () => gateway.asked.filter(({ method }) => method === "chat.send").map(({ params }) => params);
  return { lares, gateway, marks, sends };
}

const act = (mark: string, words: string) =>
  `tool:exec {"command":"mktemp -p . mark.${mark}.XXXXXX"} then: say:${words}`;

test("a daemon answers in a chat, goes on with its conversation, and no connection is left", async () => {
  const { lares, gateway, sends } = await start();
  expect(await lares.chat("ana", "say:Good morning")).toMatchObject({ state: "answered", response: "Good morning" });
  expect(await lares.chat("ana", "say:And again")).toMatchObject({ response: "And again" });
  expect(new Set(sends().map(({ sessionKey }) => sessionKey)).size).toBe(1);
  const created = gateway.asked.filter(({ method }) => method === "sessions.create");
  expect(created).toHaveLength(1);
  await until("no connection", () => gateway.connections() === 0);
});

test("RUNS-5: kill -9 while it asks: the run is taken up as it is, the yes reaches it, and it acts once", async () => {
  const { lares, marks, sends } = await start();
  const parked = await lares.chat("ana", act("kept", "done"));
  expect(parked).toMatchObject({ state: "parked", approval: { tool: "exec" } });
  await lares.restart();
  expect(marks("kept")).toBe(0);
  await lares.rpc("approvals.resolve", { id: parked.approval!.id, decision: "allow-once" });
  expect(await lares.rpc("chat.wait", { turn: parked.turn })).toMatchObject({ state: "answered", response: "done" });
  expect(marks("kept")).toBe(1);
  expect(sends()).toHaveLength(1);
});

test("RUNS-5: kill -9 after it read something from outside: the run is taken up all the same", async () => {
  const { lares, marks, sends } = await start();
  await lares.restart({ LARES_CRASH_AT: 'run.recorded~"tool_result"' });
  const parked = await lares.chat("ana", act("read", "done"));
  await lares.rpc("approvals.resolve", { id: parked.approval!.id, decision: "allow-once" });
  await lares.gone;
  await lares.start();
  expect(await lares.rpc("chat.wait", { turn: parked.turn })).toMatchObject({ state: "answered", response: "done" });
  expect([marks("read"), sends().length]).toEqual([1, 1]);
});

test("RUNS-5: kill -9 while it works: what it says meanwhile is the answer, and nothing was said to it twice", async () => {
  const { lares, gateway, sends } = await start();
  const parked = await lares.chat("ana", act("worked", "all by itself"));
  await lares.kill9();
  const { id } = gateway.approvals()[0]!;
  gateway.answer(String(id), "allow-once");
  await until("its end", () => gateway.working() === 0);
  await lares.start();
  await lares.rpc("approvals.resolve", { id: parked.approval!.id, decision: "allow-once" });
  expect(await lares.rpc("chat.wait", { turn: parked.turn })).toMatchObject({ response: "all by itself" });
  expect(sends()).toHaveLength(1);
});
