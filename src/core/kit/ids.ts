import { randomBytes } from "node:crypto";
import { type Clock, systemClock } from "./clock.ts";

/** Makes ids. Handed in, so that a test can make them predictable. */
export interface IdMaker {
  /** A new id `<prefix>_<26 characters>`: sortable by time, unguessable. */
  next(prefix: string): string;
}

// Crockford's base 32: no letters that look like digits.
const SIGNS = "0123456789abcdefghjkmnpqrstvwxyz";

export function randomIds(clock: Pick<Clock, "now"> = systemClock): IdMaker {
  let pool = Buffer.alloc(0);
  let at = 0;
  return {
    next(prefix) {
      // Random bytes are drawn in bulk: one system call for many ids.
      if (at + 16 > pool.length) {
        pool = randomBytes(4096);
        at = 0;
      }
      let time = clock.now();
      let head = "";
      for (let i = 0; i < 10; i++) {
        head = SIGNS[time % 32] + head;
        time = Math.floor(time / 32);
      }
      let tail = "";
      for (let i = 0; i < 16; i++) tail += SIGNS[pool[at++]! & 31];
      return `${prefix}_${head}${tail}`;
    },
  };
}
