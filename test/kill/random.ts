/** A small seeded generator (mulberry32): the choices of a run can be repeated, its timing cannot. */
export interface Random {
  /** 0 ≤ x < 1. */
  next(): number;
  /** A whole number from 0 to n − 1. */
  below(n: number): number;
  chance(share: number): boolean;
  /** An independent generator, so that parallel clients do not disturb each other's choices. */
  fork(name: number): Random;
}

export function random(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    next,
    below: (n) => Math.floor(next() * n),
    chance: (share) => next() < share,
    fork: (name) => random((seed ^ Math.imul(name + 1, 0x9e3779b1)) >>> 0),
  };
}
