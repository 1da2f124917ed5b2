/** What could not be tested here is said, with the remedy; CI counts it as failed (see .ci/run). */
import { appendFileSync } from "node:fs";

export function notRun(what: string, remedy: string): void {
  const line = `NOT RUN: ${what}. ${remedy}`;
  process.stderr.write(`${line}\n`);
  const file = process.env.LARES_NOT_RUN_FILE;
  if (file) appendFileSync(file, `${line}\n`);
}
