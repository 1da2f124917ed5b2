/** When memory is condensed: a slot of the engine per agent and night. */
import {
  type AgentId,
  asId,
  type Json,
  memoryPasses,
  type ScheduleId,
  type SessionKey,
  sessionKeys,
  timerIds,
} from "../../../core/domain/index.ts";
import type { Clock } from "../../../core/kit/index.ts";
import type { MemoryConfig } from "../config.ts";

/** What a night's turn is started with. */
export type NightBody = { kind: "condense"; agent: string; due: number };

export interface NightParts {
  clock: Clock;
  config: () => MemoryConfig["condense"];
  agents: { names(): string[]; exists(agent: AgentId): boolean };
  /** The next time of this cron expression in the owner's zone. */
  nextDue: (cron: string, after: number) => number | undefined;
  /** When the timer's slot is due; undefined when there is none. */
  slotDue: (id: ScheduleId) => Promise<number | undefined>;
  timer: (id: ScheduleId, slot: { due: number; session: SessionKey; body: Json } | null) => Promise<void>;
  /** The night's work for one agent. `id` is the same for the same night. */
  work: (agent: string, id: string) => Promise<void>;
}

export class Nights {
  private readonly parts: NightParts;

  constructor(parts: NightParts) {
    this.parts = parts;
  }

  /** A slot that came while nobody ran is still there and fires; only a missing one is made. */
  async start(): Promise<void> {
    const { agents, slotDue } = this.parts;
    for (const agent of agents.names()) if (!(await slotDue(timerIds.night(agent)))) await this.plan(agent);
  }

  /** The hour of the night may have changed. */
  async planAll(): Promise<void> {
    for (const agent of this.parts.agents.names()) await this.plan(agent);
  }

  /** The next night's slot, without this night's work. */
  async plan(agent: string): Promise<void> {
    const { agents, clock, timer } = this.parts;
    const { use, hour } = this.parts.config();
    if (use === "off") return timer(timerIds.night(agent), null);
    // Agents one after the other: they share the night's hour, not its first second.
    const minute = agents.names().indexOf(agent) % 60;
    const due = this.parts.nextDue(`${Math.max(0, minute)} ${hour} * * *`, clock.now());
    if (due === undefined) return;
    const body: NightBody = { kind: "condense", agent, due };
    await timer(timerIds.night(agent), { due, session: sessionKeys.night(agent), body });
  }

  /** A night's slot is due. */
  async run({ agent, due }: NightBody): Promise<void> {
    await this.plan(agent);
    if (this.parts.agents.exists(asId<AgentId>(agent))) await this.parts.work(agent, memoryPasses.night(agent, due));
  }
}
