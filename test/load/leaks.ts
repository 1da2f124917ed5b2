/** What a turn leaves behind in memory, door by door: the heap after a collection, weighed twice with many turns in between. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { residentMb, spawnModel, startLares, startModel, weighable } from "../support/index.ts";
import type { Door } from "./doors.ts";

/** What a turn may leave behind for ever. A listener with its closure costs more than a kilobyte. */
export const MOST_KEPT_BYTES = 300;

export interface Weighed {
  door: string;
  turns: number;
  keptPerTurn: number;
  /** How much the database grew. */
  filePerTurn: number;
  heapMb: number;
  residentMb: number;
  seconds: number;
}

/** Thousands of turns cost more than a person spends in a day. */
const UNBOUNDED = { perDay: { dollars: 1_000_000 }, perSession: { dollars: 1_000_000 } };

/** `warm` turns first fill what is bounded (windows, rings, compiled code); `turns` more must not add to it. */
export async function weigh(door: Door, of: { warm: number; turns: number }): Promise<Weighed> {
  const began = performance.now();
  const model = await startModel({ keep: false });
  const scales = weighable();
  const own = typeof door.config === "function" ? await door.config() : door.config;
  const lares = await startLares({ env: { ...model.env, ...scales.env }, config: { budgets: UNBOUNDED, ...own } });
  try {
    const open = await door.open(lares);
    let n = 0;
    const knock = async (count: number) => {
      const last = n + count;
      const caller = async () => {
        while (n < last) await open.knock(n++);
      };
      await Promise.all(Array.from({ length: door.atOnce ?? 10 }, caller));
      await open.settle?.();
    };
    await knock(Math.max(of.warm, door.warm ?? 0));
    const size = () => statSync(join(lares.home, "lares.db")).size;
    const heap = () => leastOf(() => scales.heapOf(lares.pid));
    const [before, sizeBefore] = [await heap(), size()];
    await knock(of.turns);
    const after = await heap();
    await open.close?.();
    return {
      door: door.name,
      turns: of.turns,
      keptPerTurn: Math.round((after - before) / of.turns),
      filePerTurn: Math.round((size() - sizeBefore) / of.turns),
      heapMb: Math.round(after / 1e5) / 10,
      residentMb: Math.round(residentMb(lares.pid)),
      seconds: Math.round((performance.now() - began) / 1000),
    };
  } finally {
    await lares.dispose();
    await model.close();
  }
}

const LOOKS = 4;
const BETWEEN_LOOKS_MS = 500;

/** What follows a turn (the search index, what is to be remembered) still holds hundreds of kilobytes when the last caller is done. */
async function leastOf(look: () => Promise<number>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let n = 0; n < LOOKS; n++) {
    if (n) await setTimeout(BETWEEN_LOOKS_MS);
    least = Math.min(least, await look());
  }
  return least;
}

/** Resident memory after this many turns at full load: 50 sessions, no collection but Node's own. */
export async function residentAfter(turns: number, say: (turns: number, mb: number) => void): Promise<number> {
  const model = await spawnModel();
  const lares = await startLares({ env: model.env, config: { budgets: UNBOUNDED } });
  try {
    let n = 0;
    const caller = async (user: number) => {
      while (n < turns) {
        if (++n % 5000 === 0) say(n, Math.round(residentMb(lares.pid)));
        const { state } = await lares.chat(`p${user}`, "hello");
        if (state !== "answered") throw new Error(`not answered: ${state}`);
      }
    };
    await Promise.all(Array.from({ length: 50 }, (_, user) => caller(user)));
    return Math.round(residentMb(lares.pid));
  } finally {
    await lares.dispose();
    await model.stop();
  }
}
