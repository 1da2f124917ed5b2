/** `npm run test:long [-- --turns N]`: a conversation of 5,000 turns through a window of 8k tokens; prints what it saw. */
import { growth, liveLong, mean, WINDOW } from "./conversation.ts";

const at = process.argv.indexOf("--turns");
const turns = at > 0 ? Number(process.argv[at + 1]) : 5000;
const began = performance.now();
const life = await liveLong(turns, async (turn) => {
  if (turn % 250 === 249) process.stderr.write(`  ${turn + 1} turns\n`);
});
const { early, late, ratio } = growth(life);
const fifth = Math.floor(turns / 5);
const figures: [string, string, boolean | undefined][] = [
  [
    "turns",
    `${turns} in ${((performance.now() - began) / 1000).toFixed(0)} s, ${life.messages} messages kept`,
    undefined,
  ],
  ["ended without an answer", String(life.failed), life.failed === 0],
  ["refused by the model as too long", String(life.refused), life.refused === 0],
  [`largest request, of ${WINDOW}`, `${life.largest} tokens`, life.largest <= WINDOW],
  ["compacted by a model", `${life.compactions} times; the last ten: ${JSON.stringify(life.how)}`, undefined],
  [
    "tokens a turn, second fifth / last fifth",
    `${early.toFixed(0)} / ${late.toFixed(0)} = ${ratio.toFixed(2)} ×`,
    ratio <= 1.1,
  ],
  [
    "time a turn, second fifth / last fifth",
    `${mean(life.ms.slice(fifth, 2 * fifth)).toFixed(1)} / ${mean(life.ms.slice(turns - fifth, turns)).toFixed(1)} ms`,
    undefined,
  ],
  ["resident memory at the end", `${life.rssMb.toFixed(0)} MB, of it ${life.heapMb.toFixed(0)} MB objects`, undefined],
  ...life.recalled.map((r): [string, string, boolean] => [r.asked, `${r.answer} (by ${r.by})`, r.right]),
];
const width = Math.max(...figures.map(([what]) => what.length));
for (const [what, saw, ok] of figures) {
  process.stdout.write(`${ok === undefined ? " " : ok ? "✓" : "✕"} ${what.padEnd(width)}  ${saw}\n`);
}
if (figures.some(([, , ok]) => ok === false)) process.exitCode = 1;
