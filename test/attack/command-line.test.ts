/** What the command line says when it is not let in: never "not running", which would make people start a second Lares. */
import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { socketFailure } from "../../src/faces/cli/unreachable.ts";
import { type Lares, PROGRAM, startLares, TOKEN } from "../support/index.ts";

let lares: Lares;
beforeAll(async () => {
  lares = await startLares();
});
afterAll(() => lares.dispose());

interface Said {
  code: number | null;
  text: string;
}

function run(argv: string[], { token = TOKEN, url = lares.url, input = "" } = {}): Promise<Said> {
  const args = [PROGRAM, ...argv, "--home", lares.home, ...(url ? ["--url", url] : [])];
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH ?? "", HOME: lares.home, LARES_TOKEN: token },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let text = "";
  for (const out of [child.stdout, child.stderr]) out.on("data", (c: Buffer) => (text += c.toString("utf8")));
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, text })));
}

describe("not let in", () => {
  test("a wrong token is refused, then held up, and the right one still gets in", async () => {
    const first = await run(["status"], { token: "wrong" });
    expect(first).toMatchObject({ code: 4 });
    expect(first.text).toContain("The token is not known.");
    for (let n = 0; n < 25; n++) {
      const headers = { authorization: `Bearer wrong-${n}` };
      await fetch(`${lares.url}/rpc/health`, { method: "POST", headers, body: "{}" });
    }
    const limited = await run(["status"], { token: "wrong" });
    expect(limited.code).toBe(4);
    expect(limited.text).toContain("too many wrong ones have been tried from here");
    expect(limited.text).not.toContain("not running");
    const chat = await run(["chat", "-m", "hello"], { token: "wrong" });
    expect(chat.text).toContain("wrong");
    expect(chat.text).not.toContain("not running");
    expect((await run(["status"])).text).toContain("Lares is running");
    expect((await run(["chat", "-m", "hello"])).code).toBe(0);
  });

  test("a token that cannot be one is named as the reason", async () => {
    for (const token of ["two\nlines", "x".repeat(30_000)]) {
      for (const argv of [["status"], ["chat", "-m", "hello"]]) {
        const said = await run(argv, { token });
        expect(said.text, argv[0]).toMatch(/token/);
        expect(said.text, argv[0]).not.toContain("not running");
        expect([1, 4]).toContain(said.code);
      }
    }
  });

  test("too large a message says so", async () => {
    const said = await run(["chat", "-m", "-"], { input: "x".repeat(3_000_000) });
    expect(said.text).toMatch(/larger|MB|too long|at most/);
    expect(said.text).not.toContain("not running");
    expect(said.code).not.toBe(0);
  });
});

describe("something that breaks off", () => {
  let broken: Server;
  beforeAll(async () => {
    broken = createServer((socket) => socket.on("error", () => {}).once("data", () => socket.resetAndDestroy()));
    await new Promise<void>((resolve) => broken.listen(0, "127.0.0.1", resolve));
  });
  afterAll(() => broken.close());

  test("a connection that breaks is called that", async () => {
    const { port } = broken.address() as { port: number };
    const said = await run(["sessions", "list"], { url: `http://127.0.0.1:${port}` });
    expect(said.text).toContain("The connection to Lares broke before it answered.");
  });
});

test("each way a socket is refused has its own sentence, with what to do", () => {
  const url = "http://127.0.0.1:7717";
  const ways = [
    { code: 4003 },
    { code: 4029 },
    { code: 4009 },
    { code: 1013 },
    { code: 1006 },
    { status: 403 },
    { status: 503 },
    { status: 404 },
    { code: 1006, cause: Object.assign(new Error("x"), { code: "ECONNREFUSED" }) },
  ];
  const said = ways.map((way) => socketFailure({ ...way, url }));
  expect(new Set(said.map((error) => error.message)).size).toBe(ways.length);
  for (const error of said) expect(error.hint).toBeTruthy();
  expect(said.filter((error) => error.message.includes("not running"))).toHaveLength(1);
});

/** A stdout that takes nothing. Only its descriptor is handed over. */
describe.skipIf(!existsSync("/dev/full"))("output that can't be written", () => {
  const full = async (argv: string[]) => {
    const out = openSync("/dev/full", "w");
    const child = spawn(process.execPath, [PROGRAM, ...argv], {
      env: { PATH: process.env.PATH ?? "", HOME: lares.home, LARES_HOME: lares.home, LARES_TOKEN: TOKEN },
      stdio: ["ignore", out, "pipe"],
    });
    closeSync(out);
    let text = "";
    child.stderr!.on("data", (c: Buffer) => (text += c.toString("utf8")));
    return new Promise<Said>((resolve) => child.once("close", (code) => resolve({ code, text })));
  };

  test.each(["sessions list", "memory export", "status --json", "--help", "--version", "sessions --help"])(
    "lares %s says so and fails",
    async (words) => {
      if (words === "memory export") await lares.rpc("memory.add", { text: "The harbour opens at six." });
      const { code, text } = await full(words.split(" "));
      expect(text).toContain("Couldn't write all of the output: no space is left (ENOSPC).");
      expect(code).toBe(2);
    },
  );
});
