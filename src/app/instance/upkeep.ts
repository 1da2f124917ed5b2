/** What is kept for a while and then cleared away, and what is prepared after the start: each by its own room. */
import { isOver } from "../../core/domain/index.ts";
import type { Built, BuiltIntake } from "./intake.ts";
import type { Wakers } from "./wakers.ts";

export interface Upkeep {
  /** Clears away what is older than the settings say. Never rejects. */
  tidy(): Promise<void>;
  /** After ready: what the first turn would wait for, and what a start need not wait for. */
  warm(): void;
}

export function makeUpkeep({
  parts,
  ground,
  workshop,
  mind,
  intake,
  wakers,
}: Built & { intake: BuiltIntake; wakers: Wakers }): Upkeep {
  const { config, clock, log } = parts;
  const { sessions } = intake;
  const unless = async (what: string, work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (error) {
      if (!isOver(error)) log.warn(what, { error: String(error) });
    }
  };
  const sweepCalls = () =>
    unless("conversations of single calls could not be deleted", () => sessions.sweep(config.retention.callHours));
  return {
    async tidy() {
      await sweepCalls();
      await unless("tidying failed", async () => {
        await ground.engine.prune(clock.now() - config.retention.journalDays * 86_400_000);
        await mind.checkpoints.prune();
        await workshop.attachments.tidy();
        await intake.events.tidy();
        await wakers.schedules.sweep();
        await sessions.retire(config.retention.sessionDays);
      });
    },
    warm() {
      workshop.skills.list(config.routing.defaultAgent).catch(() => {});
      void sweepCalls();
    },
  };
}
