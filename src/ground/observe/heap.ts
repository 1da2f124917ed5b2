/**
 * How much memory the heap takes beyond what is in use. Figures, and what they leave open:
 * docs/decisions/2026-11-15-memory-stays-flat.md.
 *
 * - It may grow by three fifths of what is in use before V8 looks for garbage. V8's own rule goes by the machine's memory, so that on a
 *   large one a process that holds 40 MB carries 150 MB of garbage about.
 * - What the start left behind is collected at the first quiet moment. V8 would get to it some hundred turns later, and a house in which
 *   nobody speaks would never give it back.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Clock } from "../../core/kit/index.ts";

const GROWTH_PERCENT = 60;

/** Once, at the start; known to V8 in every Node from 20 to 26. */
export function keepHeapTight(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}

/** By then what is warmed after the start is done, and somebody who wrote at once has their answer. */
const LOOK_MS = 4000;
/** The most the program may have computed since the last look: next to nothing. A collection holds up everything for about 40 ms. */
const MOST_BUSY_MS = 200;

type Collection = "minor" | "major";

/**
 * Once, when the program has had next to nothing to do for a while. V8 gives memory back when little was allocated since the collection
 * before, so a short one (some 5 ms) goes first. Returns how to give up; a program that ends needn't.
 */
export function collectWhenQuiet(clock: Clock, collect = collectGarbage, cpu = () => process.cpuUsage()): () => void {
  const kinds: Collection[] = ["minor", "major"];
  let before = cpu();
  const look = () => {
    const now = cpu();
    const busyMs = (now.user + now.system - before.user - before.system) / 1000;
    before = now;
    const kind = busyMs <= MOST_BUSY_MS ? kinds.shift() : undefined;
    if (kind) collect(kind);
    if (kinds.length) cancel = clock.after(LOOK_MS, look);
  };
  let cancel = clock.after(LOOK_MS, look);
  return () => cancel();
}

/** Node shows V8's collector in contexts made while this flag is set; only this one has it. */
function collectGarbage(type: Collection): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as (how?: { type: "minor" }) => void;
  setFlagsFromString("--no-expose-gc");
  // Anything but nothing is taken for a minor one by V8 in Node 20.
  if (type === "minor") collect({ type });
  else collect();
}
