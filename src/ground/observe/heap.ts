/**
 * How far the heap may grow before V8 looks for garbage: by three fifths of what is in use. V8's own rule goes by the machine's memory, so that
 * on a large one a process that holds 40 MB carries 150 MB of garbage about. Figures, and what they leave open:
 * docs/decisions/2026-11-15-memory-stays-flat.md.
 */
import { setFlagsFromString } from "node:v8";

const GROWTH_PERCENT = 60;

/** Once, at the start; known to V8 in every Node from 20 to 26. */
export function keepHeapTight(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
