import { expect, test } from "vitest";
import { isChecker, isCheckerWord } from "./checkers.ts";

test.each(["pytest", "tsc", "tsc@5.9.2", "@biomejs/biome", "vue-tsc"])("%s checks a project", (name) =>
  expect(isChecker(name)).toBe(true),
);
test.each(["tsx", "tsc-alias", "concurrently", "pytest.pwn", ""])("%s may do anything", (name) =>
  expect(isChecker(name)).toBe(false),
);

test.each([
  ["pytest", "-q"],
  ["pytest", "login and not slow"],
  ["pytest", "src/test_a.py::test_x[1-a]"],
  ["pytest", "--maxfail=2"],
  ["tsc", "-p"],
  ["tsc", "tsconfig.build.json"],
  ["eslint", "src/**/*.ts"],
  ["biome", "check"],
  ["jest", "."],
])("%s %s is a word that does nothing else", (checker, word) => expect(isCheckerWord(checker, word)).toBe(true));

test.each([
  ["pytest", "-p"],
  ["pytest", "notes.txt"],
  ["pytest", "@notes"],
  ["pytest", "--junitxml=a.py"],
  ["pytest", "-c"],
  ["pytest", "../other/test_a.py"],
  ["pytest", "--maxfail=2 x"],
  ["tsc", "t.json"],
  ["tsc", "--outDir"],
  ["vitest", "--inspect=9229"],
  ["biome", "upgrade"],
  ["mocha", "-r"],
  ["eslint", "--fix"],
  ["jest", ""],
])("%s %s is asked about", (checker, word) => expect(isCheckerWord(checker, word)).toBe(false));
