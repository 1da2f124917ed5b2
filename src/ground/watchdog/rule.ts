/**
 * What a death says about the work that was running. Pure.
 *
 * WATCHDOG-1: a life that ended while its event loop was blocked or its heap was nearly full, or with an exception nobody caught, gives one
 *     strike to everything that was running. With one strike work is suspect: suspects start one at a time, so of those that run at the next stall the
 *     one that began last gets its second strike. One that began earlier and got further meanwhile gets none, any other half of
 *     one, because the cause is in doubt. Two strikes convict.
 * WATCHDOG-2: a life that just died (`kill -9`, a crash in native code) counts against work that was running and had
 *     recorded nothing since it began. The work itself may be innocent: somebody pulled the plug. So two such deaths in a row
 *     only make it suspect, it is started after the others and later each time, and the fourth convicts. A process that is
 *     killed every second never gets that far, so a storm of kills ends nothing. Nor does it starve the suspects: a life that died
 *     before it started one shows that the cause is elsewhere, and its deaths are forgotten, a few times.
 * WATCHDOG-3: work that finishes is forgiven everything.
 */
import type { Suspicion } from "../../core/kit/index.ts";

/** What is held against a piece of work. */
export interface HeldWork {
  strikes: number;
  /** Lives in a row that died while it ran and had recorded nothing. */
  deaths: number;
  /** When it was last counted. */
  at: number;
  /** How often its deaths were forgotten. */
  spared?: number;
}

export interface LastLife {
  how: "stalled" | "threw" | "full" | "died";
  running: readonly RunningWork[];
}

export interface RunningWork {
  key: string;
  /** The order in which work began in that life. */
  began: number;
  /** It recorded something new in that life. */
  progressed: boolean;
}

const STRIKES_TO_CONVICT = 2;
const DEATHS_TO_SUSPECT = 2;
const DEATHS_TO_CONVICT = 4;
/** Two that kill the process in turns would clear each other forever. */
const MOST_SPARED = 8;
/** How long the process has to be up before it starts work that was running at this many deaths. */
const WAIT_MS: Readonly<Record<number, number>> = { 2: 1000, 3: 5000 };

export function count(
  held: HeldWork | undefined,
  life: { how: LastLife["how"]; laterSuspect: boolean },
  progressed: boolean,
  at: number,
): HeldWork {
  const { strikes, deaths, ...rest } = held ?? { strikes: 0, deaths: 0 };
  if (life.how === "died") return { ...rest, strikes, deaths: progressed ? 0 : deaths + 1, at };
  const weight = strikes === 0 || !life.laterSuspect ? 1 : weighAgain(progressed);
  return { ...rest, strikes: strikes + weight, deaths, at };
}

/** What a life says that died without having started this work. */
export function spare(held: HeldWork, how: LastLife["how"]): HeldWork {
  const { deaths, spared = 0 } = held;
  return how === "died" && deaths > 0 && spared < MOST_SPARED ? { ...held, deaths: 0, spared: spared + 1 } : held;
}

export function judgeHeld(held: HeldWork | undefined): Suspicion {
  if (!held) return "none";
  const { strikes, deaths } = held;
  if (strikes >= STRIKES_TO_CONVICT || deaths >= DEATHS_TO_CONVICT) return "convicted";
  // It stalled once already and twice more took the process down: that is enough of a coincidence.
  if (strikes > 0 && deaths >= DEATHS_TO_SUSPECT) return "convicted";
  return strikes > 0 || deaths >= DEATHS_TO_SUSPECT ? "suspect" : "none";
}

export function chooseWait(held: HeldWork | undefined): number {
  return WAIT_MS[held?.deaths ?? 0] ?? 0;
}

/** A later suspect makes an earlier one less likely to be to blame. */
const weighAgain = (progressed: boolean) => (progressed ? 0 : 0.5);
