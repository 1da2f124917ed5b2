/** Which words the gate's tables take for the value of an option, held against what the programs of this machine say themselves. */
import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { analyse } from "../../src/edges/tools/exec/shell/index.ts";
import { judgeArguments } from "../../src/flow/gate/programs.ts";
import { programAt } from "../support/not-run.ts";

const NAMES =
  "ls cat tac nl head tail wc pwd whoami uname id nproc sleep seq basename dirname realpath readlink stat du df cut tr fold fmt paste join comm cmp diff uniq sort grep rg jq date md5sum sha256sum b2sum od hexdump strings ps tee file sed tree".split(
    " ",
  );
/** An option that no table has: where it is passed over, the word before it was thought to take a value. */
const UNKNOWN = "--no-such-option";

/** Options that the program's own help shows with a value in brackets, `-I[FMT]`, `--color[=WHEN]`, and short forms without one. */
function optionalIn(name: string): string[] {
  if (!programAt(name)) return [];
  const { stdout, stderr } = spawnSync(name, ["--help"], {
    encoding: "utf8",
    env: { PATH: process.env.PATH, LC_ALL: "C" },
  });
  const found = new Set<string>();
  for (const line of `${stdout}\n${stderr}`.split("\n")) {
    const options = /^\s*(-{1,2}[\w-]+.*?)(\s{2,}|$)/.exec(line)?.[1];
    if (!options || !/\[=?[A-Z]/.test(options)) continue;
    for (const [option] of options.matchAll(/(?<![\w-])(-[A-Za-z]|--[a-z][a-z0-9-]+)(?=\[|,|$)/g)) found.add(option);
  }
  return [...found];
}

describe("a value in brackets counts only when it is attached", () => {
  test("the help of this machine's programs has such options", () => {
    expect(optionalIn("date")).toContain("-I");
    expect(optionalIn("od")).toContain("-w");
    expect(optionalIn("ls")).toContain("--color");
    expect(NAMES.flatMap(optionalIn).length).toBeGreaterThan(20);
  });

  test.each(NAMES)("%s", (name) => {
    for (const option of optionalIn(name)) {
      const { concerns } = judgeArguments(name, [option, UNKNOWN]);
      expect(
        concerns.map(({ index }) => index),
        `${name} ${option}`,
      ).toContain(1);
    }
  });
});

/** Options that the program's own help shows with a value that must be there: `-k KEY`, `--key=KEYDEF`, `--label LABEL`. */
function requiredIn(name: string): string[] {
  if (!programAt(name)) return [];
  const { stdout, stderr } = spawnSync(name, ["--help"], {
    encoding: "utf8",
    env: { PATH: process.env.PATH, LC_ALL: "C" },
  });
  const found = new Set<string>();
  /** `--time`, which has another line for `--time=WORD`. */
  const alone = new Set<string>();
  for (const line of `${stdout}\n${stderr}`.split("\n")) {
    const options = /^\s*(-{1,2}[\w-]+.*?)(\s{2,}|$)/.exec(line)?.[1] ?? "";
    for (const [, option] of options.matchAll(/(?<![\w-])(--[a-z][a-z0-9-]+)[= ]<?[A-Z']/g)) found.add(option!);
    for (const [, option] of options.matchAll(/(?<![\w-])(--[a-z][a-z0-9-]+)(?=,|$)/g)) alone.add(option!);
  }
  return [...found].filter((option) => !alone.has(option));
}

describe("a value that must be there is the next word, or the option asks", () => {
  test("the help of this machine's programs has such options", () => {
    expect(requiredIn("cut")).toContain("--output-delimiter");
    expect(requiredIn("diff")).toContain("--label");
    expect(requiredIn("grep")).toContain("--label");
    expect(NAMES.flatMap(requiredIn).length).toBeGreaterThan(60);
  });

  test.each(NAMES)("%s", (name) => {
    for (const option of requiredIn(name)) {
      // Whoever takes the option for one without a value sees the end of the options next.
      const { concerns, files } = judgeArguments(name, [option, "--", UNKNOWN]);
      expect(
        concerns.some(({ index }) => index === 0 || index === 2),
        `${name} ${option} ${JSON.stringify(files)}`,
      ).toBe(true);
    }
  });
});

test.each([
  ["ls", "--color", "src"],
  ["grep", "--color", "x", "a.txt"],
  ["diff", "--unified", "a.txt", "b.txt"],
  ["sort", "--check", "a.txt"],
  ["uniq", "--group", "a.txt"],
  ["df", "--output", "."],
  ["du", "--time", "src"],
  ["du", "--max-depth", "1", "src"],
  ["date", "--iso-8601"],
  ["cut", "--delimiter=,", "--fields=1", "a.csv"],
])("%s %s %s %s does not ask", (program, ...args) => {
  expect(judgeArguments(program, args).concerns).toEqual([]);
});

const ASKS: readonly [program: string, ...args: string[]][] = [
  ["date", "-I", "-f/etc/passwd"],
  ["date", "-I", "--file=/etc/passwd"],
  ["date", "-I", "--set=12:00"],
  ["date", "-I", "-s12:00"],
  ["date", "-Iseconds", "-f", "names.txt"],
  ["date", "-f", "names.txt"],
  ["date", "--file", "names.txt"],
  ["date", "-r", "names.txt"],
  ["date", "-s", "12:00"],
  ["date", "--set", "12:00"],
  ["date", "-uI", "-f", "x"],
  ["od", "-w", "--traditional"],
  // It takes the values of a group from the next words: -o writes its file.
  ["tree", "-Lo", "2", "AGENTS.md"],
  ["tree", "-Po", "x", "AGENTS.md"],
  ["tree", "-I", "x", "-o", "AGENTS.md"],
];

test.each(ASKS)("%s %s %s %s asks", (program, ...args) => {
  expect(judgeArguments(program, args).concerns).not.toEqual([]);
});

test("the word behind `od -w` is a file that it shows", () => {
  expect(judgeArguments("od", ["-w", "/etc/passwd"]).files).toEqual([
    { index: 1, path: "/etc/passwd", use: "content" },
  ]);
  expect(judgeArguments("od", ["-w8", "in.txt"]).files).toEqual([{ index: 1, path: "in.txt", use: "content" }]);
});

test.each([["-I"], ["-Iseconds"], ["-u", "-I"], ["-d", "2 days ago", "+%F"]])("date %s %s does not ask", (...args) => {
  expect(judgeArguments("date", args).concerns).toEqual([]);
});

test.each([["-L2"], ["-L", "2"], ["-a", "-I", "node_modules"], ["-aL", "2", "src"]])(
  "tree %s %s %s does not ask",
  (...args) => {
    expect(judgeArguments("tree", args).concerns).toEqual([]);
  },
);

test.each([
  "$ ENV",
  "$\nENV",
  "$#x\nENV",
  '"\\($ ENV.HOME)"',
  "env",
  "[env]",
  "input_filename",
  "env|keys",
  "$ENV.PATH",
  ". as $x|$\tENV",
])("the jq filter %j looks elsewhere", (filter) => {
  expect(judgeArguments("jq", ["-n", filter]).concerns).not.toEqual([]);
});

test.each([".env", ".a.env", ".ENV", ".environment", "$environment", "map(.id)|add", ".[] | .include_all"])(
  "the jq filter %j does not",
  (filter) => {
    expect(judgeArguments("jq", ["-n", filter]).concerns).toEqual([]);
  },
);

test.each([
  ["xargs -i rm -rf {}", "rm"],
  ["xargs -l rm -rf", "rm"],
  ["xargs --replace rm -rf {}", "rm"],
  ["systemd-run -t rm -rf x", "rm"],
])("%s starts rm", (text, program) => {
  const started = analyse(text).commands.filter(({ within }) => within.length > 0);
  expect(started.map(({ words }) => words[0]!.literal)).toContain(program);
});
