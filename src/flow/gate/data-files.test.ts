import { expect, test } from "vitest";
import { isDataFile } from "./data-files.ts";
import { PLACE } from "./testing.ts";

const is = (name: string, rules: readonly string[] = []) =>
  isDataFile(`${PLACE.workspace}/${name}`, { place: PLACE, cwd: PLACE.workspace, rules });

test("data is what its ending says", () => {
  for (const name of ["out.txt", "a/b.csv", "data.json", "README.md"]) expect(is(name), name).toBe(true);
  for (const name of ["out", "run.sh", "AGENTS.md", "package.json", ".x.txt", ".x/y.txt"])
    expect(is(name), name).toBe(false);
  expect(isDataFile("/srv/out.txt", { place: PLACE, cwd: PLACE.workspace, rules: [] })).toBe(false);
});

test("a file that a rule runs is no data, one that a rule shows is", () => {
  expect(is("steps.txt", ["make -f steps.txt *"])).toBe(false);
  expect(is("steps.txt", ["build --file=steps.txt"])).toBe(false);
  expect(is("a/steps.txt", ["./a/*.txt"])).toBe(false);
  expect(is("steps.txt", ["cat steps.txt", "echo *", "tool * x"])).toBe(true);
});
