// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these strings are shell text
/**
 * Long hostile commands through the whole gate, from the text to the verdict. It runs on the main loop, and a stranger's
 * message can bring a model to call `exec`: a command that takes seconds to judge would stop everybody's turns.
 */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { decide } from "../../src/flow/gate/index.ts";
import { ground } from "../gate/support.ts";
import { slowness } from "./pump.ts";

const BOUND_MS = 200;
const g = ground();
afterAll(() => g.close());

// An earlier command may have left links: going over them must be as quick.
symlinkSync("/", join(g.workspace, "d"));
symlinkSync(".", join(g.workspace, "a"));
for (let i = 0; i < 40; i++) symlinkSync("..", join(g.workspace, `x${i}`));

const PIECES = [
  "mv ",
  "cd d;",
  "rm -rf x ",
  "rm -rf x;",
  "rm -rf */*/*/* ",
  "xargs ",
  "parallel ",
  "env -C a ",
  "foo rm ",
  "find . -exec ",
  "find . -type f -name '*.ts' -exec cat {} +;",
  "find . -name '*.ts' | xargs -n 1 wc ",
  "for f in *.ts; do cat $f; done;",
  "for f in *; do cat *; done;",
  "for f in a b c; do for g in a b c; do ",
  "cat */*/* ",
  "echo $(ls *) ",
  "cd d && ",
  "cd deep && ",
  "'a' \"b\" ",
  "a=b;",
  "a=$a$a;",
  "a/b/c/~/../x ",
  "rm -rf a/d/../x1/* ",
  "a/",
  "cat a/,b/,c/;",
  "*",
  "?*/",
  "/",
  "$[",
  '"$(a ',
  "`a ",
  "${a:-",
  "<(",
  "( ",
  "{ ",
  "{a,",
  "if a; then ",
  "case x in x) ",
  "coproc ",
  "f() { ",
  "(( (",
];
/** Below the bounds for words: what is still judged, at its dearest. */
const SIZES = { "16 KB": 16_000, "3 KB": 3000, "1 KB": 1400 };
const FRONTS = { "": "", "30 directories, ": Array.from({ length: 30 }, (_, i) => `cd d${i};`).join("") };

const cases = PIECES.flatMap((piece) =>
  Object.entries(SIZES).flatMap(([size, length]) =>
    Object.entries(FRONTS).map(
      ([front, before]) =>
        [`${front}${size} of ${piece}`, (before + piece.repeat(length / piece.length + 1)).slice(0, length)] as const,
    ),
  ),
);

/** Short texts that ask for a lot: each letter of them is worth hundreds of commands, words or files. */
const many = (n: number, one: (i: number) => string) => Array.from({ length: n }, (_, i) => one(i)).join(" ");
const LOOP = (name: string, body: string) => `for ${name} in ${many(40, (i) => `a${i}`)}; do ${body}; done`;
const BRACES = `{${many(40, (i) => `a${i}`).replaceAll(" ", ",")}}`;
const NESTED = ["a", "b", "c"].reduce((body, name) => `for ${name} in ${BRACES}; do ${body}; done`, "[[ -f x ]]");
const hostile = {
  "three nested loops around [[ ]]": NESTED,
  "three nested loops around a command": LOOP("a", LOOP("b", LOOP("c", "ls"))),
  "a loop around many commands": LOOP("f", many(300, () => "ls;").slice(0, -1)),
  "a loop around many words": LOOP("f", `echo ${many(600, () => "$f")}`),
  "a loop around many patterns": LOOP("f", `cat ${many(400, () => "w*")}`),
  "a loop over many patterns": `for f in ${many(600, () => "w*")}; do cat $f; done`,
  "many patterns of patterns": `cat ${many(300, () => "*/*/*")}`,
  "one long pattern": `cat ${"*a".repeat(900)}`,
  "many long patterns": `cat ${many(20, () => "*w".repeat(45))}`,
  "many patterns in many outputs": `echo ${many(150, () => "$(ls w*/*)")}`,
  "a loop around a long value": `for f in ${"x".repeat(1000)}; do echo ${many(400, () => "$f")}; done`,
  "many found files": `${many(25, () => "find . -name '*.ts' | xargs wc -l;")} cat w*`,
};
mkdirSync(join(g.workspace, "deep"));
for (let i = 0; i < 400; i++) writeFileSync(join(g.workspace, `${"w".repeat(120)}${i}.ts`), "");
for (let i = 0; i < 60; i++) {
  mkdirSync(join(g.workspace, `w${i}`));
  for (let k = 0; k < 20; k++) writeFileSync(join(g.workspace, `w${i}`, `w${k}`), "");
}

test.each(Object.entries(hostile))("2 KB of %s are judged quickly", async (_name, command) => {
  expect(command.length).toBeLessThan(2600);
  expect(await leastCost(command)).toBeLessThan(BOUND_MS);
});

test.each(cases)("%s is judged quickly", async (_name, command) => {
  expect(await leastCost(command)).toBeLessThan(BOUND_MS);
});

/**
 * On the machine the bound was set on. What was slow once may have met a garbage collection, so it is tried again; how slow this
 * machine is changes with what else runs on it, so that is measured beside each try.
 */
async function leastCost(command: string): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 5 && least >= BOUND_MS; tries++) {
    const before = slowness();
    const took = await cost(command);
    least = Math.min(least, took / Math.max(before, slowness()));
  }
  return least;
}

/** Of the main loop's time: what other threads do for it (looking at files, collecting garbage) stops nobody's turn. */
async function cost(command: string): Promise<number> {
  const [begun, loop] = [process.cpuUsage(), performance.eventLoopUtilization()];
  const plan = await g.plan(command);
  decide({ ...g.policy, deny: { exec: ["foo *", "bar baz *"] } }, plan);
  const { user, system } = process.cpuUsage(begun);
  return Math.min((user + system) / 1000, performance.eventLoopUtilization(loop).active);
}
