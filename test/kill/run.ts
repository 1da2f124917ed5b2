/** `npm run test:kill -- --rounds 200 [--seed N]`: see kill.ts for what is done and check.ts for what must hold. */
import { parseArgs } from "node:util";
import { runKill, table } from "./kill.ts";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "200" }, seed: { type: "string" } } });
const rounds = Number(values.rounds);
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
if (!Number.isInteger(rounds) || rounds < 1 || !Number.isInteger(seed)) {
  process.stderr.write("usage: npm run test:kill -- [--rounds N] [--seed N]\n");
  process.exit(2);
}

process.stdout.write(`kill -9, ${rounds} rounds, seed ${seed}\n`);
const report = await runKill({
  rounds,
  seed,
  progress: (round, messages) => {
    if (round % 10 === 0 || round === rounds) process.stdout.write(`  round ${round}: ${messages} messages\n`);
  },
});
process.stdout.write(`${table(report)}\n`);
for (const violation of report.violations.slice(0, 50)) process.stdout.write(`VIOLATION ${violation}\n`);
if (report.violations.length > 50) process.stdout.write(`… and ${report.violations.length - 50} more\n`);
process.stdout.write(
  report.violations.length === 0
    ? "ok\n"
    : `FAILED; again with: npm run test:kill -- --rounds ${rounds} --seed ${seed}\n`,
);
process.exitCode = report.violations.length === 0 ? 0 : 1;
