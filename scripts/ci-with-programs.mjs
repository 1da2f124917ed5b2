/**
 * Prints the test files that CI runs a second time, with every optional program in place, one a line: those with tests that could not
 * run without, and those whose text speaks of one, of the sandbox or of running commands. The others have no program to meet: the run
 * without programs has said all there is to say. `npm test` runs everything.
 *
 *   node scripts/ci-with-programs.mjs REPORT-OF-THE-BARE-RUN
 */
import { readFileSync } from "node:fs";
import { relative } from "node:path";

const { programs } = JSON.parse(readFileSync(new URL("optional-programs.json", import.meta.url), "utf8"));
/** Words of everyday English among the names count only where a command begins with them. */
const EVERYDAY = new Set(["git", "make", "top", "free"]);
const names = Object.entries(programs).flatMap(([name, { also = [] }]) => [
  name,
  ...also.filter((one) => !one.startsWith("/")),
]);
const distinct = names.filter((name) => !EVERYDAY.has(name)).map((name) => name.replace(/[.+]/g, "\\$&"));
const speaks = new RegExp(
  `(?<![\\w-])(${[...distinct, "sandbox", "notRun"].join("|")})(?![\\w-])|["'\`](exec["'\`]|(${[...EVERYDAY].join("|")})[ "'\`])|support/(mcp|plugin|repository|postgres)`,
);

for (const { name, assertionResults } of JSON.parse(readFileSync(process.argv[2], "utf8")).testResults) {
  const isWhole = assertionResults.length > 0 && assertionResults.every(({ status }) => status === "passed");
  if (!isWhole || speaks.test(readFileSync(name, "utf8"))) process.stdout.write(`${relative(process.cwd(), name)}\n`);
}
