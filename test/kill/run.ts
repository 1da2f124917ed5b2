/**
 * `npm run test:kill -- --rounds 200 [--seed N]`: see kill.ts for what is done and check.ts for what must hold.
 * `npm run test:kill -- --points`: a death at every named point, by every way there is to it (test/flows/crash-points.test.ts).
 * `npm run test:kill -- --schedules --rounds 500 [--minutes N] [--homes 4]`: jobs killed at fire time, see schedules.ts.
 */
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { runKill, table } from "./kill.ts";
import { runScheduleKill, scheduleTable } from "./schedules.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "200" },
    seed: { type: "string" },
    schedules: { type: "boolean", default: false },
    points: { type: "boolean", default: false },
    minutes: { type: "string" },
    homes: { type: "string", default: "4" },
  },
});
if (values.points) {
  const ran = spawnSync(
    process.execPath,
    ["node_modules/vitest/vitest.mjs", "run", "test/flows/crash-points.test.ts"],
    {
      stdio: "inherit",
      env: { ...process.env, LARES_EVERY_WAY: "1" },
    },
  );
  process.exit(ran.status ?? 1);
}
const rounds = Number(values.rounds);
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
if (!Number.isInteger(rounds) || rounds < 1 || !Number.isInteger(seed)) {
  process.stderr.write("usage: npm run test:kill -- [--rounds N] [--seed N]\n");
  process.exit(2);
}

process.stdout.write(`kill -9${values.schedules ? " at fire time" : ""}, ${rounds} rounds, seed ${seed}\n`);
const say = (round: number, more = "") => {
  if (round % 10 === 0 || round === rounds) process.stdout.write(`  round ${round}${more}\n`);
};
const { violations, shown } = values.schedules ? await atFireTime() : await underLoad();
process.stdout.write(`${shown}\n`);
for (const violation of violations.slice(0, 50)) process.stdout.write(`VIOLATION ${violation}\n`);
if (violations.length > 50) process.stdout.write(`… and ${violations.length - 50} more\n`);
const again = `npm run test:kill -- ${values.schedules ? "--schedules " : ""}--rounds ${rounds} --seed ${seed}`;
process.stdout.write(violations.length === 0 ? "ok\n" : `FAILED; again with: ${again}\n`);
process.exitCode = violations.length === 0 ? 0 : 1;

async function underLoad() {
  const report = await runKill({ rounds, seed, progress: (round, messages) => say(round, `: ${messages} messages`) });
  return { violations: report.violations, shown: table(report) };
}

async function atFireTime() {
  const report = await runScheduleKill({
    rounds,
    seed,
    homes: Number(values.homes),
    ...(values.minutes ? { minutes: Number(values.minutes) } : {}),
    progress: (round) => say(round),
  });
  return { violations: report.violations, shown: scheduleTable(report) };
}
