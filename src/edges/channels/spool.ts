/**
 * For platforms that confirm a message before we have it: what was handed to us is written down the moment it is read, before
 * anything else is done with it, so that only what is still between the socket and that first write can be lost.
 *
 * A message stays here until the door has taken it; what an earlier life left is taken first, and known if it was taken already.
 */
import type { ChannelHost } from "../../core/contracts/index.ts";
import { asNumber, asObject, type Json, spoolName } from "../../core/domain/index.ts";

/** Messages that wait at the same time: for a slow file, for the disk. More stay in the socket. */
const SLOTS = 64;

export interface Spooled {
  value: Json;
  /** The door has it. */
  done(): Promise<void>;
}

export class Spool {
  private readonly door: Pick<ChannelHost, "keep" | "kept">;
  private readonly free: number[] = [];
  private readonly waiting: (() => void)[] = [];
  private last: Promise<unknown> = Promise.resolve();
  private count = 0;

  private constructor(door: Pick<ChannelHost, "keep" | "kept">) {
    this.door = door;
  }

  /** The spool, and what an earlier life left in it, in order. */
  static async open(door: Pick<ChannelHost, "keep" | "kept">): Promise<{ spool: Spool; left: Spooled[] }> {
    const spool = new Spool(door);
    const found: { n: number; one: Spooled }[] = [];
    for (let slot = 0; slot < SLOTS; slot++) {
      const kept = asObject(await door.kept(spoolName(slot)));
      const n = asNumber(kept.n);
      if (n === undefined) {
        spool.free.push(slot);
        continue;
      }
      spool.count = Math.max(spool.count, n);
      found.push({ n, one: spool.at(slot, kept.value as Json) });
    }
    return { spool, left: found.sort((a, b) => a.n - b.n).map(({ one }) => one) };
  }

  /** One after another; waits while there is no room, then it is being written. Durable when `written` resolves. */
  put(value: Json): Promise<Spooled & { written: Promise<void> }> {
    const mine = this.last.then(() => this.place(value));
    this.last = mine;
    return mine;
  }

  private async place(value: Json): Promise<Spooled & { written: Promise<void> }> {
    while (!this.free.length) await new Promise<void>((resolve) => void this.waiting.push(resolve));
    const slot = this.free.shift()!;
    const written = this.door.keep(spoolName(slot), { n: ++this.count, value });
    // Somebody who waits for it gets the error; without this, one that comes before anybody waits would end the process.
    written.catch(() => {});
    return { ...this.at(slot, value), written };
  }

  private at(slot: number, value: Json): Spooled {
    return {
      value,
      done: async () => {
        await this.door.keep(spoolName(slot), undefined);
        this.free.push(slot);
        this.waiting.shift()?.();
      },
    };
  }
}
