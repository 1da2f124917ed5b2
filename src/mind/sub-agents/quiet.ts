/** Children that record nothing for a long time are reported to their parent, once each, but not stopped (SUB-AGENTS-5). */
import type { Records } from "../../core/contracts/index.ts";
import type { TurnId } from "../../core/domain/index.ts";
import type { Clock } from "../../core/kit/index.ts";
import type { TeamsConfig } from "./config.ts";
import { type ChildRow, untold } from "./store.ts";

export interface QuietParts {
  records: Records;
  clock: Clock;
  config: () => TeamsConfig;
  standing: (turn: TurnId) => Promise<{ open: boolean; parked: boolean; lastAt: number } | undefined>;
  /** Tells the parent and marks the child. */
  report: (child: ChildRow, label: string, body: string) => Promise<void>;
}

/** Between two looks, while there are children. */
const LOOK_MS = 60_000;

export class QuietWatch {
  private readonly parts: QuietParts;
  private cancel: (() => void) | undefined;
  private stopped = false;

  constructor(parts: QuietParts) {
    this.parts = parts;
  }

  /** Looks as long as there are children. */
  begin(): void {
    if (this.stopped || this.cancel) return;
    this.cancel = this.parts.clock.after(LOOK_MS, () => {
      this.cancel = undefined;
      void this.look().catch(() => this.begin());
    });
  }

  stop(): void {
    this.stopped = true;
    this.cancel?.();
  }

  private async look(): Promise<void> {
    if (this.stopped) return;
    const { records, clock } = this.parts;
    const open = await untold(records);
    const most = this.parts.config().stallMinutes * 60_000;
    for (const child of open) {
      const standing = child.stalled ? undefined : await this.parts.standing(child.turn);
      // One that waits for a person, a time or its own children is not stuck.
      if (!standing?.open || standing.parked || clock.now() - standing.lastAt < most) continue;
      const minutes = Math.floor((clock.now() - standing.lastAt) / 60_000);
      const left = Math.max(0, Math.ceil((child.deadline - clock.now()) / 60_000));
      await this.parts.report(
        child,
        `A sub-agent you asked for has done nothing for ${minutes} minutes`,
        `Task: ${child.task}\nSession: ${child.session}\nIt keeps running, for ${left} minutes at most; sessions_stop ends it.`,
      );
    }
    if (open.length) this.begin();
  }
}
