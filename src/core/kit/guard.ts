/**
 * Work that could stall or kill the process says when it begins and ends, so that the next start knows what was running when
 * this one died (I13). `ground/watchdog` keeps the books; rooms only see this port.
 */
import { AppError } from "../domain/errors.ts";

/** `kind:id`, the same in every life: `turn:…`, `delivery:…`, `watch:…`, `import:…`, `raw:…`, `event:…`, `document:…`. */
export type WorkKey = `${string}:${string}`;

/** `none`: nothing is held against it. `suspect`: it runs alone among suspects. `convicted`: it isn't started again. */
export type Suspicion = "none" | "suspect" | "convicted";

/**
 * What work is doing: `works` in this process, `asks` somebody outside it and reads the answer as it comes (a model, a platform, a
 * command under its supervisor), or `waits` for its turn and does nothing at all.
 */
export type Doing = "works" | "asks" | "waits";

export interface GuardedWork {
  /** Something of it is durable that the next life won't repeat. May be called again. */
  progressed(): void;
  /** It does nothing but wait for others, maybe for suspects behind it: the next one may start. */
  waits(): void;
  /** What it does from now on; `works` from its begin. What only waits or asks isn't to blame for a death that left no note. */
  doing(now: Doing): void;
  /** It left the process alive. `finished`: it also completed, so it is no longer suspect. */
  end(finished: boolean): void;
}

export interface Guard {
  suspicion(key: WorkKey): Suspicion;
  /** Resolves when this work may begin: at once, or for a suspect when no other suspect runs. `begin` must follow. */
  turn(key: WorkKey): Promise<void>;
  /** Notes that it runs. Costs a few microseconds, never throws. */
  begin(key: WorkKey): GuardedWork;
  /** Its end is visible, or a person wants it tried again, so it is no longer suspect. */
  forgive(key: WorkKey): void;
}

/** What people read when work isn't started again. */
export const STOPPED_LARES = "This failed twice in a way that stopped Lares, so it wasn't tried again.";

export const noGuard: Guard = {
  suspicion: () => "none",
  turn: () => Promise.resolve(),
  begin: () => ({ progressed() {}, waits() {}, doing() {}, end() {} }),
  forgive() {},
};

/** Does something of the work that isn't done in this process. */
export type Apart = <T>(doing: Exclude<Doing, "works">, run: () => Promise<T>) => Promise<T>;

/** Work that has several things in hand at once: it waits when all of them wait, and asks when none works. */
export class Branches {
  readonly #tell: (now: Doing) => void;
  readonly #apart = { asks: 0, waits: 0 };
  #open = 0;
  #told: Doing = "works";

  constructor(tell: (now: Doing) => void) {
    this.#tell = tell;
  }

  /** One of several things. Without any, the work is one thing. */
  async branch<T>(run: () => Promise<T>): Promise<T> {
    this.#open++;
    this.#look();
    try {
      return await run();
    } finally {
      this.#open--;
      this.#look();
    }
  }

  apart: Apart = async (doing, run) => {
    this.#apart[doing]++;
    this.#look();
    try {
      return await run();
    } finally {
      this.#apart[doing]--;
      this.#look();
    }
  };

  #look(): void {
    const { asks, waits } = this.#apart;
    const rest: Doing = asks > 0 ? "asks" : "waits";
    const now = Math.max(this.#open, 1) > asks + waits ? "works" : rest;
    if (now === this.#told) return;
    this.#told = now;
    this.#tell(now);
  }
}

/** Does the work under guard, or `instead` when it was convicted. Work that throws has come to its end, too. */
export async function guarded<T>(
  guard: Guard,
  key: WorkKey,
  work: (apart: Apart) => Promise<T>,
  instead: () => Promise<T>,
): Promise<T> {
  if (guard.suspicion(key) === "convicted") return instead();
  await guard.turn(key);
  const running = guard.begin(key);
  try {
    return await work(new Branches(running.doing).apart);
  } finally {
    running.end(true);
  }
}

/** An import under guard. One that was convicted is refused once, with the way to try it again. */
export function guardedImport<T>(guard: Guard, key: WorkKey, work: () => Promise<T>): Promise<T> {
  return guarded(guard, key, work, async () => {
    guard.forgive(key);
    throw new AppError("CONFLICT", {
      message: "This import failed twice in a way that stopped Lares, so it wasn't tried again.",
      hint: "Look at what is in it and leave out what could be the reason. To try it once more as it is, run it again.",
    });
  });
}
