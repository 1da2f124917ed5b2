/**
 * Acknowledgements: where an account asks for it, a message carries a reaction of ours while it is worked on. It is only a
 * courtesy: failing to set or remove one stops nothing.
 *
 * INTAKE-7: which messages carry one is recorded with their admission, so that reactions left by a dead process are removed
 * later.
 */
import { type Capabilities, type Channel, ChannelBusy, type Records, type Tx } from "../../core/contracts/index.ts";
import { type AccountKey, AppError, type TurnId } from "../../core/domain/index.ts";
import type { Bus, Clock, Log } from "../../core/kit/index.ts";
import { deleteSign, type Sign, signsLeft, writeSign } from "./store.ts";

export interface AcknowledgementParts {
  records: Records;
  clock: Clock;
  bus: Bus;
  log: Log;
  /** Those of the named turns that haven't ended. */
  openAmong: (turns: readonly string[]) => Promise<ReadonlySet<string>>;
  channel: (at: AccountKey) => { can: Capabilities; open(): Promise<Channel> } | undefined;
}

const PATIENCE_MS = 15_000;
/** Right after a start, the platform may not be connected yet. After this many failures the reaction stays. */
const MOST_TRIES = 5;
const AGAIN_MS = 2000;

interface Shown extends Sign {
  /** Resolves when the reaction has been set. */
  set: Promise<unknown>;
}

export class Acknowledgements {
  private readonly parts: AcknowledgementParts;
  private readonly shown = new Map<string, Shown>();

  constructor(parts: AcknowledgementParts) {
    this.parts = parts;
    parts.bus.on((event) => {
      if (event.event === "turn.ended") this.takeBack(event.turn);
    });
  }

  /** Once the accounts are running: removes reactions left by an earlier process. */
  async resume(): Promise<void> {
    const left = await signsLeft(this.parts.records);
    if (!left.length) return;
    const open = await this.parts.openAmong(left.map(({ turn }) => turn));
    for (const sign of left) {
      if (this.shown.has(sign.turn)) continue;
      this.shown.set(sign.turn, { ...sign, set: Promise.resolve() });
      if (!open.has(sign.turn)) this.takeBack(sign.turn);
    }
  }

  /** Written with the admission of its message. Nothing where the adapter cannot react. */
  note(tx: Tx, sign: Sign): void {
    if (!this.parts.channel(sign.at)?.can.does.includes("react")) return;
    writeSign(tx, sign);
    this.shown.set(sign.turn, { ...sign, set: Promise.resolve() });
  }

  /** The message is admitted. Nobody waits for this. */
  set(turn: string): void {
    const sign = this.shown.get(turn);
    if (sign) sign.set = this.call(sign, "react");
  }

  private takeBack(turn: TurnId | string): void {
    const sign = this.shown.get(turn);
    if (!sign) return;
    this.shown.delete(turn);
    sign.set
      .then(() => this.call(sign, "unreact"))
      .then(() => this.parts.records.write((tx) => deleteSign(tx, sign)))
      // The process is ending; the next one removes it.
      .catch(() => {});
  }

  private async call(sign: Sign, what: "react" | "unreact"): Promise<void> {
    const { clock, log, channel } = this.parts;
    for (let tries = 1; ; tries++) {
      try {
        const open = await channel(sign.at)?.open();
        const at = { route: sign.route, platformId: sign.message };
        await open?.[what]?.(at, sign.emoji, AbortSignal.timeout(PATIENCE_MS));
        return;
      } catch (error) {
        const isLater = error instanceof AppError && error.retry === "later";
        if (isLater && tries < MOST_TRIES) {
          const afterMs = error instanceof ChannelBusy ? error.afterMs : AGAIN_MS;
          await new Promise<void>((resolve) => void clock.after(afterMs, resolve));
          continue;
        }
        log.debug("a reaction could not be changed", { ...sign.at, what, error: String(error) });
        return;
      }
    }
  }
}
