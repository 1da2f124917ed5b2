import { expect, test } from "vitest";
import { takesData } from "./fed.ts";
import { judgeArguments } from "./programs.ts";

const takes = (command: string) => {
  const [program = "", ...args] = command.split(" ");
  return takesData(program, args, judgeArguments(program, args));
};

test.each([
  "cat",
  "wc -l",
  "grep x",
  "sed s/a/b/",
  "base64 -d",
  "git commit -F -",
  "python3 check.py",
  "python3 -m json.tool",
])("%s takes what it is fed for data", (command) => {
  expect(takes(command)).toBe(true);
});

test.each([
  "sqlite3 app.db",
  "ed -s a",
  "python3",
  "python3 -",
  "python3 -i x.py",
  "sh",
  "sed -f -",
  "git apply",
  "xargs rm",
  "constructor",
])("%s may do what it is fed", (command) => {
  expect(takes(command)).toBe(false);
});
