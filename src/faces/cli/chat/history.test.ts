import { chmodSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { MOST_KEPT, openHistory } from "./history.ts";

let home: string;
let file: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "lares-history-"));
  file = join(home, "chat-history");
});

it("what was typed is there the next time, the newest first, and is the owner's alone", () => {
  const first = openHistory(home);
  first.add("one");
  first.add("two\nlines");
  first.add("two\nlines");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(openHistory(home).lines).toEqual(["two lines", "one"]);
});

it("at most 500 lines are kept, the newest (CHAT-4)", () => {
  const history = openHistory(home);
  for (let i = 0; i < MOST_KEPT + 20; i++) history.add(`line ${i}`);
  const lines = readFileSync(file, "utf8").trim().split("\n");
  expect(lines).toHaveLength(MOST_KEPT);
  expect(lines[0]).toBe("line 20");
  expect(lines.at(-1)).toBe(`line ${MOST_KEPT + 19}`);
});

it("a file that others can read is closed", () => {
  writeFileSync(file, "secret\n");
  chmodSync(file, 0o644);
  expect(openHistory(home).lines).toEqual(["secret"]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

it("without a home nothing is kept and nothing breaks", () => {
  const nowhere = openHistory(join(home, "not", "there"));
  nowhere.add("hello");
  expect(nowhere.lines).toEqual([]);
});
