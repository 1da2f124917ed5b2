/**
 * `npm run test:nodes [majors…] [-- vitest arguments]`: the flow tests on every Node we promise to run on.
 *
 * npm carries whole Node binaries as `node-<platform>-<arch>` without an install script. They are kept outside the
 * repository, about 200 MB each, and used again as long as they are the newest of their line. Tests start the gateway
 * with `process.execPath`, which is that same binary.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { root } from "./ensure.mjs";

const MAJORS = [20, 22, 24, 26];
const PACKAGE = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
const CACHE = join(tmpdir(), "lares-nodes");

const given = process.argv.slice(2).filter((word) => word !== "--");
const majors = given.filter((word) => /^\d+$/.test(word)).map(Number);
const vitestArgs = given.filter((word) => !/^\d+$/.test(word));
if (vitestArgs.every((word) => word.startsWith("-"))) vitestArgs.unshift("test/flows");

const published = versionsOnNpm();
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
  const version = newestOf(major);
  if (!version) return { ...row, note: `npm has no ${PACKAGE}@${major}` };
  row.version = version;
  const node = fetchNode(major, version);
  if (typeof node !== "string") return { ...row, note: node.problem };

  process.stdout.write(`\nNode ${version}\n`);
  const report = join(CACHE, `report-${major}-${process.pid}.json`);
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

function fetchNode(major, version) {
  const folder = join(CACHE, String(major));
  const node =
    process.platform === "win32"
      ? join(folder, "node_modules", PACKAGE, "bin", "node.exe")
      : join(folder, "node_modules", PACKAGE, "bin", "node");
  if (runs(node, version)) return node;
  process.stdout.write(`Fetching Node ${version} from npm (about 200 MB on disk)…\n`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  // Without a package.json of its own npm would climb to the next one above.
  writeFileSync(join(folder, "package.json"), '{"private":true}\n');
  const done = npm(
    ["install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", `${PACKAGE}@${version}`],
    ["ignore", "inherit", "inherit"],
  );
  if (done.status !== 0) return { problem: `npm could not install ${PACKAGE}@${version}` };
  return runs(node, version) ? node : { problem: `${PACKAGE}@${version} has no Node that runs here` };
}

function runs(node, version) {
  return existsSync(node) && spawnSync(node, ["--version"], { encoding: "utf8" }).stdout?.trim() === `v${version}`;
}

function versionsOnNpm() {
  const done = npm(["view", PACKAGE, "versions", "--json"], ["ignore", "pipe", "inherit"]);
  if (done.status !== 0) {
    process.stderr.write(`npm knows no package ${PACKAGE}, or the registry cannot be reached.\n`);
    process.exit(1);
  }
  return [JSON.parse(done.stdout)].flat();
}

function newestOf(major) {
  return published
    .filter((version) => /^\d+\.\d+\.\d+$/.test(version) && Number(version.split(".")[0]) === major)
    .sort((a, b) => a.localeCompare(b, "en", { numeric: true }))
    .at(-1);
}

function npm(args, stdio) {
  return spawnSync("npm", args, { encoding: "utf8", stdio, shell: process.platform === "win32" });
}
