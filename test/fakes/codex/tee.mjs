/**
 * Stands between Lares and the real Codex and writes down what both say, for `record.ts`.
 *
 * Documentation: see codex.mjs
 */
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const { LARES_TEE_PROGRAM: program, LARES_TEE_FILE: file, LARES_TEE_EXEC: isExec } = process.env;
if (isExec && process.argv.includes("--help")) {
  process.stdout.write("Usage: codex [OPTIONS] [PROMPT]\n");
  process.exit(0);
}
const child = spawn(program, process.argv.slice(2), { stdio: ["pipe", "pipe", "inherit"] });
const note = (from, line) => {
  if (file) appendFileSync(file, `${from} ${line}\n`);
};
createInterface({ input: process.stdin })
  .on("line", (line) => {
    note(">", line);
    child.stdin.write(`${line}\n`);
  })
  .on("close", () => child.stdin.end());
createInterface({ input: child.stdout }).on("line", (line) => {
  note("<", line);
  process.stdout.write(`${line}\n`);
});
child.on("exit", (code) => process.exit(code ?? 1));
