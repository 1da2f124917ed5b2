/**
 * 256 KB of every hostile shape through the readers of foreign text in parsers.ts (I13). Each takes its time in CPU, so that a busy machine
 * changes little, and the bound grows with what a plain pass over a text costs on this one.
 */
import { expect, test } from "vitest";
import { PARSERS } from "./parsers.ts";
import { SHAPES, SIZE } from "./shapes.ts";

const BOUND_MS = 200;
/** What `plainPass` takes on the machine the bound was set on. */
const REFERENCE_MS = 6;

const factor = Math.max(1, best(3, plainPass) / REFERENCE_MS);

test.each(Object.entries(PARSERS))("%s reads no shape slowly", { timeout: 300_000 }, async (name, read) => {
  const slow: string[] = [];
  let [slowest, worst] = [0, ""];
  for (const [shape, text] of Object.entries(SHAPES)) {
    let took = await cost(read, text);
    // What was slow once may have met a garbage collection; what is slow three times is slow.
    for (let again = 0; again < 2 && took > BOUND_MS * factor; again++) took = Math.min(took, await cost(read, text));
    if (took > slowest) [slowest, worst] = [took, shape];
    if (took > BOUND_MS * factor) slow.push(`${shape}: ${took.toFixed(0)} ms`);
  }
  console.log(`${name}: ${slowest.toFixed(0)} ms at most (${worst})`);
  expect(slow, `${SIZE / 1024} KB`).toEqual([]);
});

async function cost(read: (text: string) => unknown, text: string): Promise<number> {
  const [cpu, begun] = [process.cpuUsage(), performance.now()];
  try {
    await read(text);
  } catch (error) {
    // A refusal is an answer. Running out of stack is none: the text decided how deep we went.
    if (error instanceof RangeError) throw error;
  }
  const { user, system } = process.cpuUsage(cpu);
  return Math.min((user + system) / 1000, performance.now() - begun);
}

function best(times: number, run: () => void): number {
  const took = Array.from({ length: times }, () => {
    const cpu = process.cpuUsage();
    run();
    return process.cpuUsage(cpu).user / 1000;
  });
  return Math.min(...took);
}

function plainPass(): void {
  let sum = 0;
  const text = "a b\n".repeat(SIZE);
  for (let at = 0; at < text.length; at++) sum += text.charCodeAt(at);
  if (sum === 0) throw new Error("nothing was read");
}
