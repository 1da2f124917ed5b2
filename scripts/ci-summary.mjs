/**
 * Reads vitest's JSON report and closes CI's output with "N passed, N failed". No report or no tests is a failure, and so is a skip
 * that nobody explained: every file with skipped tests needs a NOT RUN line with its name (test/support/not-run.ts).
 *
 *   node scripts/ci-summary.mjs REPORT NOT-RUN [--bare REPORT NOT-RUN]
 *   node scripts/ci-summary.mjs --failed REPORT
 *
 * `--bare`: the run with every optional program hidden. There skips are expected, and none at all means that nothing was hidden. The
 * other run may then leave out files that meet no program; a test that passed in either is counted once.
 * `--failed` prints the files with failed tests, one a line, for a second run of their own. Its report is REPORT.again: a test that
 * passes there is counted as passed and named as unsteady, so that nobody overlooks it; one that fails twice has failed.
 */
import { existsSync, readFileSync } from "node:fs";
import { relative } from "node:path";

const [report, notRun, flag, bareReport, bareNotRun] = process.argv.slice(2);
if (report === "--failed") {
  const files = read(notRun)?.testResults.filter(({ status }) => status === "failed") ?? [];
  process.stdout.write(files.map(({ name }) => `${relative(process.cwd(), name)}\n`).join(""));
  process.exit(0);
}
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
const passed = main.passed + (bare ? passedOnlyThere(bareReport, report) : 0);
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed > 0 || main.passed === 0 ? 1 : 0;

/** Tests that passed in the first report, of files that the second does not have. */
function passedOnlyThere(first, second) {
  const had = new Set(read(second)?.testResults.map(({ name }) => name));
  const others = read(first)?.testResults.filter(({ name }) => !had.has(name)) ?? [];
  return others.flatMap(({ assertionResults }) => assertionResults).filter(({ status }) => status === "passed").length;
}

/** What a run came to; every reason to fail is said. */
function judge(label, file = "", notRunFile = "") {
  const found = read(file);
  if (!found) return { passed: 0, skipped: 0, failed: say(`${label}vitest left no report in ${file}`) };
  const again = read(`${file}.again`)?.testResults ?? [];
  const passedAlone = new Set(
    again.flatMap(({ name, assertionResults }) =>
      assertionResults.filter((test) => test.status === "passed").map((test) => `${name} ${test.fullName}`),
    ),
  );
  const explained = existsSync(notRunFile) ? readFileSync(notRunFile, "utf8") : "";
  let { numPassedTests: passed } = found;
  let failed = 0;
  let skipped = 0;
  for (const { name, status, message, assertionResults } of found.testResults) {
    const path = relative(process.cwd(), name);
    const isBad = assertionResults.filter((test) => test.status === "failed");
    // A file that failed to load, or whose hooks failed, may have no failed test in it, and must not pass for that reason.
    if (status === "failed" && isBad.length === 0) {
      const what = `${path}: ${firstLine(message) || "it could not be loaded, or a hook of it failed"}`;
      const alone = again.find((other) => other.name === name && other.status === "passed");
      if (alone?.assertionResults.some((test) => test.status === "passed")) {
        say(`${label}UNSTEADY (it passed alone): ${what}`);
        passed += alone.assertionResults.filter((test) => test.status === "passed").length;
        passed -= assertionResults.filter((test) => test.status === "passed").length;
      } else failed += say(`${label}FAILED: ${what}`);
    }
    for (const test of isBad) {
      const what = `${path}: ${test.fullName}: ${firstLine(test.failureMessages?.[0])}`;
      if (passedAlone.has(`${name} ${test.fullName}`)) passed += say(`${label}UNSTEADY (it passed alone): ${what}`);
      else failed += say(`${label}FAILED: ${what}`);
    }
    const left = assertionResults.filter((test) => ["pending", "skipped", "todo"].includes(test.status)).length;
    skipped += left;
    if (left > 0 && !explained.includes(`(${path})`))
      failed += say(`${label}${left} skipped without a NOT RUN line: ${path}`);
  }
  return { passed, failed, skipped };
}

function read(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

function firstLine(text) {
  return (text ?? "").split("\n", 1)[0];
}

/** One line, which counts as one. */
function say(line) {
  process.stdout.write(`${line}\n`);
  return 1;
}
