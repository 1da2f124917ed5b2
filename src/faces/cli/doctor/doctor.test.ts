/** Each check with something good and something bad, on a real home and a machine made up. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references as lares.yaml has them
import { chmodSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { defineConfig, readEnvironment } from "../../../ground/config/index.ts";
import type { HomeExamined } from "../ports.ts";
import { cli, type FakeGateway, fakeGateway, quietStatus } from "../testing.ts";
import type { DoctorGround, Finding, Machine } from "./check.ts";
import { CHECKS, examine } from "./doctor.ts";

const NOW = Date.UTC(2026, 10, 15);
const MB = 1_048_576;
const schema = defineConfig({
  gateway: z.strictObject({ port: z.number().int().default(7717), bind: z.string().default("127.0.0.1") }),
  models: z.strictObject({
    default: z.string().optional(),
    providers: z
      .record(z.string(), z.strictObject({ keys: z.array(z.string()).optional(), baseUrl: z.string().optional() }))
      .default({}),
  }),
  agents: z.record(z.string(), z.looseObject({})).default({}),
});
const STATUS = quietStatus({
  model: { id: "anthropic/claude", practice: false, because: "ANTHROPIC_API_KEY is set" },
});

const EXAMINED = (over: Partial<HomeExamined["database"]> = {}, sandbox: Partial<HomeExamined["sandbox"]> = {}) => ({
  database: { file: "/h/lares.db", state: "whole" as const, bytes: 4096, ...over },
  sandbox: { name: "bubblewrap", ok: true, ...sandbox },
});

let home: string;
let machine: Machine;
let ground: DoctorGround;
/** Where the checks tried to connect. */
let reached: { host: string; port: number }[];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "lares-doctor-"));
  reached = [];
  machine = {
    now: NOW,
    platform: "linux",
    nodeVersion: "v20.19.0",
    freeBytes: async () => 500 * MB,
    program: (name) => `/usr/bin/${name}`,
    isAlive: () => false,
    canConnect: async (at) => {
      reached.push(at);
      return false;
    },
  };
  ground = {
    home,
    env: readEnvironment({ HOME: home, LARES_HOME: home }),
    machine,
    schema: async () => schema,
    advice: async () => [],
    examined: async () => EXAMINED(),
    status: undefined,
  };
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

async function check(id: string, over: Partial<DoctorGround> & { on?: Partial<Machine> } = {}): Promise<Finding> {
  const { on, ...rest } = over;
  const found = await examine(
    { ...ground, ...rest, machine: { ...machine, ...on } },
    CHECKS.filter((one) => one.id === id),
  );
  expect(found.length).toBe(1);
  return found[0]!;
}

function put(name: string, text: string, mode = 0o600): string {
  const file = join(home, name);
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

describe("Node", () => {
  it.each(["v20.19.0", "v22.1.0"])("%s is new enough", async (nodeVersion) => {
    expect((await check("node", { on: { nodeVersion } })).level).toBe("ok");
  });
  it.each(["v20.18.9", "v18.20.0"])("%s is too old", async (nodeVersion) => {
    expect(await check("node", { on: { nodeVersion } })).toMatchObject({
      level: "bad",
      fix: "Install Node 20.19 or newer",
    });
  });
});

describe("home", () => {
  it("0700 is good, others who can look are worth a warning; others who can write, none or a file are bad", async () => {
    expect((await check("home")).level).toBe("ok");
    chmodSync(home, 0o750);
    expect(await check("home")).toMatchObject({ level: "warn", fix: `chmod 700 ${home}` });
    chmodSync(home, 0o770);
    expect(await check("home")).toMatchObject({ level: "bad", fix: `chmod 700 ${home}` });
    chmodSync(home, 0o700);
    expect(await check("home", { home: join(home, "none") })).toMatchObject({
      level: "bad",
      fix: expect.stringContaining("lares onboard"),
    });
    expect((await check("home", { home: put("file", "") })).text).toContain("is a file, not a folder");
  });
});

describe("files", () => {
  it.each(["token", "lares.db", "chat-history"])("%s that others can read is bad", async (name) => {
    put(name, "x");
    expect((await check("files")).level).toBe("ok");
    const file = put(name, "x", 0o640);
    expect(await check("files")).toMatchObject({ level: "bad", fix: `chmod 600 ${file}` });
  });

  it("lares.yaml matters when a key stands in it, not when it only refers to one", async () => {
    put("lares.yaml", 'models:\n  providers:\n    openai:\n      keys: ["${OPENAI_API_KEY}"]\n', 0o644);
    expect((await check("files")).level).toBe("ok");
    put("lares.yaml", "models:\n  providers:\n    openai:\n      keys: [sk-123]\n", 0o644);
    expect((await check("files")).level).toBe("bad");
    put("lares.yaml", "models:\n  providers:\n    openai:\n      keys: [sk-123]\n", 0o600);
    expect((await check("files")).level).toBe("ok");
  });
});

describe("disk", () => {
  it("less than 200 MB is bad, not knowing is said", async () => {
    expect((await check("disk", { on: { freeBytes: async () => 200 * MB } })).level).toBe("ok");
    const little = await check("disk", { on: { freeBytes: async () => 199 * MB } });
    expect(little).toMatchObject({ level: "bad", text: expect.stringMatching(/^Only 199 MB left on the disk of \//) });
    expect((await check("disk", { on: { freeBytes: async () => undefined } })).level).toBe("warn");
  });
});

describe("clock", () => {
  it("before this Lares was made is bad", async () => {
    expect((await check("clock")).level).toBe("ok");
    expect(await check("clock", { on: { now: Date.UTC(1970, 0, 1) } })).toMatchObject({
      level: "bad",
      text: expect.stringContaining("1970-01-01"),
    });
  });
  it("behind the newest record is bad, a little is not", async () => {
    const file = put("lares.db", "");
    utimesSync(file, NOW / 1000, NOW / 1000 + 30);
    expect((await check("clock")).level).toBe("ok");
    utimesSync(file, NOW / 1000, NOW / 1000 + 7200);
    expect((await check("clock")).text).toBe("The clock is 2 h behind the newest record.");
  });
});

describe("settings", () => {
  it("none and good ones are fine; a bad one is told with line and caret", async () => {
    expect((await check("config")).level).toBe("ok");
    put("lares.yaml", "gateway:\n  port: 8080\n");
    expect((await check("config")).text).toContain("is valid");
    put("lares.yaml", "gateway:\n  port: lots\n");
    const bad = await check("config");
    expect(bad.level).toBe("bad");
    expect(bad.text).toContain("line 2");
    expect(bad.more).toEqual(["2 |   port: lots", "  |         ^"]);
  });
  it("every problem is a line of its own", async () => {
    put("lares.yaml", "gateway:\n  prot: 1\n  bind: 5\n");
    const found = await examine(
      ground,
      CHECKS.filter(({ id }) => id === "config"),
    );
    expect(found.map(({ level }) => level)).toEqual(["bad", "bad"]);
  });
});

describe("database", () => {
  const opened = (over: Partial<HomeExamined["database"]>) =>
    check("database", { examined: async () => EXAMINED(over) });

  it("says what was found by opening it", async () => {
    expect((await check("database")).text).toBe("/h/lares.db opens and passes its check (4 kB).");
    expect((await opened({ state: "missing" })).level).toBe("ok");
    expect((await opened({ state: "unchecked" })).text).toContain("too large to check fully");
    expect((await opened({ state: "empty" })).level).toBe("warn");
    for (const state of ["refused", "damaged"] as const) {
      const found = await opened({ state, message: "/h/lares.db is odd.", hint: "Restore a copy." });
      expect(found).toMatchObject({ level: "bad", text: "/h/lares.db is odd.", fix: "Restore a copy." });
    }
  });
});

it("a check that fails says so, and the others are shown", async () => {
  const found = await examine({ ...ground, examined: () => Promise.reject(new Error("boom")) });
  expect(found.find(({ id }) => id === "database")).toMatchObject({
    level: "bad",
    text: "This couldn't be checked: boom",
  });
  expect(found.find(({ id }) => id === "node")?.level).toBe("ok");
});

describe("process", () => {
  it("a living process without an answer is bad, a dead one is not", async () => {
    expect((await check("lock")).level).toBe("ok");
    put("lares.pid", "4242\n");
    expect((await check("lock")).text).toContain("Process 4242 was killed");
    expect(await check("lock", { on: { isAlive: () => true } })).toMatchObject({
      level: "bad",
      fix: expect.stringContaining("kill 4242"),
    });
    expect((await check("lock", { on: { isAlive: () => true }, status: STATUS })).text).toContain("process 7");
  });
});

describe("port", () => {
  it("free or ours is good; taken by another is bad", async () => {
    put("lares.yaml", "gateway:\n  port: 8080\n");
    expect((await check("port")).text).toContain("Port 8080 is free.");
    expect(reached).toEqual([{ host: "127.0.0.1", port: 8080 }]);
    const taken = await check("port", { on: { canConnect: async () => true } });
    expect(taken).toMatchObject({ level: "bad", fix: expect.stringContaining("lares config set gateway.port 8081") });
    expect((await check("port", { status: STATUS, on: { canConnect: async () => true } })).level).toBe("ok");
  });
});

describe("model", () => {
  const env = (more: Record<string, string>) => readEnvironment({ HOME: home, LARES_HOME: home, ...more });

  it.each([
    ["isn't YAML", "models: [1,\n"],
    ["has a wrong value", "gateway:\n  port: nine\n"],
  ])("settings that %s say nothing about the model or the port", async (_what, yaml) => {
    put("lares.yaml", yaml);
    for (const id of ["model", "port"]) {
      const found = await check(id, { env: env({ ANTHROPIC_API_KEY: "k" }) });
      expect(found).toMatchObject({ level: "off", fix: expect.stringContaining("lares config check") });
      expect(found.text).toMatch(/^lares\.yaml can't be read, so .* isn't known\.$/);
    }
    expect(reached).toEqual([]);
    // What runs knows its own.
    expect((await check("model", { status: STATUS })).text).toContain("anthropic/claude");
    expect((await check("port", { status: STATUS })).level).toBe("ok");
  });

  it("without any, the practice model answers, which is not wrong", async () => {
    expect(await check("model")).toMatchObject({ level: "off", fix: "Connect one: lares onboard" });
    const status = { ...STATUS, model: { id: "practice/practice", practice: true, because: "no key" } };
    expect((await check("model", { status })).level).toBe("off");
  });

  it.each([
    [{ ANTHROPIC_API_KEY: "k" }, "", "api.anthropic.com", 443],
    [{ OLLAMA_BASE_URL: "http://127.0.0.1:9999" }, "", "127.0.0.1", 9999],
    [{ ANTHROPIC_API_KEY: "k", LARES_MODEL: "openai/x" }, "", "api.openai.com", 443],
    [{}, "models:\n  default: own/m\n  providers: { own: { baseUrl: 'http://10.0.0.1/v1' } }\n", "10.0.0.1", 80],
  ])("%s is looked for where it is", async (variables, yaml, host, port) => {
    put("lares.yaml", yaml);
    const down = await check("model", { env: env(variables as Record<string, string>) });
    expect(down.level).toBe("bad");
    expect(reached).toEqual([{ host, port }]);
    const up = await check("model", {
      env: env(variables as Record<string, string>),
      on: { canConnect: async () => true },
    });
    expect(up.level).toBe("ok");
  });

  it("one that can't be used is called that, and the network isn't blamed", async () => {
    put("lares.yaml", "models:\n  default: anthropic/claude\n");
    const message = "anthropic/claude can't answer: anthropic isn't set up.";
    const advice = async () => [{ path: "models.default", message }];
    expect(await check("model", { advice })).toMatchObject({ level: "bad", text: message });
    expect(await check("model", { advice, status: STATUS })).toMatchObject({ level: "bad", text: message });
    expect(reached).toEqual([]);
  });

  it("what the running Lares uses is what is looked for", async () => {
    await check("model", { status: STATUS, env: env({ OPENAI_API_KEY: "k" }) });
    // The running gateway may have another address in its environment: it is asked, and not this shell.
    const model = { ...STATUS.model, address: "127.0.0.1:8099" };
    const elsewhere = {
      status: { ...STATUS, model },
      on: { canConnect: async ({ port }: { port: number }) => port === 8099 },
    };
    expect((await check("model", elsewhere)).text).toBe("anthropic/claude can be reached (127.0.0.1).");
    expect(reached).toEqual([{ host: "api.anthropic.com", port: 443 }]);
  });

  it("a hint of HEARTBEAT.md that is no time is shown", async () => {
    const beat = {
      agent: "main",
      state: "watching" as const,
      because: "",
      items: 1,
      useless: 0,
      problems: [`HEARTBEAT.md, "Look (every banana)": "banana" is no time.`],
      today: { looks: 0, calls: 0, cost: 0, unknownPrice: 0 },
    };
    const found = await check("heartbeat", { status: { ...STATUS, heartbeats: [beat] } });
    expect(found).toMatchObject({ level: "warn", text: expect.stringContaining("every banana") });
  });

  it("HEARTBEAT.md: a Lares that runs but can't answer isn't taken for one that doesn't run", async () => {
    expect(await check("heartbeat")).toMatchObject({ level: "ok", text: "No heartbeat is turned on." });
    put("lares.yaml", "agents:\n  main:\n    heartbeat:\n      every: 30m\n");
    expect((await check("heartbeat")).text).toContain("is checked while Lares is running");
    const full = await check("heartbeat", { answersAt: "http://127.0.0.1:7717" });
    expect(full).toMatchObject({ level: "off", text: expect.stringContaining("Lares is running, but can't say") });
  });

  it("a place nobody knows is said", async () => {
    put("lares.yaml", "models:\n  default: nobody/m\n");
    expect((await check("model")).level).toBe("warn");
  });
});

describe("what is optional", () => {
  it("a browser that is missing is not wrong, and says how to get it", async () => {
    expect((await check("browser")).level).toBe("ok");
    expect(await check("browser", { on: { program: () => undefined } })).toMatchObject({
      level: "off",
      fix: expect.stringContaining("apt install"),
    });
  });
});

describe("sandbox", () => {
  const tried = (sandbox: Partial<HomeExamined["sandbox"]>, on: Partial<Machine> = {}) =>
    check("sandbox", { examined: async () => EXAMINED({}, sandbox), on });

  it("is what a command ran in, not what is installed", async () => {
    expect((await tried({})).text).toBe("The sandbox works (bubblewrap).");
    const none = { name: "none", ok: false, why: "bubblewrap does not work here: no permission" };
    expect(await tried(none)).toMatchObject({
      level: "warn",
      text: "No sandbox: commands run with your rights (bubblewrap does not work here: no permission).",
      fix: expect.stringContaining("user namespaces"),
    });
    expect(await tried(none, { program: () => undefined })).toMatchObject({
      level: "off",
      fix: "Debian: apt install bubblewrap",
    });
    expect((await tried(none, { platform: "darwin" })).level).toBe("off");
    // Turned off in the settings: there is nothing to install.
    expect(await tried({ name: "none", ok: false, why: "sandbox.backend is none", byHand: true })).toMatchObject({
      level: "off",
      fix: "Turn it on: lares config set sandbox.backend auto",
    });
    expect(await tried({ name: "docker", ok: false, why: "docker does not answer" })).toMatchObject({ level: "bad" });
  });
});

describe("lares doctor", () => {
  let gateway: FakeGateway | undefined;
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });
  async function run(argv: string[], at: string) {
    const ran = cli(["doctor", ...argv], { home: at, configSchema: async () => schema });
    return { code: await ran.code, out: ran.out(), err: ran.err() };
  }

  it("works when nothing runs, names each fix, and ends with 1 when something is wrong", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as { port: number };
    put("lares.yaml", `gateway:\n  port: ${port}\n`);
    const { code, out } = await run([], home);
    expect(out).toMatch(/^1 problem found\.\n/);
    expect(out).toMatch(new RegExp(`✕ {2}port +Another program is using port ${port}\\.\\n {6}→ Stop it`));
    expect(code).toBe(1);
    await new Promise((resolve) => server.close(resolve));
    const good = await run([], home);
    expect(good.out.split("\n")[0]).toBe("No problems found.");
    expect(good.code).toBe(0);
  });

  it("--json is one document with every check", async () => {
    put("lares.yaml", "gateway:\n  port: x\n");
    const { code, out } = await run(["--json"], home);
    const told = JSON.parse(out) as { ok: boolean; running: boolean; checks: { id: string; level: string }[] };
    expect([...new Set(told.checks.map(({ id }) => id))]).toEqual(CHECKS.map(({ id }) => id));
    expect(told).toMatchObject({ ok: false, running: false });
    expect(code).toBe(1);
  });

  it("asks the running Lares, and a token it refuses is told", async () => {
    gateway = await fakeGateway({ status: () => ({ ...STATUS, model: { ...STATUS.model, practice: true } }) });
    chmodSync(join(gateway.home, "gateway.json"), 0o600);
    const good = await run([], gateway.home);
    expect(good.out).toContain("Lares answers at http://127.0.0.1:7717.");
    expect(good.code).toBe(0);
    const wrong = await run(["--token", "no"], gateway.home);
    expect(wrong.out).toContain("A token is needed.");
    expect(wrong.code).toBe(1);
  });
});
