/**
 * Hostile text through the readers of a table (I13). Each reader takes its time in CPU, so that a busy machine changes little,
 * and the bound grows with what a plain pass over a text costs on this one.
 *
 * All shapes are read at 64 KB. Those that take longer than a moment are read at 256 KB and must keep the bound there; one that
 * is quicker could break it only by growing faster than the cube of its length. What takes long must grow no faster than the
 * text does.
 */
import { describe, expect, test } from "vitest";
import { EVERY_WAY } from "../support/every-way.ts";
import { type Rows, readersIn } from "./readers/reader.ts";
import { QUARTER, SHAPES, type Shape, SIZE } from "./shapes.ts";

/** The whole table takes minutes of CPU. */
const SAMPLE = 16;
const BOUND_MS = 200;
/** 64 times this, what four times the text costs a cubic reader, is still within the bound. */
const MOMENT_MS = 3;
/** Four times the text: four times the time, and room for the garbage. A quadratic reader takes sixteen times as long. */
const MOST_GROWTH = 11;
/** Below this a garbage collection more or less says more than the growth does. */
const TELLING_MS = 60;
/** What `plainPass` takes on the machine the bound was set on. */
const REFERENCE_MS = 6;

type Read = (text: string) => unknown;

export function pump(title: string, rows: Rows): void {
  const factor = slowness();
  describe(title, () => {
    test.each(readersIn(rows))("%s", { timeout: 600_000 }, async (name, reader) => {
      const { read, refuses, markdownOnly } = reader;
      const slow: string[] = [];
      const accepted: string[] = [];
      let [slowest, worst] = [0, ""];
      for (const shape of chosen(name)) {
        if (markdownOnly && !shape.isMarkdown) continue;
        const { ms, refused } = await cost(read, shape.text(QUARTER));
        if (refuses && !refused) accepted.push(shape.name);
        if (ms < MOMENT_MS * factor) continue;
        const took = await whole(read, shape, { factor, bound: BOUND_MS * factor });
        if (took.ms > slowest) [slowest, worst] = [took.ms, shape.name];
        if (took.why) slow.push(`${shape.name}: ${took.why}`);
      }
      const ratio = (slowest / factor).toFixed(0);
      console.log(worst ? `${name}: ${ratio} ms at most (${worst})` : `${name}: under ${4 * MOMENT_MS} ms`);
      expect(slow, `${SIZE / 1024} KB`).toEqual([]);
      expect(accepted, "should be refused").toEqual([]);
    });
  });
}

/** How much longer this machine takes at the moment than the one the bounds were set on. */
export function slowness(): number {
  return Math.max(1, best(3, plainPass) / REFERENCE_MS);
}

/** All shapes in `npm run test:attack`; in `npm test` each reader gets a sixteenth of them, another one than its neighbours. */
function chosen(name: string): readonly Shape[] {
  if (EVERY_WAY) return SHAPES;
  const first = [...name].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % SAMPLE;
  return SHAPES.filter((_, i) => i % SAMPLE === first);
}

/** At full length. What is slow once may have met a garbage collection; what is slow three times is slow. */
async function whole(
  read: Read,
  shape: Shape,
  { factor, bound }: { factor: number; bound: number },
): Promise<{ ms: number; why?: string }> {
  const text = shape.text(SIZE);
  let { ms } = await cost(read, text);
  // How slow the machine is changes with what else runs on it: measured again beside each further try.
  let allowed = bound;
  for (let again = 0; again < 3 && ms > allowed; again++) {
    ms = Math.min(ms, (await cost(read, text)).ms);
    allowed = Math.max(bound, BOUND_MS * slowness());
  }
  if (ms > allowed) return { ms, why: `${ms.toFixed(0)} ms` };
  if (ms < TELLING_MS * factor) return { ms };
  const quarter = shape.text(QUARTER);
  for (let again = 0; ; again++) {
    const part = Math.min((await cost(read, quarter)).ms, (await cost(read, quarter)).ms);
    if (ms <= MOST_GROWTH * part) return { ms };
    if (again === 3) return { ms, why: `${(ms / part).toFixed(1)} times as long for four times the text` };
    ms = Math.min(ms, (await cost(read, text)).ms);
  }
}

async function cost(read: Read, text: string): Promise<{ ms: number; refused: boolean }> {
  const [cpu, begun] = [process.cpuUsage(), performance.now()];
  let refused = false;
  try {
    await read(text);
  } catch (error) {
    // A refusal is an answer. Running out of stack is none: the text decided how deep we went.
    if (error instanceof RangeError) throw error;
    refused = true;
  }
  const { user, system } = process.cpuUsage(cpu);
  return { ms: Math.min((user + system) / 1000, performance.now() - begun), refused };
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
