/** What a turn leaves behind in memory, door by door: the heap after a collection, weighed twice with many turns in between. */
import { residentMb, startLares, startModel, weighable } from "../support/index.ts";
import type { Door } from "./doors.ts";

/** What a turn may leave behind for ever. A listener with its closure costs more than a kilobyte. */
export const MOST_KEPT_BYTES = 300;

export interface Weighed {
  door: string;
  turns: number;
  keptPerTurn: number;
  heapMb: number;
  residentMb: number;
  seconds: number;
}

/** `warm` turns first fill what is bounded (windows, rings, compiled code); `turns` more must not add to it. */
export async function weigh(door: Door, of: { warm: number; turns: number }): Promise<Weighed> {
  const began = performance.now();
  const model = await startModel({ keep: false });
  const scales = weighable();
  const budgets = { perDay: { dollars: 1_000_000 }, perSession: { dollars: 1_000_000 } };
  const own = typeof door.config === "function" ? await door.config() : door.config;
  const lares = await startLares({ env: { ...model.env, ...scales.env }, config: { budgets, ...own } });
  try {
    const open = await door.open(lares);
    let n = 0;
    const knock = async (count: number) => {
      const last = n + count;
      const caller = async () => {
        while (n < last) await open.knock(n++);
      };
      await Promise.all(Array.from({ length: door.atOnce ?? 10 }, caller));
    };
    await knock(of.warm);
    const before = await scales.heapOf(lares.pid);
    await knock(of.turns);
    const after = await scales.heapOf(lares.pid);
    await open.close?.();
    return {
      door: door.name,
      turns: of.turns,
      keptPerTurn: Math.round((after - before) / of.turns),
      heapMb: Math.round(after / 1e5) / 10,
      residentMb: Math.round(residentMb(lares.pid)),
      seconds: Math.round((performance.now() - began) / 1000),
    };
  } finally {
    await lares.dispose();
    await model.close();
  }
}
