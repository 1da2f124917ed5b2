/** CI's closing line: what a report counts as, by the real script on reports as vitest writes them. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, isAbsolute, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

type Status = "passed" | "failed" | "skipped";
type File = { name: string; status: "passed" | "failed"; tests: Status[] };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lares-ci-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test.each<{ what: string; first: File[]; again?: File[]; says: string; code: number }>([
  { what: "all passed", first: [file("passed", ["passed", "passed"])], says: "2 passed, 0 failed", code: 0 },
  { what: "one failed", first: [file("failed", ["passed", "failed"])], says: "1 passed, 1 failed", code: 1 },
  {
    what: "one failed and passed alone",
    first: [file("failed", ["passed", "failed"])],
    again: [file("passed", ["passed", "passed"])],
    says: "2 passed, 0 failed",
    code: 0,
  },
  {
    what: "one failed twice",
    first: [file("failed", ["passed", "failed"])],
    again: [file("failed", ["passed", "failed"])],
    says: "1 passed, 1 failed",
    code: 1,
  },
  { what: "a hook failed", first: [file("failed", ["passed"])], says: "1 passed, 1 failed", code: 1 },
  {
    what: "a hook failed and the file passed alone",
    first: [file("failed", ["passed"])],
    again: [file("passed", ["passed"])],
    says: "1 passed, 0 failed",
    code: 0,
  },
  {
    what: "a file was not loaded and passed alone",
    first: [file("failed", [])],
    again: [file("passed", ["passed", "passed"])],
    says: "2 passed, 0 failed",
    code: 0,
  },
  {
    what: "a hook failed twice",
    first: [file("failed", ["passed"])],
    again: [file("failed", ["passed"])],
    says: "1 passed, 1 failed",
    code: 1,
  },
  { what: "nothing ran", first: [], says: "0 passed, 0 failed", code: 1 },
  {
    what: "a skip that nobody explained",
    first: [file("passed", ["passed", "skipped"])],
    says: "1 passed, 1 failed",
    code: 1,
  },
])("$what", ({ first, again, says, code }) => {
  write("report.json", first);
  if (again) write("report.json.again", again);
  const { stdout, status } = spawnSync(
    process.execPath,
    ["scripts/ci-summary.mjs", join(folder, "report.json"), join(folder, "not-run")],
    { encoding: "utf8" },
  );
  expect(stdout.trimEnd().split("\n").at(-1)).toBe(says);
  expect(status).toBe(code);
  expect(stdout.includes("UNSTEADY")).toBe(code === 0 && again !== undefined);
});

test("a file that only the run without programs has is counted once", () => {
  const other = { ...file("passed", ["passed", "passed"]), name: "b.test.ts" };
  write("bare.json", [file("passed", ["passed", "skipped"]), other]);
  writeFileSync(join(folder, "not-run-bare"), "NOT RUN: git (a.test.ts). apt install git\n");
  write("report.json", [file("passed", ["passed", "passed"])]);
  const reports = ["report.json", "not-run", "--bare", "bare.json", "not-run-bare"];
  const { stdout } = spawnSync(
    process.execPath,
    ["scripts/ci-summary.mjs", ...reports.map((name) => (name.startsWith("--") ? name : join(folder, name)))],
    { encoding: "utf8" },
  );
  expect(stdout.trimEnd().split("\n").at(-1)).toBe("4 passed, 0 failed");
});

test("with programs CI runs again what was skipped without, what failed, and what speaks of one", () => {
  const told = (name: string, text: string, tests: Status[]) => {
    writeFileSync(join(folder, name), text);
    return { ...file("passed", tests), name: join(folder, name) };
  };
  write("bare.json", [
    told("plain.test.ts", "const found = /a/.exec(text);", ["passed"]),
    told("skipped.test.ts", "", ["passed", "skipped"]),
    told("failed.test.ts", "", ["failed"]),
    told("unloaded.test.ts", "", []),
    told("sandbox.test.ts", "in the sandbox", ["passed"]),
    told("runs.test.ts", 'call("exec", { command: "ls" })', ["passed"]),
    told("git.test.ts", 'run("git status")', ["passed"]),
    told("words.test.ts", "make digits of them", ["passed"]),
  ]);
  const { stdout } = spawnSync(process.execPath, ["scripts/ci-with-programs.mjs", join(folder, "bare.json")], {
    encoding: "utf8",
  });
  const files = stdout
    .trimEnd()
    .split("\n")
    .map((file) => basename(file));
  expect(files).toEqual(["skipped", "failed", "unloaded", "sandbox", "runs", "git"].map((name) => `${name}.test.ts`));
});

function file(status: File["status"], tests: Status[]): File {
  return { name: "a.test.ts", status, tests };
}

function write(name: string, files: File[]): void {
  const testResults = files.map(({ name, status, tests }) => ({
    name: isAbsolute(name) ? name : join(process.cwd(), name),
    status,
    message: "",
    assertionResults: tests.map((status, at) => ({ status, fullName: `test ${at}`, failureMessages: ["it broke"] })),
  }));
  const numPassedTests = files.flatMap(({ tests }) => tests).filter((one) => one === "passed").length;
  writeFileSync(join(folder, name), JSON.stringify({ numPassedTests, testResults }));
}
