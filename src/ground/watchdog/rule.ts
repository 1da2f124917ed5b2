/**
 * What a death says about the work that was running. Pure.
 *
 * WATCHDOG-1: a life that ended while its event loop was blocked or its heap was nearly full, or with an exception nobody caught, gives one
 *     strike to everything that was running and didn't merely wait. With one strike work is suspect: suspects start one at a time, so of those that run at the next stall the
 *     one that began last gets its second strike. One that began earlier and got further meanwhile gets none, any other half of
 *     one, because the cause is in doubt. Two strikes convict.
 * WATCHDOG-2: a life that just died (`kill -9`, a crash in native code) left no note of its cause, and most such deaths come from
 *     outside. It counts only against work that was at work in this process, as the only one, and had recorded nothing since it
 *     began. Two such deaths make it suspect, it is started after the others and later each time, and the fourth convicts.
 *     Nor are suspects starved: a life that died before it started one, or while it waited for somebody else, shows
 *     that the cause is elsewhere, and its deaths are forgotten, a few times.
 * WATCHDOG-3: work that finishes is forgiven everything.
 * WATCHDOG-4: work that was at work beside others, or asked somebody outside, is only near: twice, and it starts after the
 *     others, one at a time, so that the next death meets it alone. Being near convicts nothing, however often.
 */
import { assertNever } from "../../core/domain/index.ts";
import type { Doing, Suspicion } from "../../core/kit/index.ts";

/** What is held against a piece of work. */
export interface HeldWork {
  strikes: number;
  /** Lives that died while it alone was at work and had recorded nothing. */
  deaths: number;
  /** When it was last counted. */
  at: number;
  /** Lives that died while it was near. */
  near?: number;
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
  doing: Doing;
}

/**
 * What the end of a life says about work that was running. `further`: it got further than before. `asked`: it asked somebody
 * outside. `elsewhere`: it only waited, so the cause is elsewhere. `none`: nothing.
 */
export type Blame = "strike" | "death" | "near" | "asked" | "further" | "elsewhere" | "none";

const STRIKES_TO_CONVICT = 2;
const DEATHS_TO_SUSPECT = 2;
const DEATHS_TO_CONVICT = 4;
const NEAR_TO_SUSPECT = 2;
/** Two that kill the process in turns would clear each other forever. */
const MOST_SPARED = 8;
/** How long the process has to be up before it starts work that was running at this many deaths. */
const WAIT_MS: Readonly<Record<number, number>> = { 2: 1000, 3: 5000 };
const NEAR_WAIT_MS = 1000;

/** `isAlone`: nothing else was at work in this process. */
export function findBlame(
  how: LastLife["how"],
  { doing, progressed }: Pick<RunningWork, "doing" | "progressed">,
  isAlone: boolean,
): Blame {
  // Only work that gets text from outside, or works on it, can block the loop, throw or fill the heap.
  if (how !== "died") return doing === "waits" ? "none" : "strike";
  if (progressed) return "further";
  if (doing === "works") return isAlone ? "death" : "near";
  return doing === "asks" ? "asked" : "elsewhere";
}

/** `laterSuspect`: at a strike, another suspect began later. */
export function count(
  held: HeldWork | undefined,
  blame: Blame,
  { laterSuspect, progressed }: { laterSuspect: boolean; progressed: boolean },
  at: number,
): HeldWork {
  const was: HeldWork = { ...(held ?? { strikes: 0, deaths: 0 }), at };
  const { strikes, deaths, near = 0 } = was;
  switch (blame) {
    case "strike":
      return { ...was, strikes: strikes + (strikes === 0 || !laterSuspect ? 1 : weighAgain(progressed)) };
    case "death":
      return { ...was, deaths: deaths + 1 };
    case "near":
      return { ...was, near: near + 1 };
    case "asked":
      return { ...spareDeaths(was), near: near + 1 };
    case "further":
      return { ...was, deaths: 0, near: 0 };
    case "elsewhere":
      return spareDeaths(was);
    case "none":
      return was;
    default:
      return assertNever(blame);
  }
}

/** What a life says that died without having started this work. */
export function spare(held: HeldWork, how: LastLife["how"]): HeldWork {
  return how === "died" ? { ...spareDeaths(held), near: 0 } : held;
}

export function judgeHeld(held: HeldWork | undefined): Suspicion {
  if (!held) return "none";
  const { strikes, deaths, near = 0 } = held;
  if (strikes >= STRIKES_TO_CONVICT || deaths >= DEATHS_TO_CONVICT) return "convicted";
  // It stalled once already and twice more took the process down: that is enough of a coincidence.
  if (strikes > 0 && deaths >= DEATHS_TO_SUSPECT) return "convicted";
  return strikes > 0 || deaths >= DEATHS_TO_SUSPECT || near >= NEAR_TO_SUSPECT ? "suspect" : "none";
}

export function chooseWait(held: HeldWork | undefined): number {
  const { deaths = 0, near = 0 } = held ?? {};
  return WAIT_MS[deaths] ?? (near >= NEAR_TO_SUSPECT ? NEAR_WAIT_MS : 0);
}

/** Whether nothing is left that would be held against it. */
export function isClear({ strikes, deaths, near = 0 }: HeldWork): boolean {
  return strikes + deaths + near === 0;
}

function spareDeaths(held: HeldWork): HeldWork {
  const { deaths, spared = 0 } = held;
  return deaths > 0 && spared < MOST_SPARED ? { ...held, deaths: 0, spared: spared + 1 } : held;
}

/** A later suspect makes an earlier one less likely to be to blame. */
const weighAgain = (progressed: boolean) => (progressed ? 0 : 0.5);
