/** The words docs/GLOSSARY.md says to avoid are not used. One that has another, good meaning says there which one is meant. */
import { basename } from "node:path";
import { expect, test } from "vitest";
import { repositoryFiles, repositoryText } from "../support/repository.ts";

const GLOSSARY = "docs/GLOSSARY.md";

const avoided = repositoryText(GLOSSARY)
  .split("## Words to avoid")[1]!
  .split(/^## /m)[0]!
  .split("\n")
  .filter((line) => /^\| (?!not |-)/.test(line))
  .map((line) => line.split("|")[1]!.trim())
  .filter((words) => !words.includes("("))
  .flatMap((words) => words.split(", "));

test("there are such words", () => {
  expect(avoided).toEqual(
    expect.arrayContaining(["confirmation", "mock model", "exactly once", "house", "desk", "news"]),
  );
});

test("no page uses one", () => {
  const pages = repositoryFiles(["docs", "README.md", "CONTRIBUTING.md"], /\.md$/);
  const used = pages
    // A decision stays as it was written, and weighs products by their own words.
    .filter((page) => page !== GLOSSARY && !page.startsWith("docs/decisions/"))
    .flatMap((page) =>
      avoided.filter((word) => words(repositoryText(page)).includes(` ${word} `)).map((word) => `${word} in ${page}`),
    );
  expect(used).toEqual([]);
});

test("no file, and nothing a file exports, is named with one", () => {
  const used = repositoryFiles(["src", "ui/src", "test"], /\.(ts|svelte)$/).flatMap((file) => {
    const exported = [...repositoryText(file).matchAll(EXPORT)].map(([, name]) => name!);
    return [basename(file), ...exported].flatMap((name) =>
      avoided.filter((word) => words(name).includes(` ${word} `)).map((word) => `${word}: ${name} in ${file}`),
    );
  });
  expect(used).toEqual([]);
});

test("every room, and every noun of core's domain and contracts, is defined", () => {
  const files = repositoryFiles(["src"], /\.ts$/);
  const rooms = files.map((file) => /^src\/\w+\/([\w-]+)\//.exec(file)?.[1] ?? "");
  const nouns = files.map((file) => /^src\/core\/(?:domain|contracts)\/([\w-]+)\.ts$/.exec(file)?.[1] ?? "");
  const named = [...new Set([...rooms, ...nouns])].filter((name) => name !== "" && name !== "index").sort();
  expect(named).toEqual(expect.arrayContaining(["approvals", "own-doors", "records"]));
  expect(named.filter((name) => !isDefined(name))).toEqual([]);
});

/** What a line of the glossary begins with, or what stands in bold where it is explained. */
const defined = new Set(
  [
    ...repositoryText(GLOSSARY)
      .split("## Words to avoid")[0]!
      .matchAll(/\*\*([^*]+)\*\*/g),
  ]
    .concat([
      ...repositoryText(GLOSSARY)
        .split("## Who calls")[1]!
        .matchAll(/\*\*([^*]+)\*\*/g),
    ])
    .flatMap(([, terms]) => terms!.toLowerCase().split(", ")),
);

function isDefined(name: string): boolean {
  return [name, name.replaceAll("-", " ")].some((term) => defined.has(term) || defined.has(term.replace(/s$/, "")));
}

const EXPORT = /^export (?:abstract |async )*(?:function|class|interface|type|const|let) (\w+)/gm;

/** In small letters with a blank between words and at both ends: `mockModel`, "Mock model" and `mock-model.ts` are the same two words. */
function words(text: string): string {
  return ` ${text
    .replace(/([a-z])(?=[A-Z])/g, "$1 ")
    .toLowerCase()
    .replace(/[^a-z]+/g, " ")} `;
}
