/** How unit tests are written, as far as it can be seen in their text. */
import { expect, test } from "vitest";
import { forcedTypes } from "../architecture/forced-types.ts";
import { timeBounds } from "../architecture/test-habits.ts";
import { repositoryFiles, repositoryText } from "../support/repository.ts";

const unitTests = repositoryFiles(["src", "ui/src"], /\.test\.ts$/);

test("no unit test fails because a machine is slow: work is counted or compared (test/support/growth.ts), conditions are waited for", () => {
  const bounded = unitTests.flatMap((file) => timeBounds(repositoryText(file)).map((line) => `${file}:${line}`));
  expect(unitTests.length).toBeGreaterThan(100);
  expect(bounded).toEqual([]);
});

test.each([
  ["the clock, at once", "const at = Date.now(); f(); expect(Date.now() - at).toBeLessThan(5);"],
  [
    "the clock, by a variable",
    "const at = performance.now(); f(); const took = performance.now() - at; expect(took).toBeLessThanOrEqual(5);",
  ],
  ["the processor", "const at = process.cpuUsage(); f(); expect(process.cpuUsage(at).user / 1000).toBeLessThan(5);"],
  [
    "the processor, by a variable",
    "const at = process.cpuUsage().user; f(); const ms = (process.cpuUsage().user - at) / 1000; expect(ms, 'why').toBeLessThan(5);",
  ],
  ["a comparison", "const at = Date.now(); f(); expect(Date.now() - at < 5).toBe(true);"],
])("a bound on time is seen: %s", (_how, text) => expect(timeBounds(text)).toEqual([1]));

test.each([
  "const at = Date.now(); f(); expect(Date.now() - at).toBeGreaterThan(5);",
  "expect(row.at).toBeLessThanOrEqual(Date.now());",
  "const clock = new ManualClock(); expect(clock.now() - 5).toBeLessThan(3);",
])("no bound on time: %s", (text) => expect(timeBounds(text)).toEqual([]));

/** Gate modules whose proof needs whole commands from the real parser: test/gate has it. */
const WHOLE_COMMANDS = ["judging", "standing", "word-concerns"];

test("each of the gate's pure parts has a test beside it", () => {
  const modules = repositoryFiles(["src/flow/gate"], /\.ts$/).filter(
    (file) => !/(\.test|\/index|\/testing)\.ts$/.test(file),
  );
  const bare = modules.filter((file) => !unitTests.includes(file.replace(/\.ts$/, ".test.ts")));
  expect(modules.length).toBeGreaterThan(25);
  expect(bare).toEqual(WHOLE_COMMANDS.map((name) => `src/flow/gate/${name}.ts`));
});

/** Rooms whose unit tests are still to be written; what tests them from the outside. The list only becomes shorter. */
const ROOMS_WITHOUT: Readonly<Record<string, string>> = {
  "edges/embedder": "test/memory",
};

test("every room has a unit test, but for those in the list", () => {
  const roomOf = (file: string) => /^src\/((?!app)\w+\/[\w-]+)\//.exec(file)?.[1] ?? "";
  const rooms = new Set(repositoryFiles(["src"], /\.ts$/).map(roomOf).filter(Boolean));
  const tested = new Set(unitTests.map(roomOf));
  expect(rooms.size).toBeGreaterThan(40);
  expect([...rooms].filter((room) => !tested.has(room)).sort()).toEqual(Object.keys(ROOMS_WITHOUT).sort());
});

/** Files that still do it themselves. The list only becomes shorter. */
const FORCES_TYPES = ["test/mcp/server.ts"];

test("types are put aside in one place: test/support/pretend.ts", () => {
  const tests = [...unitTests, ...repositoryFiles(["test"], /\.ts$/), ...repositoryFiles(["src"], /^testing\.ts$/)];
  const forced = tests.flatMap((file) => forcedTypes(repositoryText(file)).map((line) => `${file}:${line}`));
  expect(forced.filter((place) => !FORCES_TYPES.some((file) => place.startsWith(file)))).toEqual([]);
  expect(forcedTypes(`f(x ${"as"} never);\nf(x ${"as"} unknown ${"as"} Y);\nf(x ${"as"} Y);`)).toEqual([1, 2]);
});
