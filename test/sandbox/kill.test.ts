/** `kill -9` of Lares around a background process: it goes on, and its end is told once. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { scratch, startModel, until } from "../support/index.ts";
import { alive } from "./support.ts";

const DRIVER = fileURLToPath(new URL("./driver.ts", import.meta.url));

const cleanups: (() => unknown)[] = [];
const cleanup = (act: () => unknown) => void cleanups.unshift(act);
afterAll(async () => {
  for (const act of cleanups) await act();
});

function driver(args: string[], env: Record<string, string> = {}) {
  const child: ChildProcess = spawn(process.execPath, ["--import", "tsx", DRIVER, ...args], {
    env: { PATH: process.env.PATH ?? "", ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let said = "";
  child.stdout!.on("data", (chunk) => {
    said += chunk;
  });
  const gone = new Promise<NodeJS.Signals | null>((resolve) => child.once("exit", (_code, signal) => resolve(signal)));
  cleanup(() => void child.kill("SIGKILL"));
  const hear = (word: string) =>
    until(word, () => new RegExp(`^${word} ?(.*)$`, "m").exec(said)?.[1] ?? false, { instead: () => said }).then(
      String,
    );
  return {
    gone,
    ready: () => until("ready", () => /^ready/m.test(said)),
    hear,
    send: (line: string) => child.stdin!.write(`${line}\n`),
    kill: async () => {
      child.kill("SIGKILL");
      await gone;
    },
  };
}

function place(): string {
  const home = scratch("kill");
  cleanup(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

const WAITS = "echo run >> count; until [ -e go ]; do sleep 0.02; done; echo over";

describe("the end of a process is told once", () => {
  test.concurrent.each(["before", "after"])("when Lares dies %s the telling", async (when) => {
    const home = place();
    const first = driver(["processes", home, when]);
    await first.ready();
    first.send(WAITS);
    const id = await first.hear("started");
    writeFileSync(join(home, "go"), "");
    expect(await first.gone).toBe("SIGKILL");
    const second = driver(["processes", home]);
    await second.hear("told");
    expect(readFileSync(join(home, "told"), "utf8")).toBe(`${id}\n`);
    expect(readFileSync(join(home, "count"), "utf8")).toBe("run\n");
  });
});

test("the whole program: killed while the process runs and while its end is reported; it runs once and is reported once (PROCESS-4)", async () => {
  const model = await startModel();
  cleanup(() => model.close());
  const home = place();
  writeFileSync(join(home, "lares.yaml"), JSON.stringify({ policy: { mode: "ignore" } }));
  const workspace = join(home, "agents/main/workspace");
  mkdirSync(workspace, { recursive: true });
  const token = "test-token-0123456789abcdef";
  const env = { HOME: home, LARES_HOME: home, LARES_TOKEN: token, ...model.env };
  const post = async (url: string, path: string, body: object) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const answer = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
    return (await answer.json()) as Record<string, unknown>;
  };

  const first = driver(["app", home], env);
  const url = await first.hear("ready");
  const call = `tool:exec ${JSON.stringify({ command: WAITS, background: true })} then: say:{results}`;
  const { response } = await post(url, "/chat", { user_id: "ann", message: call });
  const id = /p_\w+/.exec(String(response))![0];
  await until("it to run", () => existsSync(join(workspace, "count")));
  await first.kill();
  expect(alive(id).length).toBeGreaterThan(0);
  writeFileSync(join(workspace, "go"), "");
  await until("its end while nobody looks", () => alive(id).length === 0);

  // Its message is admitted, and Lares dies before it has noted that.
  const second = driver(["app", home], { ...env, LARES_CRASH_AT: "accept.committed" });
  expect(await second.gone).toBe("SIGKILL");

  const third = driver(["app", home], env);
  const again = await third.hear("ready");
  const session = "agent:main:http:owner:ann";
  const heard = async () => {
    const { messages } = await post(again, "/rpc/chat.history", { session });
    return (messages as { role: string }[]).filter((m) => m.role === "user" && JSON.stringify(m).includes(id));
  };
  await until("the session to hear", async () => (await heard()).length > 0);
  // One more turn: whatever was admitted twice would be in the history by now.
  await post(again, "/chat", { user_id: "ann", message: "say:so" });
  expect(await heard()).toHaveLength(1);
  expect(JSON.stringify(await heard())).toContain("ended: exit 0");
  expect(readFileSync(join(workspace, "count"), "utf8")).toBe("run\n");
});
