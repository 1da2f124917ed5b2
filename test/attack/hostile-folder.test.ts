/**
 * Folders that somebody made to hurt: pipes, devices, sockets, links out, huge files, in a folder to import, in an agent's folder, in
 * the workspace. The gateway goes on answering, and nothing outside is read or written.
 */
import { execFileSync } from "node:child_process";
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openDatabase } from "../../src/ground/records/index.ts";
import { allJobs, type Lares, scratch, startLares, startModel, until } from "../support/index.ts";
import { allowedStall, watched } from "./watching.ts";

const CANARY = "the canary sings at 05:14";

let root: string;
/** Somebody's private folder, beside everything Lares may touch. */
let outside: string;
let model: Awaited<ReturnType<typeof startModel>>;
let lares: Lares | undefined;
const closing: (() => unknown)[] = [];

beforeEach(async () => {
  root = scratch("hostile");
  outside = join(root, "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "2026-01-01.md"), `# 2026-01-01\n- ${CANARY}\n`);
  writeFileSync(join(outside, "SOUL.md"), `${CANARY}\n`);
  writeFileSync(join(outside, "secret.md"), `- ${CANARY}\n`);
  model = await startModel();
});
afterEach(async () => {
  await lares?.dispose();
  lares = undefined;
  for (const close of closing.splice(0)) await close();
  await model.close();
  rmSync(root, { recursive: true, force: true });
});

const start = async (home?: string) => {
  const config = { memory: { embedder: { use: "off" } }, policy: { mode: "record" } };
  lares = await startLares({ env: model.env, config, ...(home ? { home } : {}) });
  return lares;
};
const fifo = (path: string) => execFileSync("mkfifo", [path]);
const untouched = () => expect(readdirSync(outside).sort()).toEqual(["2026-01-01.md", "SOUL.md", "secret.md"]);

async function knowsNothing(lares: Lares): Promise<void> {
  const { facts } = await lares.rpc("memory.list", { limit: 100 });
  expect(JSON.stringify(facts)).not.toContain(CANARY);
  expect(JSON.stringify(await lares.rpc("agents.files.get", { agent: "main", file: "SOUL.md" }))).not.toContain(CANARY);
}

describe("a hostile folder to import", () => {
  test("pipes, a device, a socket, links out and huge files stop nobody, and nothing outside is read", async () => {
    const dir = join(root, ".openclaw");
    await hostileOpenClaw(dir);
    const lares = await start();
    await lares.chat("owner", "say:warm");
    const most = await allowedStall(lares);
    for (const dryRun of [true, false]) {
      const { value, worstMs } = await watched(`import, dryRun ${dryRun}`, lares, async () => {
        const importing = lares.rpc("import.run", { from: "openclaw", dir, dryRun });
        // A chat, a tool and a file of the agent, all of which need the thread pool that four open pipes used to fill.
        const call = 'tool:exec {"command":"echo alive"}';
        const chat = await lares.chat("owner", `${call} then: say:still here`);
        await lares.rpc("agents.files.get", { agent: "main", file: "AGENTS.md" });
        return { chat, items: (await importing).items };
      });
      expect(value.chat.response).toBe("still here");
      expect(JSON.stringify(value.items)).not.toContain(CANARY);
      expect(worstMs).toBeLessThan(most);
      const left = value.items.filter(({ state }) => state === "left out");
      for (const [path, why] of PASSED_OVER)
        expect(left, path).toContainEqual(expect.objectContaining({ from: path, why: expect.stringContaining(why) }));
    }
    await knowsNothing(lares);
    untouched();
    const jobs = await allJobs(lares, "every five seconds");
    expect(jobs.map(({ enabled }) => enabled)).toEqual([false]);
    expect(readdirSync(join(lares.home, "agents/main/skills/tools")).sort()).not.toContain("pipe");
  }, 120_000);

  test("settings that name another folder as a workspace do not get it read", async () => {
    const dir = join(root, ".openclaw");
    mkdirSync(dir);
    const agents = { defaults: { workspace: outside }, list: [{ id: "main" }, { id: "../../outside" }] };
    writeFileSync(join(dir, "openclaw.json"), JSON.stringify({ agents }));
    const lares = await start();
    const { items } = await lares.rpc("import.run", { from: "openclaw", dir });
    expect(items.find((item) => item.what === "left out")?.why).toContain("this workspace is not in it");
    await knowsNothing(lares);
  });

  test("a Hermes folder of pipes and links is read to its end", async () => {
    const dir = join(root, ".hermes");
    mkdirSync(join(dir, "cron"), { recursive: true });
    for (const name of ["SOUL.md", ".env", "cron/jobs.json", "state.db"]) fifo(join(dir, name));
    symlinkSync(outside, join(dir, "memories"));
    symlinkSync(outside, join(dir, "skills"));
    const lares = await start();
    const { items } = await lares.rpc("import.run", { from: "hermes", dir });
    expect(items.filter(({ what }) => what !== "left out").map(({ what }) => what)).toEqual(["agent"]);
    const left = items.filter(({ what }) => what === "left out").map(({ from }) => from);
    expect(left).toEqual(expect.arrayContaining(["SOUL.md", ".env", "cron/jobs.json", "state.db", "skills"]));
    expect(left.some((path) => path.startsWith("memories"))).toBe(true);
    expect((await lares.chat("owner", "say:still here")).response).toBe("still here");
  });
});

describe("a hostile database to import", () => {
  const ENDLESS =
    "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS id, x AS session_id FROM n";
  test.each([
    ["a view", `CREATE VIEW sessions AS ${ENDLESS}; CREATE TABLE messages (id, session_id, role, content, timestamp);`],
    ["a view", `CREATE TABLE sessions (id); CREATE VIEW Messages AS ${ENDLESS};`],
    ["a virtual table", "CREATE VIRTUAL TABLE sessions USING fts5(id); CREATE TABLE messages (id);"],
    [
      "computed columns",
      "CREATE TABLE messages (id); CREATE TABLE sessions (id, big AS (hex(zeroblob(400000000)))); INSERT INTO sessions (id) VALUES (1);",
    ],
  ])("%s in the place of a table is not queried", async (what, sql) => {
    const dir = join(root, ".hermes");
    mkdirSync(dir);
    const db = await openDatabase(join(dir, "state.db"));
    db.exec(sql);
    db.close();
    const lares = await start();
    const { items } = await lares.rpc("import.run", { from: "hermes", dir });
    expect(items).toContainEqual(
      expect.objectContaining({ from: "state.db", state: "left out", why: expect.stringContaining(what) }),
    );
    expect((await lares.chat("owner", "say:still here")).response).toBe("still here");
  });

  test("triggers, indexes of words and views that nobody asks do not keep sessions from being read", async () => {
    const dir = join(root, ".hermes");
    mkdirSync(dir);
    const db = await openDatabase(join(dir, "state.db"));
    db.exec(`CREATE TABLE sessions (id, title); CREATE TABLE messages (id, session_id, role, content, timestamp);
      CREATE VIRTUAL TABLE messages_fts USING fts5(content);
      CREATE TRIGGER t AFTER INSERT ON messages BEGIN INSERT INTO messages_fts VALUES (new.content); END;
      CREATE VIEW endless AS ${ENDLESS};
      INSERT INTO sessions VALUES ('s1', 'Bees'); INSERT INTO messages VALUES (1, 's1', 'user', 'hello', 1);`);
    db.close();
    const lares = await start();
    const { items } = await lares.rpc("import.run", { from: "hermes", dir });
    expect(items).toContainEqual(expect.objectContaining({ what: "session", name: "Bees (1 messages)", state: "new" }));
  });
});

describe("an agent's folder with links and pipes in it", () => {
  test("a linked memory folder is neither read nor written, and a pipe for a file is refused", async () => {
    const home = join(root, "home");
    const agent = join(home, "agents/main");
    mkdirSync(agent, { recursive: true });
    symlinkSync(outside, join(agent, "memory"));
    symlinkSync(join(outside, "SOUL.md"), join(agent, "USER.md"));
    for (const name of ["AGENTS.md", "HEARTBEAT.md", "MEMORY.md", "TOOLS.md"]) fifo(join(agent, name));
    const lares = await start(home);
    await lares.rpc("memory.add", { text: "Ana keeps bees" });
    expect((await lares.chat("owner", "say:still here")).response).toBe("still here");
    await expect(lares.rpc("agents.files.get", { agent: "main", file: "AGENTS.md" })).rejects.toMatchObject({
      status: 403,
    });
    expect(model.requests.at(-1)!.system).toContain("AGENTS.md is not read");
    expect(JSON.stringify(model.requests)).not.toContain(CANARY);
    await knowsNothing(lares);
    untouched();
  });

  test("a folder of documents with links and pipes is indexed without them", async () => {
    const dir = join(root, "documents");
    mkdirSync(dir);
    writeFileSync(join(dir, "bees.md"), "# Bees\n\nAna keeps bees.\n");
    symlinkSync(join(outside, "secret.md"), join(dir, "linked.md"));
    symlinkSync(outside, join(dir, "folder"));
    for (const n of [1, 2, 3, 4]) fifo(join(dir, `pipe-${n}.md`));
    const lares = await start();
    const report = await lares.rpc("memory.index", { dir });
    expect(report).toMatchObject({ added: 1 });
    expect(JSON.stringify(await lares.rpc("memory.search", { query: "canary sings" }))).not.toContain(CANARY);
  });
});

describe("the workspace", () => {
  test("a link in the place of .lares does not make the gateway write outside of it", async () => {
    const lares = await start();
    const swap = `tool:exec ${JSON.stringify({ command: `rm -rf .lares; ln -s ${outside} .lares` })}`;
    const long = 'tool:exec {"command":"seq 1 20000"}';
    const answer = await lares.chat("owner", `${swap} then: ${long} then: say:done`);
    expect(answer.response).toBe("done");
    untouched();
    const shown = JSON.stringify(model.requests.at(-1)!.messages);
    expect(shown).toContain("the full output could not be saved");
    // Without the link the next one is kept again.
    rmSync(join(lares.workspace(), ".lares"));
    await lares.chat("owner", `${long} then: say:again`);
    await until("the output to be kept", async () => readdirSync(join(lares.workspace(), ".lares/out")).length === 1);
  });

  test("a link deeper down, or in the place of the file's folder, does not either", async () => {
    const lares = await start();
    mkdirSync(join(lares.workspace(), ".lares"));
    symlinkSync(outside, join(lares.workspace(), ".lares/out"));
    const answer = await lares.chat("owner", 'tool:exec {"command":"seq 1 20000"} then: say:done');
    expect(answer.response).toBe("done");
    untouched();
  });
});

/** What the report says about it, by path. */
const PASSED_OVER: readonly [path: string, why: string][] = [
  ["openclaw.json", "larger than 1 MB"],
  ["workspace/SOUL.md", "a pipe"],
  ["workspace/HEARTBEAT.md", "a socket"],
  ["workspace/memory", "a link"],
  ["workspace/USER.md", "a link"],
  ["workspace/MEMORY.md", "a link"],
  ["state/openclaw.sqlite", "a pipe"],
  ["agents/main/sessions/endless.jsonl", "larger than 64 MB"],
  ["skills/tools/pipe", "a pipe"],
  ["skills/tools/private", "a link"],
];

/** Everything that reading a folder carelessly would trip over. */
async function hostileOpenClaw(dir: string): Promise<void> {
  const work = join(dir, "workspace");
  for (const name of ["workspace", "cron", "state", "skills/tools", "agents/main/sessions", "agents/main/agent"])
    mkdirSync(join(dir, name), { recursive: true });
  for (const name of ["SOUL", "IDENTITY", "AGENTS", "TOOLS"]) fifo(join(work, `${name}.md`));
  symlinkSync(outside, join(work, "memory"));
  symlinkSync(join(outside, "secret.md"), join(work, "USER.md"));
  symlinkSync("/dev/zero", join(work, "MEMORY.md"));
  await socketAt(join(work, "HEARTBEAT.md"));
  comments(join(dir, "openclaw.json"), 64);
  const job = { id: "j", name: "every five seconds", schedule: { everyMs: 5000 }, payload: { message: "say:tick" } };
  writeFileSync(join(dir, "cron/jobs.json"), JSON.stringify([job]));
  fifo(join(dir, "state/openclaw.sqlite"));
  (await openDatabase(join(dir, "agents/main/agent/openclaw-agent.sqlite"))).close();
  fifo(join(dir, "agents/main/agent/openclaw-agent.sqlite-wal"));
  writeFileSync(join(dir, "agents/main/sessions/endless.jsonl"), "");
  truncateSync(join(dir, "agents/main/sessions/endless.jsonl"), 100 * 2 ** 30);
  comments(join(dir, "agents/main/sessions/comments.jsonl"), 60);
  writeFileSync(join(dir, "agents/main/sessions/lines.jsonl"), "\n".repeat(8 * 2 ** 20));
  writeFileSync(join(dir, "skills/tools/SKILL.md"), "---\nname: tools\ndescription: tools\n---\nwords\n");
  fifo(join(dir, "skills/tools/pipe"));
  symlinkSync(outside, join(dir, "skills/tools/private"));
}

/** So many megabytes of comments that never end. */
function comments(path: string, megabytes: number): void {
  const file = openSync(path, "w");
  const block = Buffer.from("/* ".repeat(2 ** 20 / 3));
  for (let i = 0; i < megabytes; i++) writeSync(file, block);
  closeSync(file);
}

function socketAt(path: string): Promise<void> {
  const server = createServer();
  closing.push(() => server.close());
  return new Promise((resolve) => server.listen(path, resolve));
}
