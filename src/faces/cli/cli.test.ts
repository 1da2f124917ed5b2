/** Words, exit codes and streams of the commands that only ask. */
import { mkdtempSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { AppError } from "../../core/domain/index.ts";
import { CRASH_POINTS, ManualClock } from "../../core/kit/index.ts";
import {
  cli,
  type FakeGateway,
  fakeGateway,
  type Handlers,
  NOW,
  quietStatus,
  type RunOptions,
  SESSION,
  TOKEN,
  turnDetail,
} from "./testing.ts";

let gateway: FakeGateway | undefined;
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
});

async function run(argv: string[], handlers: Handlers = {}, options: Partial<RunOptions> = {}) {
  gateway = await fakeGateway(handlers);
  const ran = cli(argv, { home: gateway.home, clock: new ManualClock(NOW + 60_000), ...options });
  return { code: await ran.code, out: ran.out(), err: ran.err() };
}

async function down(argv: string[]) {
  const ran = cli(argv, { home: mkdtempSync(join(tmpdir(), "lares-none-")) });
  return { code: await ran.code, out: ran.out(), err: ran.err() };
}

const STATUS = quietStatus({
  version: "1.2.3",
  uptimeMs: 273_600_000,
  turns: { queued: 0, running: 1, parked: 2 },
  approvals: { pending: 2 },
  attention: 2,
  usageToday: { ...quietStatus().usageToday, inputTokens: 16_000, outputTokens: 600, cost: 0.5 },
  memory: { rss: 104_857_600, heapUsed: 1 },
});

describe("words", () => {
  it.each([
    [["sesions", "list"], 'Did you mean "lares sessions"?'],
    [["sessions", "lst"], 'Did you mean "lares sessions list"?'],
    [["gateway", "rnu"], 'Did you mean "lares gateway run"?'],
    [["status", "--jsno"], "Did you mean --json?"],
    [["memory", "forget", "x", "--person"], "See: lares memory forget --help"],
    [["approvals", "resolve", "abc123", "alow-once"], 'Did you mean "allow-once"?'],
  ])("%s gets the nearest right one", async (argv, hint) => {
    const { code, out, err } = await down(argv);
    expect(err).toContain(hint);
    expect(out).toBe("");
    expect(code).toBe(2);
  });

  it.each([
    [["approve"], "No id given. See: lares approve --help"],
    [["import", "hermes"], "No folder given. See: lares import hermes --help"],
    [["turns", "get"], "No turn given. See them: lares turns list"],
    [["sessions", "prune"], "--older-than"],
    [["gateway", "run", "--port", "x"], "whole number from 0 to 65535"],
    [["token", "now"], 'Unexpected argument "now" after "lares token"'],
    [["status", "--url", "ftp://x"], "isn't an http or https address"],
    [["chat"], "The message is empty."],
  ])("%s is wrong usage", async (argv, message) => {
    const { code, err } = await down(argv);
    expect(err).toContain(message);
    expect(code).toBe(2);
  });

  it("help and version need nothing", async () => {
    const help = await down(["--help"]);
    expect(help.code).toBe(0);
    expect(help.out.split("\n").length).toBeLessThanOrEqual(32);
    expect(Math.max(...help.out.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(await down(["--version"])).toEqual({ code: 0, out: "1.2.3\n", err: "" });
    expect((await down(["sessions", "--help"])).out).toContain("prune");
    expect((await down([])).out).toBe(help.out);
  });

  it("a usage error with --json is a document too", async () => {
    const { err, code } = await down(["sessions", "lst", "--json"]);
    expect(JSON.parse(err)).toEqual({
      error: {
        code: "BAD_REQUEST",
        message: 'There is no command "lares sessions lst".',
        hint: 'Did you mean "lares sessions list"?',
        retry: "never",
      },
    });
    expect(code).toBe(2);
  });
});

describe("a gateway that is down", () => {
  it("status says so in its first line, on stdout", async () => {
    const { code, out } = await down(["status"]);
    expect(out.split("\n")[0]).toBe("Lares is not running. Start it: lares gateway run");
    expect(code).toBe(3);
    const json = await down(["status", "--json"]);
    expect(JSON.parse(json.out)).toMatchObject({ running: false, error: { code: "GATEWAY_DOWN" } });
    expect(json.code).toBe(3);
  });

  it.each([
    [["sessions", "list"]],
    [["chat", "-m", "hi"]],
    [["approve", "abc123"]],
    [["turns", "get", "t_1"]],
    [["models", "list"]],
  ])("%s ends with 3", async (argv) => {
    const { code, out, err } = await down(argv);
    expect(err).toBe("Lares is not running. Start it: lares gateway run\n");
    expect(out).toBe("");
    expect(code).toBe(3);
  });

  it("a note left by a killed gateway does not mislead", async () => {
    const left = await fakeGateway();
    await left.stop();
    const ran = cli(["status"], { home: left.home });
    expect(await ran.code).toBe(3);
    expect(ran.out()).toContain("Lares is not running.");
    const named = cli(["models", "list", "--url", left.url], { home: left.home });
    expect(await named.code).toBe(3);
    expect(named.err()).toContain(`Nothing answers at ${left.url}.`);
  });
});

describe("a token", () => {
  /** Somebody else's listener: what it was sent. */
  async function stranger() {
    const heard: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      heard.push(request.headers.authorization);
      response.end("{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    return { heard, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  }

  it("kept in the home goes to no other address than the home's own (CLI-6)", async () => {
    const own = await fakeGateway({ health: () => ({ ok: true, version: "1", uptimeMs: 1 }) });
    onTestFinished(() => own.close());
    const { heard, url } = await stranger();
    for (const argv of [["status"], ["models", "list"], ["chat", "-m", "hi"], ["logs"]]) {
      const ran = cli([...argv, "--url", url], { home: own.home });
      expect(await ran.code, argv[0]).not.toBe(0);
      expect(ran.err() + ran.out()).toContain("its token wasn't sent");
      expect(ran.err() + ran.out()).not.toContain(TOKEN);
    }
    // The same name in front of an @ is a user, not an address.
    await cli(["status", "--url", url.replace("://", `://${new URL(own.url).host}@`)], { home: own.home }).code;
    expect(heard).toEqual([]);
  });

  it("given for the call goes where it was given for, by flag or by variable", async () => {
    const { heard, url } = await stranger();
    const home = mkdtempSync(join(tmpdir(), "lares-cli-"));
    await cli(["status", "--url", url, "--token", "for-them"], { home }).code;
    await cli(["status", "--url", url], { home, variables: { LARES_TOKEN: "by-variable" } }).code;
    expect([...new Set(heard)]).toEqual(["Bearer for-them", "Bearer by-variable"]);
  });
});

it("a hint names the home that was given", async () => {
  const { err } = await down(["status", "--jsno", "--home", "/else where"]);
  expect(err).toContain("Did you mean --json?");
  const ran = cli(["models", "list", "--home", "/else where"], { home: "/nowhere" });
  expect(await ran.code).toBe(3);
  expect(ran.err()).toBe("Lares is not running. Start it: lares --home '/else where' gateway run\n");
});

it("what cannot be a secret's name is refused before a value is read, and not repeated", async () => {
  const { code, out, err } = await down(["secrets", "set", "MYSEC=abc"]);
  expect(err).toContain("That can't be a secret's name.");
  expect(out + err).not.toContain("abc");
  expect(code).toBe(2);
});

describe("errors of the gateway", () => {
  const failing = (code: AppError["code"]) => ({
    "turns.get": () => {
      throw new AppError(code, { message: "It went wrong.", hint: "Do this." });
    },
  });
  it.each([
    ["UNAUTHORIZED", 4],
    ["FORBIDDEN", 4],
    ["NOT_FOUND", 5],
    ["BAD_REQUEST", 2],
    ["NOT_READY", 3],
    ["INTERNAL", 1],
  ] as const)("%s is exit code %i", async (code, exit) => {
    const got = await run(["turns", "get", "t_1"], failing(code));
    expect(got.code).toBe(exit);
    expect(got.err).toBe("It went wrong. Do this.\n");
    expect(got.out).toBe("");
  });

  it("with --json they are one line on stderr and stdout stays empty", async () => {
    const got = await run(["turns", "get", "t_1", "--json"], failing("NOT_FOUND"));
    expect(JSON.parse(got.err)).toEqual({
      error: { code: "NOT_FOUND", message: "It went wrong.", hint: "Do this.", retry: "never" },
    });
    expect(got.out).toBe("");
  });

  it("a wrong token is not allowed, a missing one is told", async () => {
    const wrong = await run(["models", "list", "--token", "no"]);
    expect(wrong.code).toBe(4);
    await gateway?.close();
    const none = await run(["models", "list"], {}, { readToken: () => undefined });
    expect(none.err).toContain("No token found");
    expect(none.code).toBe(4);
  });
});

describe("status", () => {
  it("answers first, then details", async () => {
    const { code, out } = await run(["status"], { status: () => STATUS });
    const [first, ...rows] = out.split("\n");
    expect(first).toBe("● Lares is running, up 3 d 4 h.");
    expect(rows).toContain("  needs you  ◐ 2 approvals: lares approvals list");
    expect(rows).toContain("  turns      1 running, 0 queued, 2 waiting");
    expect(rows).toContain("  model      the practice model (no key was found)");
    expect(rows).toContain("  today      16.6k tokens");
    expect(code).toBe(0);
  });

  it("ends with 1 when there is a problem", async () => {
    const status = () => ({ ...STATUS, problems: ["The disk is full."] });
    const { code, out } = await run(["status"], { status });
    expect(out).toContain("✕ Lares is running, up 3 d 4 h, with a problem: The disk is full.");
    expect(code).toBe(1);
  });

  it("--json is one document", async () => {
    const { out, err } = await run(["status", "--json"], { status: () => STATUS });
    expect(JSON.parse(out)).toEqual({ running: true, ...STATUS });
    expect(err).toBe("");
  });

  it("a gateway that does not serve says why", async () => {
    const status = () => {
      throw new AppError("NOT_READY", { message: "The disk is full.", retry: "later" });
    };
    const { code, out } = await run(["status"], { status });
    expect(out).toContain("Lares is running but not serving requests: The disk is full.");
    expect(code).toBe(3);
  });
});

describe("turns", () => {
  it("get is a sentence, then a row per step", async () => {
    const detail = turnDetail({ notices: ["A fallback answered."] });
    const { out, code } = await run(["turns", "get", "t_1"], { "turns.get": () => detail });
    const lines = out.split("\n");
    expect(lines[0]).toBe("✓ answered · 4.2 s · 3 steps · $0.013");
    expect(lines.find((l) => l.includes("model call 1"))).toMatch(/✓ {2}model call 1 {2}\+0 s {4}█+ +1\.0 s/);
    expect(lines.find((l) => l.includes("exec"))).toMatch(/✓ {2}exec .*\+1\.1 s {2} +█+ +1\.9 s/);
    expect(out).toContain("! A fallback answered.");
    expect(lines.at(-2)).toBe("Hello there.");
    expect(code).toBe(0);
  });

  it("nothing a model says can steer the terminal", async () => {
    const detail = turnDetail({ response: "a\u001b[2Jb\u202ec" });
    const { out } = await run(["turns", "get", "t_1"], { "turns.get": () => detail });
    expect(out).toContain("a\\x1b[2Jb\\u202ec");
    expect(out).not.toContain("\u001b");
  });

  it("list as JSON Lines, newest last", async () => {
    const turn = (id: string) => ({ turn: id, session: SESSION, agent: "main", state: "answered", acceptedAt: NOW });
    const { out } = await run(["turns", "list", "--json"], { "turns.list": () => ({ turns: [turn("b"), turn("a")] }) });
    expect(
      out
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { turn: string }).turn),
    ).toEqual(["a", "b"]);
  });
});

describe("small ones", () => {
  it("models list marks who answers", async () => {
    const base = { provider: "x", contextWindow: 200_000, maxOutput: 1, practice: false };
    const models = [
      {
        ...base,
        id: "a/b",
        price: { input: 3, output: 15, cacheRead: 0, cacheWrite: 0 },
        because: "ANTHROPIC_API_KEY",
      },
      { ...base, id: "c/d", price: null, because: "listed" },
    ];
    const { out } = await run(["models", "list"], { "models.list": () => ({ models, primary: "a/b" }) });
    expect(out).toContain("Using a/b; 2 models available.");
    expect(out).toMatch(/● {2}a\/b {2}200k tokens {2}\$3 in, \$15 out per 1M {2}ANTHROPIC_API_KEY/);
    expect(out).toContain("price unknown");
  });

  it("token prints the token and nothing else", async () => {
    expect(await down(["token"])).toEqual({ code: 0, out: "lares_test_token\n", err: "" });
    const ran = cli(["token"], { home: "/nowhere", readToken: () => undefined });
    expect(await ran.code).toBe(5);
  });

  it("debug crash-points prints the whole catalogue", async () => {
    const { out } = await down(["debug", "crash-points", "--json"]);
    const points = out
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { point: string }).point);
    expect(points).toEqual(Object.keys(CRASH_POINTS));
  });

  it("colour only on a terminal, and not with NO_COLOR", async () => {
    const plain = await run(["status"], { status: () => STATUS });
    expect(plain.out).not.toContain("\u001b[");
    const off = cli(["status"], { home: gateway!.home, tty: true });
    await off.code;
    expect(off.out()).not.toContain("\u001b[");
    const { readEnvironment } = await import("../../ground/config/index.ts");
    const env = readEnvironment({ LARES_HOME: gateway!.home, TERM: "xterm" });
    const on = cli(["status"], { home: gateway!.home, tty: true, env });
    await on.code;
    expect(on.out()).toContain("\u001b[32m●\u001b[0m");
  });
});
