/**
 * `npm run test:leaks [-- --turns 6000] [--warm 6000] [--door NAME]`: what a turn leaves behind, door by door.
 * Exit code 1 when a door keeps more than 300 bytes a turn.
 */
import { parseArgs } from "node:util";
import { DOORS } from "./doors.ts";
import { MOST_KEPT_BYTES, weigh } from "./leaks.ts";

const { values } = parseArgs({
  options: {
    turns: { type: "string", default: "6000" },
    warm: { type: "string", default: "6000" },
    door: { type: "string" },
  },
});

let failed = 0;
for (const door of DOORS.filter(({ name }) => !values.door || name.includes(values.door))) {
  const one = await weigh(door, { warm: Number(values.warm), turns: Number(values.turns) });
  const ok = one.keptPerTurn <= MOST_KEPT_BYTES;
  if (!ok) failed++;
  process.stdout.write(
    `${ok ? "ok  " : "LEAK"} ${one.door}: ${one.keptPerTurn} bytes a turn over ${one.turns} turns; heap ${one.heapMb} MB, resident ${one.residentMb} MB, ${one.seconds} s\n`,
  );
}
process.exitCode = failed ? 1 : 0;
