import { expect, test } from "vitest";
import { isManager, judgeManager } from "./managers.ts";

const places = (text: string) => {
  const [name = "", ...args] = text.split(" ");
  return [...new Set(judgeManager(name, args, () => [{ index: 0, text: "x" }]).map(({ index }) => index))].sort();
};

test.each([
  "npm test",
  "npm run build -- --prefix x",
  "npm ls --all",
  "npm audit",
  "pnpm lint",
  "cargo test --workspace",
  "go test -run=A ./...",
  "gh pr list",
  "pip list",
])("%s looks, or runs the workspace's own tasks", (text) => expect(places(text)).toEqual([]));

test.each([
  ["npm install x", [0]],
  ["npm audit fix", [0]],
  ["npm test --node-opt=-rx", [1]],
  ["npm -C sub test", [0, 1]],
  ["gh pr create", [0, 1]],
  ["go test -exec x", [1]],
  ["cargo install x", [0]],
])("%s has to be spelt", (text, at) => expect(places(text)).toEqual(at));

test("of a program that is started the rule spells it, and its words are judged", () => {
  expect(places("uv run pytest -p x")).toEqual([0, 1, 2]);
  expect(places("uv run --with evil pytest")).toEqual([0, 1, 2, 3]);
});

test("names of objects are no managers", () => expect(isManager("constructor")).toBe(false));
