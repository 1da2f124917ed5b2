/** How unit tests are written, as far as it can be seen in their text. */
import { expect, test } from "vitest";
import { repositoryFiles, repositoryText } from "../support/repository.ts";

const unitTests = repositoryFiles(["src", "ui/src"], /\.test\.ts$/);

test("no unit test fails because a machine is slow: work is counted or compared (test/support/growth.ts), conditions are waited for", () => {
  const bounded = unitTests.filter((file) => /expect\((?:performance|Date)\.now\(\) -/.test(repositoryText(file)));
  expect(unitTests.length).toBeGreaterThan(100);
  expect(bounded).toEqual([]);
});

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

test("types are put aside in one place: test/support/pretend.ts", () => {
  const tests = [...unitTests, ...repositoryFiles(["test"], /\.ts$/)];
  const cast = new RegExp(`[\\w)}\\]"\`] ${"as"} never\\b`);
  expect(tests.filter((file) => cast.test(withoutComments(repositoryText(file))))).toEqual([]);
});

const withoutComments = (text: string) => text.replace(/\/\*.*?\*\/|\/\/.*$/gms, "");
