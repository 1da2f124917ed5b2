/** Starting: what is wrong is said before anything is touched, with an exit code that tells. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openDatabase } from "../../src/ground/records/driver.ts";
import { Lares, scratch, startLares } from "../support/index.ts";

let home: string;
beforeEach(() => {
  home = scratch("start");
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** Starts it and expects it to end by itself, soon, with a code that is not 0. Returns what it printed. */
async function refusal(config?: string | object, env?: Record<string, string>): Promise<string> {
  const lares = new Lares({ home, ...(config === undefined ? {} : { config }) });
  lares.spawn(env);
  const end = await lares.gone;
  expect(end.signal).toBe(null);
  expect(end.code).not.toBe(0);
  return lares.output;
}

describe("configuration", () => {
  it("an unknown key is refused with the nearest known name and its line", async () => {
    const said = await refusal("gateway:\n  http:\n    wiat: 3\n");
    expect(said).toMatch(/wiat/);
    expect(said).toMatch(/wait/);
    expect(said).toMatch(/line 3/);
    expect(existsSync(join(home, "lares.db"))).toBe(false);
  });

  it("all problems are told at once", async () => {
    const said = await refusal('limits:\n  dollars: "many"\nrouting:\n  scope: everybody\nagentz: {}\n');
    for (const word of ["dollars", "scope", "agentz", "agents"]) expect(said).toContain(word);
  });

  it("broken YAML is refused with its line", async () => {
    expect(await refusal("gateway:\n  port: [1\nlimits: {}\n")).toMatch(/line \d/);
  });

  it("a wrong variable is named", async () => {
    expect(await refusal({}, { ANTHROPIC_BASE_URL: "not an address" })).toContain("ANTHROPIC_BASE_URL");
  });

  it("a crash point that does not exist is refused, so that a test cannot pass by a typing error", async () => {
    expect(await refusal({}, { LARES_CRASH_AT: "accept.comitted" })).toContain("accept.comitted");
  });
});

describe("database", () => {
  const hash = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex");

  it("a newer one is refused, and the file stays as it is", async () => {
    const first = await startLares({ home });
    await first.stop();
    const file = join(home, "lares.db");
    const db = await openDatabase(file);
    db.exec("PRAGMA user_version = 9999");
    db.exec("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE");
    db.close();
    const before = hash(file);
    const said = await refusal();
    expect(said).toContain("9999");
    expect(said).toMatch(/newer/i);
    expect(hash(file)).toBe(before);
  });

  it("a file that is no database is refused, and stays as it is", async () => {
    const file = join(home, "lares.db");
    writeFileSync(file, "this is my diary, not a database. ".repeat(100));
    const before = hash(file);
    expect(await refusal()).toContain(file);
    expect(hash(file)).toBe(before);
  });

  it("what was there before a clean stop is there after it", async () => {
    const lares = await startLares({ home });
    const answer = await lares.chat("x", "hello", { key: "k" });
    const end = await lares.stop();
    expect(end.code ?? end.signal).toBe(0);
    expect(existsSync(join(home, "gateway.json"))).toBe(false);
    await lares.start();
    expect((await lares.chat("x", "hello", { key: "k" })).response).toBe(answer.response);
    await lares.dispose();
  });
});

describe("one process per home", () => {
  it("a second one is refused and names the first one's pid; the first goes on", async () => {
    const first = await startLares({ home });
    try {
      const said = await refusal();
      expect(said).toContain(String(first.pid));
      expect(said).toContain(home);
      expect((await first.chat("x", "hello")).state).toBe("answered");
    } finally {
      await first.dispose();
    }
  });

  it("after kill -9 the next start is not kept out", async () => {
    const lares = await startLares({ home });
    await lares.kill9();
    await lares.start();
    expect((await lares.chat("x", "hello")).state).toBe("answered");
    await lares.dispose();
  });
});
