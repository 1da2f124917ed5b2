/** Moving in from OpenClaw and Hermes, with the real program and the real command line. */
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDatabase } from "../../src/ground/records/index.ts";
import { type Lares, startLares } from "../support/index.ts";
import { scratch } from "../support/scratch.ts";

let lares: Lares;
let openclaw: string;
let hermes: string;
beforeAll(async () => {
  const fixtures = fileURLToPath(new URL("../fixtures/", import.meta.url));
  const root = scratch("moving");
  openclaw = join(root, ".openclaw");
  hermes = join(root, ".hermes");
  cpSync(join(fixtures, "openclaw"), openclaw, { recursive: true });
  cpSync(join(fixtures, "hermes"), hermes, { recursive: true });
  const db = await openDatabase(join(hermes, "state.db"));
  db.exec(`CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, user_id TEXT, title TEXT, started_at REAL);
    CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content TEXT, tool_calls TEXT, timestamp REAL);
    INSERT INTO sessions VALUES ('20260301_1', 'telegram', '42', 'Server talk', 1772000000.5);
    INSERT INTO messages (session_id, role, content, timestamp) VALUES ('20260301_1', 'user', 'Is heron up?', 1772000001.0),
      ('20260301_1', 'tool', 'ok', 1772000002.0), ('20260301_1', 'assistant', 'Heron answers in 12 ms.', 1772000003.0);`);
  db.close();
  await openClawDatabases(openclaw);
  lares = await startLares({ config: { memory: { embedder: { use: "off" } } } });
});
afterAll(async () => {
  await lares?.dispose();
  rmSync(join(openclaw, ".."), { recursive: true, force: true });
});

/** As a release of 2026.9 leaves them: a conversation of which one answer was taken back, an empty one, two jobs. */
async function openClawDatabases(home: string): Promise<void> {
  const said = (id: string, role: string, text: string) =>
    JSON.stringify({
      type: "message",
      id,
      timestamp: "2026-08-01T10:00:00Z",
      message: { role, content: [{ type: "text", text }] },
    });
  mkdirSync(join(home, "agents/main/agent"), { recursive: true });
  const agent = await openDatabase(join(home, "agents/main/agent/openclaw-agent.sqlite"));
  agent.exec(`CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key TEXT NOT NULL);
    CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, created_at INTEGER, PRIMARY KEY (session_id, seq));
    CREATE TABLE session_transcript_active_events (session_id TEXT, active_position INTEGER, event_seq INTEGER);
    CREATE TABLE session_transcript_archives (session_id TEXT, reason TEXT);
    CREATE TABLE standing_intents (id TEXT, description TEXT);
    CREATE VIRTUAL TABLE session_transcript_fts USING fts5(text);
    INSERT INTO session_transcript_fts VALUES ('Who waters the lemon tree?');
    INSERT INTO session_windows VALUES ('w-1', 'agent:main:telegram:direct:42'), ('w-2', 'agent:main:empty');
    INSERT INTO session_transcript_active_events VALUES ('w-1', 0, 1), ('w-1', 1, 3);
    INSERT INTO session_transcript_archives VALUES ('w-0', 'reset');
    INSERT INTO standing_intents VALUES ('i-1', 'when Ana asks about the boat')`);
  const add = agent.prepare("INSERT INTO transcript_events VALUES (?, ?, ?, 0)");
  add.run("w-1", 3, said("e3", "assistant", "Ana waters the lemon tree."));
  add.run("w-1", 2, said("e2", "assistant", "Nobody does, I fear."));
  add.run("w-1", 1, said("e1", "user", "Who waters the lemon tree?"));
  add.run("w-2", 1, JSON.stringify({ type: "session", id: "w-2" }));
  agent.close();
  mkdirSync(join(home, "state"), { recursive: true });
  const state = await openDatabase(join(home, "state/openclaw.sqlite"));
  state.exec(`CREATE TABLE cron_jobs (store_key TEXT, job_id TEXT, name TEXT, enabled INTEGER, agent_id TEXT, schedule_kind TEXT,
      schedule_expr TEXT, schedule_tz TEXT, every_ms INTEGER, at TEXT, payload_kind TEXT, payload_message TEXT, job_json TEXT);
    CREATE TABLE channel_pairing_allow_entries (entry TEXT);
    INSERT INTO channel_pairing_allow_entries VALUES ('42');
    INSERT INTO cron_jobs VALUES ('default', 'job-7', 'Tide table', 0, 'main', 'cron', '0 5 * * *', 'Europe/Lisbon', NULL, NULL,
      'agentTurn', 'Fetch the tide table', '{}'), ('default', 'job-1', 'Morning brief', 1, NULL, 'cron', '0 7 * * 1-5', NULL, NULL, NULL,
      'agentTurn', NULL, '{"id":"job-1","name":"Morning brief","schedule":{"kind":"cron","expr":"0 7 * * 1-5","tz":"Europe/Lisbon"},"payload":{"kind":"agentTurn","message":"Summarise my mail"}}')`);
  state.close();
}

type Items = Awaited<ReturnType<typeof run>>;
const run = async (from: "openclaw" | "hermes", more: object = {}) =>
  (await lares.rpc("import.run", { from, dir: from === "openclaw" ? openclaw : hermes, ...more })).items;
const states = (items: Items) => new Set(items.map((item) => item.state));
const find = (items: Items, what: string, name: string) =>
  items.find((item) => item.what === what && item.name.includes(name));

/** Every name and every byte below a folder. */
function fingerprint(dir: string): string {
  const hash = createHash("sha256");
  for (const name of (readdirSync(dir, { recursive: true }) as string[]).sort()) {
    hash.update(name);
    try {
      hash.update(readFileSync(join(dir, name)));
    } catch {
      // A folder.
    }
  }
  return hash.digest("hex");
}

describe("OpenClaw", () => {
  test("a dry run lists every item and what becomes of it, and changes nothing on either side", async () => {
    const before = fingerprint(openclaw);
    const items = await run("openclaw", { dryRun: true });
    expect(fingerprint(openclaw)).toBe(before);
    expect(find(items, "file", "SOUL.md")).toMatchObject({ becomes: "agents/main/imported/SOUL.md", state: "new" });
    expect(find(items, "channel", "telegram")).toMatchObject({
      state: "left out",
      why: expect.stringContaining("secret"),
    });
    const jobs = items.filter((item) => item.what === "left out" && item.name === "jobs.json").map((item) => item.why);
    expect(jobs).toEqual([
      expect.stringContaining("job-1 is taken from the database"),
      expect.stringContaining("Probe"),
    ]);
    expect(find(items, "left out", "BOOTSTRAP")).toBeDefined();
    // Whatever a database holds is taken, or named with the reason.
    const behind = items
      .filter((item) => item.what === "left out" && /sqlite$/.test(item.from))
      .map((item) => item.why);
    for (const words of [/session agent:main:empty/, /archives: 1/, /standing_intents: 1/, /pairing_allow_entries: 1/])
      expect(behind.filter((why) => words.test(why ?? ""))).toHaveLength(1);
    expect(behind.join()).not.toMatch(/fts/);
    expect((await lares.rpc("memory.list", {})).facts).toEqual([]);
    expect((await lares.rpc("schedule.list", {})).jobs).toEqual([]);
    expect(readFileSync(join(lares.home, "agents/main/SOUL.md"), "utf8")).not.toContain("Molty");
  });

  test("souls, memory, skills, sessions and schedules arrive; twice is once; the source is untouched (IMPORT-1)", async () => {
    const before = fingerprint(openclaw);
    const items = await run("openclaw");
    expect(states(items)).toEqual(new Set(["new", "there already", "left out"]));
    expect(readFileSync(join(lares.home, "agents/main/SOUL.md"), "utf8")).not.toContain("dry and quick");
    const proposed = await lares.rpc("import.proposals", {});
    expect(proposed.files.map(({ id }) => id)).toEqual(["main/SOUL.md", "main/AGENTS.md"]);
    expect((await lares.rpc("memory.list", {})).facts).toEqual([]);
    expect(await lares.rpc("import.accept", { id: "facts" })).toEqual({ accepted: proposed.facts });
    for (const { id } of proposed.files) await lares.rpc("import.accept", { id });
    const soul = readFileSync(join(lares.home, "agents/main/SOUL.md"), "utf8");
    expect(soul).toContain("dry and quick");
    expect(soul).toContain("lobster");
    expect(readFileSync(join(lares.home, "agents/main/AGENTS.md"), "utf8")).toContain("cam-1");
    expect(await lares.rpc("import.proposals", {})).toEqual({ files: [], facts: 0 });
    for (const [question, answer] of [
      ["who services the boiler", "Weber"],
      ["landlord", "letters"],
      ["ferry to Texel", "May"],
      ["where does she live", "Porto"],
    ] as const)
      expect((await lares.rpc("memory.search", { query: question })).results[0]?.text, question).toContain(answer);
    expect(readFileSync(join(lares.home, "agents/main/skills/notes/scripts/note.sh"), "utf8")).toContain("note");
    expect(readFileSync(join(lares.home, "agents/main/skills/weather/SKILL.md"), "utf8")).toContain("station");
    const { skills } = await lares.rpc("skills.list", {});
    expect(skills.map(({ name, state, own, imported }) => [name, state, own, imported])).toEqual([
      ["notes", "off", false, "openclaw"],
      ["weather", "off", false, "openclaw"],
    ]);
    expect(skills[1]!.why).toBe(`Imported, not used until you allow it: lares config set skills.allowed '["weather"]'`);
    const session = find(items, "session", "agent:main:main")!.becomes;
    const { lines } = await lares.rpc("sessions.export", { session });
    expect(lines.map((line) => [line.role, line.content])).toEqual([
      ["user", [{ type: "text", text: "Which ferry goes to Texel?" }]],
      ["assistant", [{ type: "text", text: "It leaves Den Helder every hour." }]],
    ]);
    expect(lines[0]!.timestamp).toBe("2026-02-02T08:00:01.000Z");
    const lemon = find(items, "session", "telegram:direct:42")!.becomes;
    expect((await lares.rpc("sessions.export", { session: lemon })).lines.map((line) => line.content)).toEqual([
      [{ type: "text", text: "Who waters the lemon tree?" }],
      [{ type: "text", text: "Ana waters the lemon tree." }],
    ]);
    const { jobs } = await lares.rpc("schedule.list", {});
    expect(jobs.map((job) => [job.name, job.enabled]).sort()).toEqual([
      ["Morning brief", false],
      ["Tide table", false],
      ["Water the plants", false],
    ]);
    expect(jobs.find((job) => job.name === "Morning brief")).toMatchObject({
      zone: "Europe/Lisbon",
      prompt: "Summarise my mail",
    });

    const facts = (await lares.rpc("memory.list", {})).facts.length;
    const again = await run("openclaw");
    expect(states(again)).toEqual(new Set(["there already", "left out"]));
    expect((await lares.rpc("memory.list", {})).facts.length).toBe(facts);
    expect((await lares.rpc("schedule.list", {})).jobs).toHaveLength(3);
    expect((await lares.rpc("sessions.get", { session })).messages).toBe(2);
    expect(fingerprint(openclaw)).toBe(before);
  });

  test("tokens come only when asked for, into the vault, and the account is not connected", async () => {
    await run("openclaw", { secrets: true });
    const yaml = readFileSync(join(lares.home, "lares.yaml"), "utf8");
    expect(yaml).toContain("vault:TELEGRAM_MAIN_TOKEN");
    expect(yaml).not.toContain("openclaw-fixture-token");
    const { value } = (await lares.rpc("config.get", { path: "channels.telegram.main.enabled" })) as {
      value?: unknown;
    };
    expect(value).toBe(false);
  });

  test("who may write, and where jobs answer, comes along; everybody and owners do not", async () => {
    const items = await run("openclaw", { secrets: true });
    const { value } = await lares.rpc("config.get", { path: "channels.telegram.main" });
    expect(value).toMatchObject({
      ...{ dm: "allowlist", allow: ["42", "43"], enabled: false },
      groups: { "-100500": { allow: ["42"], mention: false } },
    });
    expect(value).not.toHaveProperty("owners.0");
    expect(Object.keys((value as { groups: object }).groups)).toEqual(["-100500"]);
    const { jobs } = await lares.rpc("schedule.list", {});
    expect(jobs.find((job) => job.name === "Water the plants")).toMatchObject({
      deliver: { channel: "telegram", account: "main", chat: "-100500", thread: "7" },
    });
    expect(items.length).toBeGreaterThan(0);
  });
});

test("Hermes: memory, sessions from its database, skills and jobs; the soul is only proposed", async () => {
  const before = fingerprint(hermes);
  const items = await run("hermes");
  expect(fingerprint(hermes)).toBe(before);
  expect(find(items, "file", "SOUL.md")).toMatchObject({ becomes: "agents/main/imported/SOUL.md", state: "new" });
  await lares.rpc("import.accept", { id: "facts" });
  expect((await lares.rpc("memory.search", { query: "staging server" })).results[0]?.text).toContain("heron");
  const session = find(items, "session", "Server talk")!.becomes;
  expect((await lares.rpc("sessions.export", { session })).lines).toHaveLength(2);
  expect((await lares.rpc("schedule.list", {})).jobs.map((job) => job.name)).toEqual(
    expect.arrayContaining(["Digest", "Pulse"]),
  );
  const digest = (await lares.rpc("schedule.list", {})).jobs.find((job) => job.name === "Digest");
  expect(digest).toMatchObject({ deliver: { channel: "telegram", account: "main", chat: "42" } });
  expect(find(items, "skill", "deploy")).toMatchObject({ becomes: "agents/main/skills/deploy", state: "new" });
  expect((await lares.rpc("skills.get", { name: "deploy" })).text).toContain("make deploy");
  expect(find(items, "skill", "Tax_Forms")).toMatchObject({
    becomes: "agents/main/skills/tax-forms",
    why: expect.stringContaining("no description"),
  });
  expect((await lares.rpc("skills.get", { name: "tax-forms" })).state).toBe("unusable");
  expect(states(await run("hermes"))).toEqual(new Set(["there already", "left out"]));
  await expect(lares.rpc("import.run", { from: "hermes", dir: "/nowhere/at/all" })).rejects.toMatchObject({
    status: 404,
  });
});

describe("what an import leaves to do", () => {
  const account = "channels.telegram.house";
  let items: Awaited<ReturnType<typeof run>>;
  beforeAll(async () => {
    const dir = join(openclaw, "..", ".openclaw-house");
    mkdirSync(join(dir, "cron"), { recursive: true });
    const house = { botToken: "1:house-fixture-token", allowFrom: ["111", "*"], groups: { "-100": {} } };
    writeFileSync(join(dir, "openclaw.json"), JSON.stringify({ channels: { telegram: { accounts: { house } } } }));
    const job = {
      ...{ id: "j1", name: "morning", schedule: { kind: "cron", expr: "0 7 * * *" } },
      payload: { kind: "agentTurn", message: "Good morning" },
      delivery: { mode: "announce", channel: "telegram", to: "111", accountId: "house" },
    };
    writeFileSync(join(dir, "cron", "jobs.json"), JSON.stringify({ version: 1, jobs: [job] }));
    items = (await lares.rpc("import.run", { from: "openclaw", dir, secrets: true })).items;
  });

  test("each list of people can be changed on its own", async () => {
    expect(readFileSync(join(lares.home, "lares.yaml"), "utf8")).not.toMatch(/[&*]a\d/);
    await lares.rpc("config.set", { path: `${account}.allow`, value: ["111", "222"] });
    await lares.rpc("config.set", { path: `${account}.allow.0`, value: "333" });
    const { value } = await lares.rpc("config.get", { path: account });
    expect(value).toMatchObject({ allow: ["333", "222"], groups: { "-100": { allow: ["111"] } } });
  });

  test("a command to run next stands at the end, where it can be copied", () => {
    expect(find(items, "schedule", "morning")!.why).toBe(
      "Paused. It answers in telegram/house, 111. Read what it does, then: lares schedule update morning --resume",
    );
    expect(find(items, "channel", "telegram")!.why).toMatch(
      /^Not connected yet\. May write to it then: 111\. .*Switch the old one off, then: lares config set channels\.telegram\.house\.enabled true$/,
    );
  });

  test("a job that answers where a channel is off says how to switch it on", async () => {
    const { id } = (await lares.rpc("schedule.list", {})).jobs.find((job) => job.name === "morning")!;
    await expect(lares.rpc("schedule.update", { id, enabled: true })).rejects.toMatchObject({
      error: {
        message: "Nothing can be delivered to telegram/house: it is off.",
        hint: `Switch it on: lares config set ${account}.enabled true`,
      },
    });
  });
});
