/** Time is handed in, so that a test can move it by hand. */
export interface Clock {
  now(): number;
  /** Calls back once after `ms`; returns a function that cancels it. Doesn't keep the process alive. */
  after(ms: number, run: () => void): () => void;
}

/** setTimeout overflows past 2^31-1 ms and then fires at once; longer waits are cut and re-armed by their owner. */
const LONGEST_TIMER = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, Math.min(Math.max(ms, 0), LONGEST_TIMER));
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** When this day began, on the clock of this machine. */
export function startOfDay(now: number): number {
  return new Date(now).setHours(0, 0, 0, 0);
}

/** A clock moved by hand. */
export class ManualClock implements Clock {
  private time: number;
  private timers = new Set<{ at: number; run: () => void }>();

  constructor(start = 1_750_000_000_000) {
    this.time = start;
  }

  now(): number {
    return this.time;
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.time + Math.max(ms, 0), run };
    this.timers.add(timer);
    return () => this.timers.delete(timer);
  }

  /** Moves on (or back) and fires what became due, in order of time. */
  advance(ms: number): void {
    this.time += ms;
    for (;;) {
      const due = [...this.timers].filter((t) => t.at <= this.time).sort((a, b) => a.at - b.at)[0];
      if (!due) return;
      this.timers.delete(due);
      due.run();
    }
  }
}
