/**
 * When the next backup is due. The folder itself says when the newest was made, so nothing has to be remembered, and one made by hand
 * counts.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { backupIds } from "../../core/domain/index.ts";
import type { Clock, Log } from "../../core/kit/index.ts";
import { backupFailed } from "./words.ts";

const LOOK_EVERY_MS = 60_000;
/** People who start Lares want to talk to it first. */
const FIRST_LOOK_MS = 3000;
/** After a failure, such as a disk that isn't there. */
const AGAIN_MS = 3_600_000;

export interface BackupTimerParts {
  home: string;
  settings: () => { folder?: string | undefined; everyHours: number };
  /** Makes one. Rejects with the reason. */
  run: () => Promise<void>;
  clock: Clock;
  log: Log;
}

export class BackupTimer {
  /** Why the last one failed, as a sentence. */
  problem: string | undefined;
  private readonly parts: BackupTimerParts;
  private cancel: () => void = () => {};
  private failedAt: number | undefined;
  private running: Promise<void> | undefined;

  constructor(parts: BackupTimerParts) {
    this.parts = parts;
  }

  start(soon = true): void {
    this.cancel = this.parts.clock.after(soon ? FIRST_LOOK_MS : LOOK_EVERY_MS, () => {
      void this.look();
      this.start(false);
    });
  }

  stop(): void {
    this.cancel();
  }

  /** Makes one if it is due. Never rejects. */
  look(): Promise<void> {
    if (!this.running && this.isDue()) {
      this.running = this.make().finally(() => {
        this.running = undefined;
      });
    }
    return this.running ?? Promise.resolve();
  }

  private isDue(): boolean {
    const { home, settings, clock } = this.parts;
    const { everyHours, folder = backupsIn(home) } = settings();
    if (everyHours === 0) {
      this.problem = undefined;
      return false;
    }
    const now = clock.now();
    if (this.failedAt !== undefined && now - this.failedAt < AGAIN_MS) return false;
    return now - (newestIn(folder) ?? 0) >= everyHours * 3_600_000;
  }

  private async make(): Promise<void> {
    const { run, clock, log } = this.parts;
    try {
      await run();
      this.problem = undefined;
      this.failedAt = undefined;
    } catch (error) {
      this.failedAt = clock.now();
      const why = error instanceof Error ? error.message : String(error);
      this.problem = backupFailed(why);
      log.error("the backup failed", { why });
    }
  }
}

export function backupsIn(home: string): string {
  return join(home, "backups");
}

/** By the names alone: an encrypted folder needs no passphrase for this. */
function newestIn(folder: string): number | undefined {
  if (!existsSync(folder)) return undefined;
  const ids = readdirSync(folder).filter((name) => name.endsWith(".backup"));
  const times = ids.flatMap((name) => backupIds.readTime(name.slice(0, -".backup".length)) ?? []);
  return times.length ? Math.max(...times) : undefined;
}
