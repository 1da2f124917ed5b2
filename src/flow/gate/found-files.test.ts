import { describe, expect, test } from "vitest";
import { opensFound, runOnFound } from "./found-files.ts";
import { plainCommand } from "./testing.ts";

const inner = (text: string) =>
  runOnFound(plainCommand(text))
    ?.words.map(({ guess }) => guess)
    .join(" ");

describe("find -exec", () => {
  const LOOKS = "find src -type f -name *.ts ! -name .env*";

  test("a reader on plain files with an ordinary end is judged with a name in their place (GATE-4)", () => {
    expect(inner(`${LOOKS} -exec wc -l {} +`)).toBe("wc -l found");
  });

  test("names may be shown of any plain file", () => {
    expect(inner("find . -type f -exec basename {} ;")).toBe("basename found");
  });

  test("files of any name may be counted", () => {
    expect(inner("find . -type f ! -name .env* -exec wc -l {} +")).toBe("wc -l found");
    expect(inner("find . -type f ! -name .env* -exec wc --files0-from=x {} +")).toBeUndefined();
  });

  test.each([
    ["anything but plain files", "find src -name *.ts ! -name .env* -exec cat {} +"],
    ["files of any name", "find src -type f ! -name .env* -exec cat {} +"],
    ["files such as .env.ts", "find src -type f -name *.ts -exec cat {} +"],
    ["every name but the ordinary one", "find src -type f ! -name *.ts ! -name .env* -exec cat {} +"],
    ["an end that keys have", "find src -type f -name *.pem ! -name .env* -exec cat {} +"],
    ["a second test that widens the first", "find src -type f -name *.ts ! -name .env* -o -exec cat {} +"],
    ["links that are followed", "find -L src -type f -name *.ts ! -name .env* -exec cat {} +"],
    ["a file beside the found one", `${LOOKS} -exec cat ../{} +`],
    ["a name put in twice", `${LOOKS} -exec cat {} {} +`],
    ["a program that does more than read", `${LOOKS} -exec rm {} +`],
    ["another action before it", "find src -type f -delete -name *.ts ! -name .env* -exec cat {} +"],
  ])("a person looks at %s", (_why, text) => expect(inner(text)).toBeUndefined());
});

describe("xargs", () => {
  test("may show the names it is given", () => expect(inner("xargs -0 -n1 basename")).toBe("basename found"));

  test("may count the files it is given, behind a -- that ends the options", () => {
    expect(inner("xargs wc -l --")).toBe("wc -l -- found");
    expect(inner("xargs wc -l")).toBeUndefined();
    expect(inner("xargs wc --files0-from=x --")).toBeUndefined();
    expect(inner("xargs wc -l x --")).toBeUndefined();
  });

  test.each([
    "xargs cat",
    "xargs -I{} cat {}",
    "xargs -I{} {}",
    "xargs -I echo echo x",
    "xargs -a list echo",
    "xargs sh -c x",
    "xargs",
  ])("a person looks at %s", (text) => expect(inner(text)).toBeUndefined());
});

test("a word that is computed is for a person", () => {
  const command = plainCommand("xargs echo");
  expect(runOnFound({ ...command, words: [...command.words, { guess: "x" }] })).toBeUndefined();
});

test("echo, basename and dirname open nothing", () => {
  expect(["echo x", "basename x", "dirname x", "cat x", "wc x"].map((text) => opensFound(plainCommand(text)))).toEqual([
    false,
    false,
    false,
    true,
    true,
  ]);
});
