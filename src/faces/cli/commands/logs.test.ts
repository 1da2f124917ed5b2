import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import type { Result } from "../../../core/protocol/index.ts";
import { cli, type FakeGateway, fakeGateway, type Ran, until } from "../testing.ts";

type Line = Result<"logs.tail">["lines"][number];
const line = (seq: number, what: string, level: Line["level"] = "info"): Line => ({
  seq,
  level,
  time: "2026-11-15T12:00:00.000Z",
  room: "turns",
  what,
});

let gateway: FakeGateway;
let ran: Ran;
let kept: Line[];
afterEach(async () => {
  ran.signal("SIGINT");
  await ran.code;
  await gateway.close();
});

async function run(...argv: string[]): Promise<void> {
  gateway = await fakeGateway({
    "logs.tail": ({ after = 0, limit = 50 }) => ({ lines: kept.filter((one) => one.seq > after).slice(-limit) }),
  });
  ran = cli(["logs", ...argv], { home: gateway.home });
}
const said = (what: string) => ran.out().split(what).length - 1;

it("shows the newest lines with their facts, and nothing in them can steer the terminal", async () => {
  kept = [line(1, "old"), { ...line(2, "a\u001b[2Jb", "warn"), facts: { code: "X", n: 3 } }];
  await run("-n", "1", "--level", "info");
  expect(await ran.code).toBe(0);
  expect(ran.out()).toMatch(/^\d\d:00:00 {2}warn {3}turns {2}a\\x1b\[2Jb {2}code=X n=3\n$/);
  expect(gateway.callsOf("logs.tail")).toEqual([{ limit: 1, level: "info" }]);
});

it("an empty log is a sentence", async () => {
  kept = [];
  await run();
  await ran.code;
  expect(ran.out()).toBe("Nothing logged.\n");
});

it("-f goes on, each line once, and quieter ones are left out (CLI-4)", async () => {
  kept = [line(1, "first"), line(2, "second", "warn")];
  await run("-f", "--level", "info");
  await until(() => said("second") === 1);
  gateway.emit({ event: "log", ...line(2, "second", "warn") });
  gateway.emit({ event: "log", ...line(3, "whispered", "debug") });
  gateway.emit({ event: "log", ...line(4, "third", "error") });
  await until(() => said("third") === 1);
  expect([said("first"), said("second"), said("whispered")]).toEqual([1, 1, 0]);
  ran.signal("SIGINT");
  expect(await ran.code).toBe(130);
});

it("-f finds what was said while the connection was away", async () => {
  kept = [line(1, "before")];
  await run("-f", "--json");
  await until(() => said("before") === 1);
  kept.push(line(2, "meanwhile"));
  gateway.cut();
  await until(() => said("meanwhile") === 1);
  gateway.emit({ event: "log", ...line(3, "after") });
  await until(() => said("after") === 1);
  const lines = ran.out().trim().split("\n");
  expect(lines.map((one) => (JSON.parse(one) as Line).what)).toEqual(["before", "meanwhile", "after"]);
  expect(ran.err()).toBe("");
});

it("-f through a restart shows what the new process says from its beginning", async () => {
  kept = [line(1, "before"), line(2, "more")];
  await run("-f");
  await until(() => said("more") === 1);
  await gateway.stop();
  kept = [line(1, "hello again")];
  await gateway.start();
  await until(() => said("hello again") === 1);
  expect(ran.err()).toContain("Lares restarted");
});

const stored = (newer: Line[][]) => async (home: string) => ({
  file: `${home}/logs/lares.log`,
  tail: () => [line(1, "the last words", "error")],
  more: () => newer.shift() ?? [],
  close() {},
});

it("when nothing runs, the file is read and that is said", async () => {
  await run();
  await ran.code;
  await gateway.stop();
  ran = cli(["logs"], { home: gateway.home, readLogs: stored([]) });
  expect(await ran.code).toBe(0);
  expect(ran.out()).toContain("the last words");
  expect(ran.err()).toBe(`Lares is not running. This is from ${gateway.home}/logs/lares.log\n`);
  await gateway.start();
});

it("a home that is a file is a sentence with the way out, also with -f", async () => {
  await run();
  await ran.code;
  await gateway.stop();
  const file = join(gateway.home, "a-file");
  writeFileSync(file, "");
  for (const home of [file, join(file, "below")]) {
    for (const argv of [["logs"], ["logs", "-f"]]) {
      ran = cli(argv, { home, readLogs: stored([]) });
      expect(await ran.code).not.toBe(0);
      expect(ran.out()).toBe("");
      expect(ran.err()).toMatch(/(is a file, not a folder|part of its path is a file)[\s\S]*LARES_HOME/);
    }
  }
  await gateway.start();
});

it("-f when nothing runs goes on with the file", async () => {
  await run();
  await ran.code;
  await gateway.stop();
  const newer: Line[][] = [[], [line(1, "started again"), line(2, "quiet", "debug")]];
  ran = cli(["logs", "-f", "--level", "info"], { home: gateway.home, readLogs: stored(newer) });
  await until(() => said("started again") === 1);
  expect(ran.out()).toMatch(/the last words[\s\S]*started again/);
  expect(said("quiet")).toBe(0);
  ran.signal("SIGINT");
  expect(await ran.code).toBe(130);
  await gateway.start();
});

it("a Lares that is asked by its address is not replaced by a file here", async () => {
  await run();
  await ran.code;
  await gateway.stop();
  ran = cli(["logs", "--url", gateway.url], { home: gateway.home, readLogs: stored([]) });
  expect(await ran.code).not.toBe(0);
  expect(ran.out()).not.toContain("the last words");
  await gateway.start();
});
