/** How unit tests are written, as far as it can be seen in their text. */
import { expect, test } from "vitest";
import { repositoryFiles, repositoryText } from "../support/repository.ts";

const unitTests = repositoryFiles(["src", "ui/src"], /\.test\.ts$/);

test("no unit test fails because a machine is slow: work is counted or compared (test/support/growth.ts), conditions are waited for", () => {
  const bounded = unitTests.filter((file) => /expect\((?:performance|Date)\.now\(\) -/.test(repositoryText(file)));
  expect(unitTests.length).toBeGreaterThan(100);
  expect(bounded).toEqual([]);
});

test("types are put aside in one place: test/support/pretend.ts", () => {
  const tests = [...unitTests, ...repositoryFiles(["test"], /\.ts$/)];
  const cast = new RegExp(`[\\w)}\\]"\`] ${"as"} never\\b`);
  expect(tests.filter((file) => cast.test(withoutComments(repositoryText(file))))).toEqual([]);
});

const withoutComments = (text: string) => text.replace(/\/\*.*?\*\/|\/\/.*$/gms, "");
