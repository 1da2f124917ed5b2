/** Moving in from OpenClaw and Hermes, with the real program and the real command line. */
import { createHash } from "node:crypto";
import { cpSync, readdirSync, readFileSync, rmSync } from "node:fs";
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
  lares = await startLares({ config: { memory: { embedder: { use: "off" } } } });
});
afterAll(async () => {
  await lares?.dispose();
  rmSync(join(openclaw, ".."), { recursive: true, force: true });
});

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
    expect(find(items, "file", "SOUL.md")).toMatchObject({ becomes: "agents/main/SOUL.md", state: "new" });
    expect(find(items, "channel", "telegram")).toMatchObject({
      state: "left out",
      why: expect.stringContaining("secret"),
    });
    expect(find(items, "left out", "jobs.json")?.why).toContain("Probe");
    expect(find(items, "left out", "BOOTSTRAP")).toBeDefined();
    expect((await lares.rpc("memory.list", {})).facts).toEqual([]);
    expect((await lares.rpc("schedule.list", {})).jobs).toEqual([]);
    expect(readFileSync(join(lares.home, "agents/main/SOUL.md"), "utf8")).not.toContain("Molty");
  });

  test("souls, memory, skills, sessions and schedules arrive; twice is once; the source is untouched", async () => {
    const before = fingerprint(openclaw);
    const items = await run("openclaw");
    expect(states(items)).toEqual(new Set(["new", "there already", "left out"]));
    const soul = readFileSync(join(lares.home, "agents/main/SOUL.md"), "utf8");
    expect(soul).toContain("dry and quick");
    expect(soul).toContain("lobster");
    expect(readFileSync(join(lares.home, "agents/main/AGENTS.md"), "utf8")).toContain("cam-1");
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
      ["notes", "ready", false, "openclaw"],
      ["weather", "ready", false, "openclaw"],
    ]);
    const session = find(items, "session", "agent:main:main")!.becomes;
    const { lines } = await lares.rpc("sessions.export", { session });
    expect(lines.map((line) => [line.role, line.content])).toEqual([
      ["user", [{ type: "text", text: "Which ferry goes to Texel?" }]],
      ["assistant", [{ type: "text", text: "It leaves Den Helder every hour." }]],
    ]);
    expect(lines[0]!.timestamp).toBe("2026-02-02T08:00:01.000Z");
    const { jobs } = await lares.rpc("schedule.list", {});
    expect(jobs.map((job) => [job.name, job.enabled]).sort()).toEqual([
      ["Morning brief", true],
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
    expect((await lares.rpc("schedule.list", {})).jobs).toHaveLength(2);
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
});

test("Hermes: memory, sessions from its database, skills and jobs; a soul in use stays and the other is put beside it", async () => {
  const before = fingerprint(hermes);
  const items = await run("hermes");
  expect(fingerprint(hermes)).toBe(before);
  expect(find(items, "file", "SOUL.md")).toMatchObject({ becomes: "agents/main/imported/SOUL.md", state: "new" });
  expect((await lares.rpc("memory.search", { query: "staging server" })).results[0]?.text).toContain("heron");
  const session = find(items, "session", "Server talk")!.becomes;
  expect((await lares.rpc("sessions.export", { session })).lines).toHaveLength(2);
  expect((await lares.rpc("schedule.list", {})).jobs.map((job) => job.name)).toEqual(
    expect.arrayContaining(["Digest", "Pulse"]),
  );
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
