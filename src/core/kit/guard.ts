/**
 * Work that could stall or kill the process says when it begins and ends, so that the next start knows what was running when
 * this one died (I13). `ground/watchdog` keeps the books; rooms only see this port.
 */
import { AppError } from "../domain/errors.ts";

/** `kind:id`, the same in every life: `turn:…`, `delivery:…`, `watch:…`, `import:…`, `raw:…`, `event:…`, `document:…`. */
export type WorkKey = `${string}:${string}`;

/** `none`: nothing is held against it. `suspect`: it runs alone among suspects. `convicted`: it isn't started again. */
export type Suspicion = "none" | "suspect" | "convicted";

export interface GuardedWork {
  /** Something of it is durable that the next life won't repeat. May be called again. */
  progressed(): void;
  /** It does nothing but wait for others, maybe for suspects behind it: the next one may start. */
  waits(): void;
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
  begin: () => ({ progressed() {}, waits() {}, end() {} }),
  forgive() {},
};

/** Does the work under guard, or `instead` when it was convicted. Work that throws has come to its end, too. */
export async function guarded<T>(
  guard: Guard,
  key: WorkKey,
  work: () => Promise<T>,
  instead: () => Promise<T>,
): Promise<T> {
  if (guard.suspicion(key) === "convicted") return instead();
  await guard.turn(key);
  const running = guard.begin(key);
  try {
    return await work();
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
