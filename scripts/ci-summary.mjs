/** Reads vitest's JSON report and closes CI's output with "N passed, N failed". No report or no tests is a failure. */
import { readFileSync } from "node:fs";

let report;
try {
  report = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));
} catch (error) {
  process.stdout.write(`vitest left no report: ${error.message}\n0 passed, 0 failed\n`);
  process.exit(1);
}

const {
  numTotalTests,
  numPassedTests,
  numFailedTests,
  numPendingTests = 0,
  numTodoTests = 0,
  testResults = [],
} = report;
// A file that failed to load has no tests in it, and must not pass for that reason.
const broken = testResults.filter((file) => file.status === "failed" && file.assertionResults.length === 0);
for (const file of broken) process.stdout.write(`could not be loaded: ${file.name}\n`);
if (numPendingTests + numTodoTests > 0) process.stdout.write(`skipped: ${numPendingTests + numTodoTests}\n`);

const failed = numFailedTests + broken.length;
process.stdout.write(`${numPassedTests} passed, ${failed} failed\n`);
process.exitCode = failed > 0 || numTotalTests === 0 || numPassedTests === 0 ? 1 : 0;
