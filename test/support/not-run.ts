/**
 * What could not be tested here is said, with the remedy. Each line names the test file: CI compares them with the tests that were
 * skipped, and a skip without a line fails (scripts/ci-summary.mjs).
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { delimiter, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const LIST = join(ROOT, "scripts/optional-programs.json");
const SYSTEM = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

interface Optional {
  package: string;
  also?: string[];
  installed?: boolean;
}

/**
 * Whether an optional program is on this machine. Where it is not, says NOT RUN with the command that installs it. Call it in the test
 * file itself, once for what is skipped: `describe.skipIf(!needs("ngircd", "the IRC channel"))`.
 */
export function needs(program: string, what: string, works = programAt(program) !== undefined): boolean {
  const { programs } = JSON.parse(readFileSync(LIST, "utf8")) as { programs: Record<string, Optional> };
  const known = programs[program];
  if (!known) throw new Error(`${program} is not in scripts/optional-programs.json`);
  // Also where it is installed: CI would fail on the first machine without it.
  if (known.installed === false) throw new Error(`A test needs ${program}, so CI has to install it: see ${LIST}`);
  if (works) return true;
  notRun(what, `Install it with: apt-get install ${known.package}`);
  return false;
}

/** Where the program is: in a folder of PATH or of the system. */
export function programAt(program: string): string | undefined {
  const folders = [...(process.env.PATH ?? "").split(delimiter), ...SYSTEM];
  return folders.map((folder) => join(folder, program)).find((file) => existsSync(file));
}

export function notRun(what: string, remedy: string): void {
  const line = `NOT RUN: ${what} (${testFile()}). ${remedy}`;
  process.stderr.write(`${line}\n`);
  const file = process.env.LARES_NOT_RUN_FILE;
  if (file) appendFileSync(file, `${line}\n`);
}

/** The test file that asks, from the stack: a helper that is shared says nothing about who is skipped. */
function testFile(): string {
  const found = /(?:file:\/\/)?(\/[^\s():]+\.test\.ts)/.exec(new Error().stack ?? "");
  return found ? relative(ROOT, found[1]!) : "no test file";
}
