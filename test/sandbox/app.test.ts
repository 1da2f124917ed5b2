/** The sandbox, granted secrets and background processes where they meet a turn: the app in this process, the scripted model. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { startApp } from "../../src/app/index.ts";
import { createBubblewrap } from "../../src/edges/tools/sandbox/index.ts";
import { readEnvironment } from "../../src/ground/config/index.ts";
import { createLog } from "../../src/ground/observe/index.ts";
import { openVault } from "../../src/ground/vault/index.ts";
import { needs, scratch, startModel, until } from "../support/index.ts";

const TOKEN = "owner-token-0123456789abcdef";
const SECRET = "correct-horse-battery-staple";
const shut = (await createBubblewrap().available()).ok;

async function app(config: object) {
  const model = await startModel();
  const home = scratch("app");
  const vault = await openVault({ home, now: Date.now, onSecret: () => {} });
  await vault.set("DEPLOY_KEY", SECRET);
  for (const agent of ["main", "bob"]) mkdirSync(join(home, "agents", agent, "workspace"), { recursive: true });
  writeFileSync(join(home, "lares.yaml"), JSON.stringify(config));
  const running = await startApp({
    env: readEnvironment({ HOME: home, LARES_HOME: home, LARES_TOKEN: TOKEN, ...model.env }),
    home,
    port: 0,
    version: "0.0.0-test",
    log: createLog({ level: "error", stream: { write: () => {} } }),
  });
  onTestFinished(async () => {
    await running.stop();
    await model.close();
    rmSync(home, { recursive: true, force: true });
  });
  const post = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const answer = await fetch(running.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    return (await answer.json()) as Record<string, unknown>;
  };
  const chat = async (message: string, more: object = {}) =>
    String((await post("/chat", { user_id: "ann", message, ...more })).response);
  return { home, post, chat, model };
}

const exec = (input: object) => `tool:exec ${JSON.stringify(input)} then: say:{results}`;

test("commands run shut in, and get the secrets their agent was granted, no other", async () => {
  const w = await app({ policy: { mode: "ignore" }, agents: { main: { secrets: ["DEPLOY_KEY"] }, bob: {} } });
  const look = exec({
    command: `[ "$DEPLOY_KEY" = ${SECRET} ] && echo granted; echo sees $(ls /proc | grep -c '^[0-9]') processes`,
  });
  const mine = await w.chat(look);
  expect(mine).toContain("granted");
  expect(await w.chat(look, { agent: "bob" })).not.toContain("granted");
  if (shut) expect(mine).toMatch(/sees \d processes/);
});

test("who is asked reads where it will run and with which secrets, not their values", async () => {
  const w = await app({ agents: { main: { secrets: ["DEPLOY_KEY"] } } });
  void w.chat(exec({ command: "make install" })).catch(() => {});
  const asked = await until("a question", async () => {
    const text = JSON.stringify(await w.post("/rpc/approvals.list", {}));
    return text.includes("make install") ? text : undefined;
  });
  expect(asked).toContain(shut ? "in a sandbox (bubblewrap) without network" : "without a sandbox");
  expect(asked).toContain("with the secrets DEPLOY_KEY");
  expect(asked).not.toContain(SECRET);
});

test.skipIf(!needs("bwrap", "a sub-agent's confinement", shut))(
  "SANDBOX-3: a sub-agent is never less confined than who asked for it, whoever it is",
  async () => {
    const w = await app({ sandbox: { network: true }, agents: { main: { sandbox: { network: false } }, bob: {} } });
    const asked = (words: string) =>
      until("a question", async () => {
        const { approvals } = (await w.post("/rpc/approvals.list", {})) as {
          approvals: { agent: string; shown: string }[];
        };
        return approvals.find(({ shown }) => shown.includes(words));
      });
    void w.chat(exec({ command: "make own" }), { agent: "bob" }).catch(() => {});
    expect(await asked("make own")).toMatchObject({ agent: "bob", shown: expect.stringContaining("with network") });
    const spawn = { agent: "bob", task: `tool:exec ${JSON.stringify({ command: "make child" })}` };
    void w.chat(`tool:sessions_spawn ${JSON.stringify(spawn)} then: say:asked`).catch(() => {});
    expect(await asked("make child")).toMatchObject({
      agent: "bob",
      shown: expect.stringContaining("without network"),
    });
  },
);

test("the end of a background process wakes the session that started it; secrets in its output are not told", async () => {
  const w = await app({ policy: { mode: "ignore" }, agents: { main: { secrets: ["DEPLOY_KEY"] } } });
  const said = await w.chat(exec({ command: "touch begun; echo key $DEPLOY_KEY; exit 2", background: true }));
  expect(said).toMatch(/Started in the background as p_/);
  const session = "agent:main:http:owner:ann";
  const history = await until("the session to hear", async () => {
    const text = JSON.stringify(await w.post("/rpc/chat.history", { session }));
    return text.includes("ended: exit 2") ? text : undefined;
  });
  expect(history).toContain("key [redacted]");
  expect(history).not.toContain(SECRET);
  expect(existsSync(join(w.home, "agents/main/workspace/begun"))).toBe(true);
  const listed = await w.chat('tool:tool_run {"name":"process","input":{"action":"list"}} then: say:{results}');
  expect(listed).toMatch(/p_\w+ ended: exit 2/);
});

test.each([
  ["docker", { backend: "docker", image: "nowhere.invalid/none" }],
  ["ssh", { backend: "ssh", host: "nobody@nowhere.invalid" }],
])("without its sandbox (%s) a conversation goes on, and a command says why it does not run", async (name, sandbox) => {
  // Where Docker does run, its client finds nobody here.
  vi.stubEnv("DOCKER_HOST", "tcp://127.0.0.1:9");
  onTestFinished(() => void vi.unstubAllEnvs());
  const w = await app({ sandbox, policy: { mode: "ignore" } });
  expect(await w.chat("say:hello")).toBe("hello");
  expect(w.model.requests.at(-1)!.system).toContain(
    `Commands may not run: their sandbox (${name}) was not available when this conversation began.`,
  );
  expect(await w.chat(exec({ command: "echo hi" }))).toContain(`the sandbox "${name}" is not there`);
});
