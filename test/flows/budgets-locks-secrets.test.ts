/** Budgets, resource locks and secrets where they meet a turn: the app in this process, the scripted model, real files. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { startApp } from "../../src/app/index.ts";
import { readEnvironment } from "../../src/ground/config/index.ts";
import { createLog } from "../../src/ground/observe/index.ts";
import { openDatabase } from "../../src/ground/records/driver.ts";
import { openVault } from "../../src/ground/vault/index.ts";
import { startModel } from "../support/index.ts";

const TOKEN = "owner-token-0123456789abcdef";
const SECRET = "correct-horse-battery-staple";

async function world(config: object, prepare: (home: string) => void | Promise<void> = () => {}) {
  const model = await startModel();
  const home = mkdtempSync(join(tmpdir(), "lares-rules-"));
  await prepare(home);
  writeFileSync(join(home, "lares.yaml"), JSON.stringify(config));
  const start = () =>
    startApp({
      env: readEnvironment({ HOME: home, LARES_HOME: home, LARES_TOKEN: TOKEN, ...model.env }),
      home,
      port: 0,
      version: "0.0.0-test",
      log: createLog({ level: "error", stream: { write: () => {} } }),
    });
  let app = await start();
  onTestFinished(async () => {
    await app.stop();
    await model.close();
    rmSync(home, { recursive: true, force: true });
  });
  const post = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const answer = await fetch(app.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    return (await answer.json()) as Record<string, unknown>;
  };
  return {
    home,
    model,
    post,
    chat: (user: string, message: string, agent?: string) =>
      post("/chat", { user_id: user, message, ...(agent ? { agent } : {}) }),
    restart: async () => {
      await app.stop();
      app = await start();
    },
    sql: async <T>(text: string) => {
      const db = await openDatabase(join(home, "lares.db"), { readOnly: true });
      const rows = db.prepare(text).all() as T[];
      db.close();
      return rows;
    },
  };
}

it("the ledger has what the provider was asked; at the cap the turn is declined with the reason, also after a restart (I10)", async () => {
  const w = await world({ budgets: { perDay: { calls: 3 } } });
  await w.chat("ann", "say:one");
  const third = await w.chat("ann", 'tool:list {"path":"."} then: say:three');
  expect(third).toMatchObject({ state: "answered", response: expect.stringContaining("three") });
  expect(JSON.stringify(third)).toContain("100 % of the budget for today is used: 3 calls of 3 calls.");
  for (const again of [false, true]) {
    if (again) await w.restart();
    const over = await w.chat("ben", `say:four ${again}`);
    expect(over).toMatchObject({
      state: "declined",
      response: expect.stringMatching(
        /^The budget for today does not allow another model call: 3 calls of 3 calls used/,
      ),
    });
  }
  expect(w.model.requests).toHaveLength(3);
  const [ledger] = await w.sql<{ calls: number; dollars: number; tokens: number }>(
    `SELECT COUNT(*) AS calls, SUM(cost) AS dollars,
       SUM(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens) AS tokens FROM usage`,
  );
  const [spent] = await w.sql<typeof ledger>("SELECT calls, dollars, tokens FROM budget_spent WHERE kind = 'all'");
  expect(spent).toEqual({ calls: 3, dollars: expect.closeTo(ledger!.dollars, 9), tokens: ledger!.tokens });
  expect(await w.sql("SELECT * FROM budget_hold")).toEqual([]);
  // The refused message is in the history all the same.
  expect(await w.sql("SELECT content FROM message WHERE content LIKE '%say:four%'")).toHaveLength(2);
});

it("a stopped call gives back what was set aside and keeps what was sent", async () => {
  const w = await world({});
  const sent = (await w.post("/rpc/chat.send", { message: "delay:60000 say:late", user: "ann", wait: false })) as {
    turn: string;
    session: string;
  };
  await expect.poll(() => w.model.requests.length).toBe(1);
  await w.post("/rpc/chat.abort", { turn: sent.turn, session: sent.session });
  await expect.poll(() => w.sql("SELECT * FROM budget_hold")).toEqual([]);
  expect(await w.sql("SELECT calls FROM budget_spent WHERE kind = 'all'")).toEqual([{ calls: 1 }]);
});

/** One repository outside the home that both agents have as their workspace. */
function shareTree(home: string): void {
  const tree = mkdtempSync(join(tmpdir(), "lares-tree-"));
  onTestFinished(() => rmSync(tree, { recursive: true, force: true }));
  mkdirSync(join(tree, ".git"));
  for (const agent of ["ada", "bob"]) {
    mkdirSync(join(home, "agents", agent), { recursive: true });
    symlinkSync(tree, join(home, "agents", agent, "workspace"));
  }
}

it("two agents with one tree never work in it at the same time (TURNS-8)", async () => {
  const w = await world({ policy: { mode: "ignore" }, agents: { ada: {}, bob: {} } }, (home) => {
    shareTree(home);
  });
  const work = (who: string) =>
    `tool:exec ${JSON.stringify({ command: `echo begin ${who} >> log; sleep 0.05; echo end ${who} >> log` })} then: say:done`;
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, i) => w.chat(`u${i}`, work(`w${i}`), i % 2 ? "ada" : "bob")),
  );
  expect(answers.map((a) => a.response)).toEqual(Array(6).fill("done"));
  const lines = readFileSync(join(w.home, "agents/ada/workspace/log"), "utf8").trim().split("\n");
  expect(lines).toHaveLength(12);
  for (let i = 0; i < 12; i += 2) expect(lines[i + 1]).toBe(lines[i]!.replace("begin", "end"));
  expect(await w.sql("SELECT * FROM resource_lock")).toEqual([]);
});

it("calls a model makes together still run side by side", async () => {
  const w = await world({ policy: { mode: "ignore" } });
  const slow = JSON.stringify({ command: "until [ -e go ]; do sleep 0.02; done; echo slow", timeout_s: 10 });
  const quick = JSON.stringify({ command: "touch go; echo quick" });
  const answer = await w.chat("ann", `tool:exec ${slow} tool:exec ${quick} then: say:{results}`);
  expect(answer.response).toMatch(/slow.*exit 0.*quick.*exit 0/s);
});

it("an agent that waits too long for another's tree is told who has it, and did nothing", async () => {
  const w = await world(
    { policy: { mode: "ignore" }, locks: { waitSeconds: 0.2 }, agents: { ada: {}, bob: {} } },
    (home) => {
      shareTree(home);
    },
  );
  const go = join(w.home, "agents/ada/workspace/go");
  const hold = JSON.stringify({ command: "touch begun; until [ -e go ]; do sleep 0.02; done" });
  const first = w.chat("ann", `tool:exec ${hold} then: say:done`, "ada");
  await expect.poll(() => w.sql("SELECT agent FROM resource_lock")).toEqual([{ agent: "ada" }]);
  const busy = await w.chat("ben", 'tool:write {"path":"x","content":"y"} then: say:{results}', "bob");
  expect(busy.response).toMatch(
    /Busy: .*lares-tree-\w+ is in use by agent ada \(exec, turn t_\w+\) since .*nothing was done/,
  );
  writeFileSync(go, "");
  expect(await first).toMatchObject({ response: "done" });
  const later = await w.chat("ben", 'tool:write {"path":"x","content":"y"} then: say:{results}', "bob");
  expect(later.response).toContain("created x");
});

it("a secret of the vault that a tool meets reaches neither the model nor the history nor an export (TURNS-8)", async () => {
  const w = await world({ policy: { mode: "ignore" } }, async (home) => {
    const vault = await openVault({ home, now: Date.now, onSecret: () => {} });
    await vault.set("DEPLOY_KEY", SECRET);
    mkdirSync(join(home, "agents/main/workspace"), { recursive: true });
    writeFileSync(join(home, "agents/main/workspace/.env"), `KEY=${SECRET}\nkey={item.id}\n`);
  });
  const encoded = Buffer.from(`me:${SECRET}`).toString("base64");
  const read = 'tool:read {"path":".env"}';
  const exec = `tool:exec ${JSON.stringify({ command: "cat .env; printf 'me:%s' $(sed -n 's/^KEY=//p' .env) | base64 -w0" })}`;
  const answer = await w.chat("ann", `${read} ${exec} then: say:{results}`);
  expect(answer.response).toContain("KEY=[redacted]");
  // What merely looks like a secret stays: the agent works with these texts.
  expect(answer.response).toContain("key={item.id}");
  const session = String(answer.session ?? "agent:main:http:owner:ann");
  const exported = await w.post("/rpc/sessions.export", { session });
  expect(JSON.stringify(exported)).toContain("[redacted]");
  for (const place of [JSON.stringify(w.model.requests), JSON.stringify(exported), JSON.stringify(answer)]) {
    expect(place).not.toContain(SECRET);
    expect(place).not.toContain(encoded.slice(8, -4));
  }
  expect(JSON.stringify(await w.sql("SELECT * FROM message"))).not.toContain(SECRET);
  // What came into the house by another way does not leave it by an export either.
  const old = "agent:main:http:owner:old";
  const content = [{ type: "text", text: `my key is ${SECRET}` }];
  const at = "2026-01-01T00:00:00.000Z";
  const line = { session: old, seq: 1, id: "m1", turn: "t", role: "user", content, timestamp: at };
  expect(await w.post("/rpc/sessions.import", { session: old, lines: [line] })).toMatchObject({ imported: 1 });
  const again = JSON.stringify(await w.post("/rpc/sessions.export", { session: old }));
  expect(again).toContain("my key is [redacted]");
  for (const table of ["engine_journal", "delivery", "turn"]) {
    expect(JSON.stringify(await w.sql(`SELECT * FROM ${table}`))).not.toContain(SECRET);
  }
});
