/**
 * `npm run test:leaks [-- --turns 6000] [--warm 6000] [--door NAME]`: what a turn leaves behind, door by door.
 * Exit code 1 when a door keeps more than 300 bytes a turn.
 *
 * `npm run test:leaks -- --resident 60000`: resident memory after so many turns at full load. Exit code 1 above 250 MB.
 */
import { parseArgs } from "node:util";
import { DOORS } from "./doors.ts";
import { MOST_KEPT_BYTES, residentAfter, weigh } from "./leaks.ts";

const { values } = parseArgs({
  options: {
    turns: { type: "string", default: "6000" },
    warm: { type: "string", default: "6000" },
    door: { type: "string" },
    resident: { type: "string" },
  },
});

/** Where the heap's own limit is not felt: a small machine has room for it. */
const MOST_RESIDENT_MB = 250;

if (values.resident) {
  const began = performance.now();
  const turns = Number(values.resident);
  const mb = await residentAfter(turns, (n, at) => process.stdout.write(`  ${n} turns: ${at} MB\n`));
  const perSecond = Math.round((turns * 1000) / (performance.now() - began));
  const ok = mb <= MOST_RESIDENT_MB;
  process.stdout.write(`${ok ? "ok  " : "MORE"} ${mb} MB resident after ${turns} turns, ${perSecond} turns/s\n`);
  process.exit(ok ? 0 : 1);
}

const doors = DOORS.filter(({ name }) => !values.door || name.includes(values.door));
if (!doors.length) {
  process.stderr.write(`No door is called "${values.door}". There are: ${DOORS.map(({ name }) => name).join(", ")}.\n`);
  process.exit(1);
}

let failed = 0;
for (const door of doors) {
  const one = await weigh(door, { warm: Number(values.warm), turns: Number(values.turns) });
  const ok = one.keptPerTurn <= MOST_KEPT_BYTES;
  if (!ok) failed++;
  process.stdout.write(
    `${ok ? "ok  " : "LEAK"} ${one.door}: ${one.keptPerTurn} bytes a turn over ${one.turns} turns; heap ${one.heapMb} MB, resident ${one.residentMb} MB, ${one.seconds} s\n`,
  );
}
process.exitCode = failed ? 1 : 0;
