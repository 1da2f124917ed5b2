/**
 * `npm run test:power -- [--states 10000] [--rounds 20] [--whole 8] [--seed N]`: what is left of Lares after a power cut.
 *
 * Lares works under strace (record.ts). From its calls the disk is rebuilt as it could be after a power cut at each point where
 * something became durable, or could have been lost (disk.ts), and each such disk is looked at (check.ts); some of them are started
 * with the real program.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { runPower } from "./power.ts";

const { values } = parseArgs({
  options: {
    states: { type: "string", default: "10000" },
    rounds: { type: "string", default: "12" },
    whole: { type: "string", default: "8" },
    seed: { type: "string" },
  },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const dir = mkdtempSync(join(process.platform === "linux" ? "/dev/shm" : tmpdir(), "lares-power-"));
const say = (line: string) => process.stdout.write(`${line}\n`);
say(`power cuts, seed ${seed}`);
try {
  const report = await runPower({
    dir,
    seed,
    say,
    states: Number(values.states),
    rounds: Number(values.rounds),
    whole: Number(values.whole),
  });
  for (const [what, n] of [...report.violations].slice(0, 30)) say(`VIOLATION ${what} (${n} states)`);
  say(
    `${report.states} states (${report.distinct} distinct) at ${report.points} points, ${report.whole} started, ${report.seconds.toFixed(0)} s`,
  );
  say(report.violations.size ? `FAILED; again with: npm run test:power -- --seed ${seed}` : "ok");
  process.exitCode = report.violations.size ? 1 : 0;
} finally {
  rmSync(dir, { recursive: true, force: true });
}
