/** `npm run test:mind`: plays every task without and with the element it is about, and prints what came of it. */
import { startStage, tasksHere } from "./tasks/index.ts";
import { play } from "./tasks/task.ts";

const TASKS = tasksHere();
const stage = await startStage();
const rows: string[][] = [["task", "element", "without", "with", "s"]];
let wrong = 0;
for (const task of TASKS) {
  const began = performance.now();
  const without = await play(task, stage, "without");
  const has = await play(task, stage, "with");
  if (without || !has) wrong++;
  const word = (right: boolean) => (right ? "right" : "wrong");
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  rows.push([task.name, task.element, word(without), word(has), seconds]);
}
await stage.stop();
const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)));
for (const row of rows)
  process.stdout.write(
    `${row
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join("  ")
      .trimEnd()}\n`,
  );
process.stdout.write(
  wrong ? `${wrong} of ${TASKS.length} did not show what they should.\n` : `All ${TASKS.length} as they should be.\n`,
);
process.exit(wrong ? 1 : 0);
