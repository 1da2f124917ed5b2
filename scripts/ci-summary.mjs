/**
 * Reads vitest's JSON report and closes CI's output with "N passed, N failed". No report or no tests is a failure, and so is a skip
 * that nobody explained: every file with skipped tests needs a NOT RUN line with its name (test/support/not-run.ts).
 *
 *   node scripts/ci-summary.mjs REPORT NOT-RUN [--bare REPORT NOT-RUN]
 *
 * `--bare`: the run with every optional program hidden. There skips are expected, and none at all means that nothing was hidden.
 */
import { readFileSync } from "node:fs";
import { relative } from "node:path";

const [report, notRun, flag, bareReport, bareNotRun] = process.argv.slice(2);
const bare = flag === "--bare" ? judge("without optional programs: ", bareReport, bareNotRun) : undefined;
if (bare && bare.skipped === 0)
  bare.failed += say("without optional programs: nothing was skipped, so nothing was hidden");
const main = judge("", report, notRun);
if (bare)
  process.stdout.write(
    `without optional programs: ${bare.passed} passed, ${bare.failed} failed, ${bare.skipped} not run\n`,
  );
if (main.skipped > 0) process.stdout.write(`skipped: ${main.skipped}\n`);
const failed = main.failed + (bare?.failed ?? 0);
process.stdout.write(`${main.passed} passed, ${failed} failed\n`);
process.exitCode = failed > 0 || main.passed === 0 ? 1 : 0;

/** What a run came to; every reason to fail beside the tests themselves is said. */
function judge(label, file = "", notRunFile = "") {
  let found;
  try {
    found = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    return { passed: 0, skipped: 0, failed: say(`${label}vitest left no report: ${error.message}`) };
  }
  let explained = "";
  try {
    explained = readFileSync(notRunFile, "utf8");
  } catch {
    // No test had anything to say.
  }
  let failed = found.numFailedTests;
  let skipped = 0;
  for (const { name, status, assertionResults } of found.testResults ?? []) {
    // A file that failed to load has no tests in it, and must not pass for that reason.
    if (status === "failed" && assertionResults.length === 0) failed += say(`${label}could not be loaded: ${name}`);
    const left = assertionResults.filter((test) => ["pending", "skipped", "todo"].includes(test.status)).length;
    skipped += left;
    const path = relative(process.cwd(), name);
    if (left > 0 && !explained.includes(`(${path})`))
      failed += say(`${label}${left} skipped without a NOT RUN line: ${path}`);
  }
  return { passed: found.numPassedTests, failed, skipped };
}

/** Counts as one failure. */
function say(line) {
  process.stdout.write(`${line}\n`);
  return 1;
}
