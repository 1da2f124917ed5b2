/** SHELL-5: the text that was written from a tree is that tree again, word by word. */
import { expect, test } from "vitest";
import { analyse } from "../analyse.ts";
import { isSame, type SettledCommand, type SettledList, type SettledLoop, written } from "./tree.ts";

const command = (name: string, ...words: string[]): SettledCommand => ({ name, path: name, words, redirects: [] });
const list = (...commands: SettledCommand[]): SettledList => commands.map((one) => ({ joint: "\n", commands: [one] }));
const read = (text: string) => analyse(text).commands;

test("quotes, blanks and signs of the shell come back as they were", () => {
  const output = list(command("ls", "a b", "'", "$(id)", "*", "\n", "", "{}", "-x=`id`", "~", "#"));
  const open: SettledCommand = {
    ...command("echo"),
    words: [{ open: [{ text: "it's " }, { output, isQuoted: true }, { raw: "$?" }] }, "end"],
    redirects: [
      { from: "2", operator: ">&", target: "1", isDescriptor: true },
      { from: "", operator: "<<<", target: "a\n'b'" },
      { from: "", operator: ">>", target: "out file" },
    ],
  };
  const tree: SettledList = [
    { joint: "\n", commands: [command("cat", "x"), command("wc", "-l")] },
    { joint: "&&", commands: [open] },
    { joint: "||", commands: [command("true")] },
  ];
  expect(isSame(tree, read(written(tree, false)))).toBe(true);
});

test("branches come back with their commands in order", () => {
  const tree: SettledList = [
    {
      branches: [
        { test: list(command("[", "-f", "a b", "]")), body: list(command("cat", "fi"), command("ls")) },
        { test: list(command("true")), body: list(command("echo", "then")) },
      ],
      otherwise: [{ branches: [{ test: list(command("false")), body: list(command("pwd")) }] }],
    },
    { joint: "\n", commands: [command("date")] },
  ];
  expect(written(tree, true)).toBe(
    "if '[' -f 'a b' ']'\nthen\ncat fi\nls\nelif true\nthen\necho then\nelse\nif false\nthen\npwd\nfi\nfi\ndate",
  );
  const text = written(tree, false);
  expect(text).toBe("'[' -f 'a b' ']'\ncat fi\nls\ntrue\necho then\nfalse\npwd\ndate");
  expect(isSame(tree, read(text))).toBe(true);
  expect(isSame(tree, read(text.replace("pwd", "pwd x")))).toBe(false);
  expect(isSame(tree, read(text.replace("echo then", "date\necho then")))).toBe(false);
});

test.each([
  ["another word", "cat b; ls"],
  ["another program", "tac a; ls"],
  ["another order", "ls; cat a"],
  ["a command more", "cat a; ls; ls"],
  ["a word more", "cat a; ls x"],
  ["a redirection", "cat a > b; ls"],
  ["a variable", "x=1 cat a; ls"],
  ["another depth", "cat a; echo $(ls)"],
  ["a word that is computed", "cat $a; ls"],
])("%s is not the same", (_, text) => {
  const tree = list(command("cat", "a"), command("ls"));
  expect(isSame(tree, read("cat a; ls"))).toBe(true);
  expect(isSame(tree, read(text))).toBe(false);
});

test("a loop is judged as two rounds, and runs as a loop; what is set and read leaves no command behind", () => {
  const loop: SettledLoop = {
    loop: "while",
    test: { read: ["-r", "line"], separator: "," },
    body: [
      { set: "n", value: [{ sum: "$((n+1))" }] },
      { joint: "\n", commands: [{ ...command("echo"), words: [{ open: [{ raw: '"$line"' }] }] }] },
    ],
    redirects: [{ from: "", operator: "<", target: "a b" }],
  };
  const tree: SettledList = [
    { set: "x", value: [{ output: list(command("ls")), isQuoted: true }] },
    { joint: "\n", commands: [command("cat", "x"), loop] },
    { word: [{ text: "x" }], items: [{ patterns: ["a*"], body: list(command("pwd")) }] },
    { joint: "\n", prefix: "!", commands: [command("true")] },
  ];
  const commands = read(written(tree, false));
  expect(isSame(tree, commands)).toBe(true);
  expect(commands.map(({ words }) => words[0]!.literal)).toEqual(["ls", "cat", "", "echo", "echo", "pwd", "true"]);
  expect(written(tree, true)).toBe(
    [
      'x="$(ls)"',
      "cat x | while IFS=',' read -r line",
      "do",
      'n="$((n+1))"',
      'echo "$line"',
      "done < 'a b'",
      "case 'x' in",
      "a*)",
      "pwd",
      ";;",
      "esac",
      "! true",
    ].join("\n"),
  );
});
