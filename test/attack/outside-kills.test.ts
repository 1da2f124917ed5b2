/**
 * I13, the other side: whoever kills Lares from outside convicts nothing. The real program with turns that wait for the
 * workspace, for a model and for long commands; and a turn among them that does bring the process down by itself.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Lares, scratch, startModel, until } from "../support/index.ts";

let model: Awaited<ReturnType<typeof startModel>>;
beforeAll(async () => {
  model = await startModel();
});
afterAll(() => model?.close());

const LONG = "touch began; while [ ! -e go ]; do sleep 0.1; done; echo went on";
/** By user, in the order they are sent: the first has the workspace, and those that write wait for it. */
const CROWD: Record<string, string> = {
  long: `tool:exec ${JSON.stringify({ command: LONG, timeout_s: 120 })} then: say:long done`,
  write1: 'tool:write {"path":"1.txt","content":"1"} then: say:write1 done',
  write2: 'tool:write {"path":"2.txt","content":"2"} then: say:write2 done',
  write3: `tool:exec ${JSON.stringify({ command: "echo 3 > 3.txt", timeout_s: 60 })} then: say:write3 done`,
  model1: "delay:15000 say:model1 done",
  model2: "delay:15000 say:model2 done",
  model3: "delay:15000 say:model3 done",
  model4: "delay:15000 say:model4 done",
};
const POISON = 'tool:read {"path":"poison.txt"} then: say:never';

const inWorkspace = (lares: Lares, name: string) => join(lares.workspace("main"), name);

function send(lares: Lares, user: string, message: string): void {
  lares.chat(user, message, { key: user }).catch(() => {});
}

/** What is noted as running in this life. */
function running(lares: Lares): string[] {
  try {
    return readFileSync(join(lares.home, "in-flight"), "utf8")
      .split("\n")
      .slice(1)
      .filter((line) => line.includes('"turn:'));
  } catch {
    return [];
  }
}

async function sendAll(lares: Lares): Promise<void> {
  send(lares, "long", CROWD.long!);
  await until("the command to run", () => existsSync(inWorkspace(lares, "began")));
  for (const [user, message] of Object.entries(CROWD)) if (user !== "long") send(lares, user, message);
  await until("all to be taken", () => running(lares).length === Object.keys(CROWD).length);
}

async function outcome(lares: Lares, user: string, message: string) {
  return until(
    `the outcome of ${user}`,
    async () => {
      const answer = await lares.chat(user, message, { key: user });
      return answer.state === "answered" || answer.state === "failed" ? answer : undefined;
    },
    { withinMs: 60_000 },
  );
}

async function expectAllAnswered(lares: Lares): Promise<void> {
  writeFileSync(inWorkspace(lares, "go"), "");
  for (const [user, message] of Object.entries(CROWD)) {
    const { state, response } = await outcome(lares, user, message);
    expect({ user, state, response }).toEqual({ user, state: "answered", response: `${user} done` });
  }
}

it.concurrent("six kills from outside convict none of eight turns that wait or whose commands go on", async () => {
  const lares = new Lares({ env: model.env, config: { policy: { mode: "record" } } });
  try {
    await lares.start();
    await sendAll(lares);
    const { turns } = await lares.rpc("turns.list", { open: true });
    const working = turns.filter(({ session }) => /long|write/.test(session)).map(({ turn }) => turn);
    expect(working).toHaveLength(4);
    for (let kill = 1; kill <= 6; kill++) {
      await lares.restart();
      // Those that are held back begin some seconds after the start.
      await until("those with commands to go on", () => working.every((turn) => running(lares).join().includes(turn)), {
        withinMs: 30_000,
      });
      await pause(200);
    }
    await expectAllAnswered(lares);
  } finally {
    await lares.dispose();
  }
}, 180_000);

it.concurrent("a turn that aborts the process each time is given up, and those around it are answered", async () => {
  const script = join(scratch("abort"), "abort.cjs");
  writeFileSync(
    script,
    `const fs = require("node:fs/promises");
     const { open } = fs;
     fs.open = (path, ...more) => (String(path).endsWith("poison.txt") ? process.abort() : open(path, ...more));
     require("node:module").syncBuiltinESMExports();`,
  );
  const env = { ...model.env, NODE_OPTIONS: `--require ${script}` };
  const lares = new Lares({ env, config: { policy: { mode: "record" } } });
  try {
    await lares.start();
    await sendAll(lares);
    writeFileSync(inWorkspace(lares, "poison.txt"), "poison");
    send(lares, "bad", POISON);
    let lives = 1;
    for (let isOver = false; !isOver; lives++) {
      expect(lives).toBeLessThan(12);
      const { signal } = await lares.gone;
      expect(signal).toBe("SIGABRT");
      lares.spawn();
      isOver = await Promise.race([
        lares.gone.then(() => false),
        lares.ready().then(async () => (await outcome(lares, "bad", POISON)).state === "failed"),
      ]).catch(() => false);
    }
    const { turns } = await lares.rpc("turns.list", { session: (await outcome(lares, "bad", POISON)).session });
    expect(turns).toMatchObject([{ state: "failed", reason: expect.stringContaining("stopped Lares") }]);
    await expectAllAnswered(lares);
  } finally {
    await lares.dispose();
  }
}, 180_000);
