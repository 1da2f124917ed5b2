/** What settling one text may cost. A short text can ask for a lot: patterns of patterns, a loop around them. */

/** Thrown where a text cannot be settled; the whole is then judged as it is. */
export class Unsettled extends Error {}
export function giveUp(why: string): never {
  throw new Unsettled(why);
}

/** About a millisecond for each 10,000 on a small machine: the gate runs on the main loop. */
const MOST_WORK = 300_000;
/** More commands than this are not an everyday command. */
const MOST_COMMANDS = 100;
const COSTS = { word: 50, letter: 1, look: 500 } as const;

export class SettleBudget {
  private left = MOST_WORK;
  private commands = MOST_COMMANDS;

  /** A word that is read, letters that are compared, something that is looked up on the disk. */
  spend(what: keyof typeof COSTS, times = 1): void {
    this.left -= COSTS[what] * times;
    if (this.left < 0) giveUp("too much work");
  }

  /** Each command counts in each round of a loop. */
  countCommand(): void {
    if (--this.commands < 0) giveUp("too many commands");
  }
}
