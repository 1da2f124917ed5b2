/**
 * `npm run test:nodes [majors…] [-- vitest arguments]`: the flow tests on every Node we promise to run on.
 *
 * The binaries come from npm (`node-versions.mjs`). Tests start the gateway with `process.execPath`, which is that same binary.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { root } from "./ensure.mjs";
import { findNode, NODES } from "./node-versions.mjs";

const MAJORS = [20, 22, 24, 26];

const given = process.argv.slice(2).filter((word) => word !== "--");
const majors = given.filter((word) => /^\d+$/.test(word)).map(Number);
const vitestArgs = given.filter((word) => !/^\d+$/.test(word));
if (vitestArgs.every((word) => word.startsWith("-"))) vitestArgs.unshift("test/flows");

const rows = [];
for (const major of majors.length > 0 ? majors : MAJORS) rows.push(testOn(major));

const widths = ["node", "passed", "failed", "skipped"];
process.stdout.write(`\n${[...widths, "note"].map((w) => w.padEnd(10)).join("")}\n`);
for (const row of rows) {
  process.stdout.write(
    `${[row.version, row.passed, row.failed, row.skipped].map((v) => String(v).padEnd(10)).join("")}${row.note}\n`,
  );
}
process.exitCode = rows.every((row) => row.ok) ? 0 : 1;

function testOn(major) {
  const row = { version: String(major), passed: 0, failed: 0, skipped: 0, note: "", ok: false };
  const { version, node, problem } = findNode(major);
  row.version = version ?? row.version;
  if (!node) return { ...row, note: problem };

  process.stdout.write(`\nNode ${version}\n`);
  mkdirSync(NODES, { recursive: true });
  const report = join(NODES, `report-${major}-${process.pid}.json`);
  const done = spawnSync(
    node,
    [
      join(root, "node_modules", "vitest", "vitest.mjs"),
      "run",
      ...vitestArgs,
      "--reporter=default",
      "--reporter=json",
      `--outputFile.json=${report}`,
    ],
    {
      cwd: root,
      stdio: "inherit",
      // A test that starts plain `node` gets the same one.
      env: { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH ?? ""}` },
    },
  );
  if (!existsSync(report)) return { ...row, note: `vitest left no report (exit code ${done.status ?? done.signal})` };
  const counts = JSON.parse(readFileSync(report, "utf8"));
  rmSync(report);
  row.passed = counts.numPassedTests;
  row.failed = counts.numFailedTests;
  row.skipped = counts.numPendingTests + counts.numTodoTests;
  row.ok = done.status === 0 && counts.numFailedTests === 0 && counts.numPassedTests > 0;
  if (!row.ok && row.failed === 0) row.note = row.passed === 0 ? "nothing ran" : `vitest ended with ${done.status}`;
  return row;
}
