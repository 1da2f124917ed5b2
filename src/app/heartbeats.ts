/** Heartbeats of the house's agents: which have one, what they look at, what they cost. */

import type { Records } from "../core/contracts/index.ts";
import { type AgentId, AppError, asId, heartbeatName } from "../core/domain/index.ts";
import type { Clock } from "../core/kit/index.ts";
import { countAskedSince } from "../flow/approvals/index.ts";
import { sourcesSince } from "../flow/events/index.ts";
import type { Outbox } from "../flow/outbox/index.ts";
import { usageOfRuns } from "../flow/turns/index.ts";
import type { AgentFolders } from "../mind/agents/index.ts";
import { Heartbeat, type HeartbeatConfig, newsText } from "../mind/heartbeat/index.ts";
import {
  beatsSince,
  comesAgain,
  type JobView,
  minutesOfDay,
  moment,
  type Schedules,
  troublesSince,
} from "../mind/schedule/index.ts";

export interface HeartbeatHouse {
  records: Records;
  clock: Clock;
  agents: AgentFolders;
  zone: () => string;
  config: (agent: string) => HeartbeatConfig | undefined;
  mark: (agent: AgentId, path: string) => Promise<string | null>;
  outbox: Outbox;
}

export function makeHeartbeat(house: HeartbeatHouse): Heartbeat {
  return new Heartbeat({
    records: house.records,
    clock: house.clock,
    config: house.config,
    checklist: async (agent) =>
      house.agents.exists(agent) ? (await house.agents.readFile(agent, "HEARTBEAT.md")).text : "",
    mark: house.mark,
    news: async (agent, since) =>
      newsText({
        events: await sourcesSince(house.records, agent, since),
        jobs: await troublesSince(house.records, agent, since),
        asked: await countAskedSince(house.records, agent, since),
      }),
    time: { zone: house.zone, minutes: minutesOfDay, moment, again: comesAgain },
    send: (tx, word) => house.outbox.intend(tx, word),
  });
}

/** Heartbeats follow the file: a section makes one, none takes it away. Returns what was wrong, in sentences. */
export async function declareBeats(
  schedules: Schedules,
  agents: Readonly<Record<string, { heartbeat?: HeartbeatConfig | undefined } | undefined>>,
): Promise<string[]> {
  const problems: string[] = [];
  for (const job of await schedules.list({ kind: "beat" })) {
    if (!agents[job.agent]?.heartbeat) await schedules.remove(job.id);
  }
  for (const [agent, { heartbeat } = {}] of Object.entries(agents)) {
    if (!heartbeat) continue;
    const { every, deliver, model, budget, zone } = heartbeat;
    try {
      await schedules.ensure({
        name: heartbeatName(agent),
        kind: "beat",
        every,
        agent,
        prompt: "Look after HEARTBEAT.md.",
        route: deliver ?? null,
        catchUp: "skip",
        ...(zone ? { zone } : {}),
        ...(model ? { model } : {}),
        ...(budget ? { budget } : {}),
        createdBy: `lares.yaml ${JSON.stringify(heartbeat)}`,
      });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      problems.push([`agents.${agent}.heartbeat: ${error.message}`, error.hint].filter(Boolean).join(" "));
    }
  }
  return problems;
}

/** How each agent's heartbeat is, and what it cost since midnight. */
export async function beatViews(at: {
  heartbeat: Heartbeat;
  schedules: Schedules;
  agents: AgentFolders;
  records: Records;
  now: number;
}) {
  const jobs = new Map((await at.schedules.list({ kind: "beat" })).map((job): [string, JobView] => [job.agent, job]));
  const midnight = new Date(at.now).setHours(0, 0, 0, 0);
  return Promise.all(
    at.agents.names().map(async (name) => {
      const agent = asId<AgentId>(name);
      const { lastAt, lastSaid, ...state } = await at.heartbeat.state(agent);
      const job = jobs.get(name);
      const isStopped = job !== undefined && !job.enabled;
      const used = job ? await usageOfRuns(at.records.committed, job.id, midnight) : undefined;
      return {
        agent: name,
        ...state,
        ...(isStopped ? { state: "paused" as const, because: job.last?.reason ?? "It was paused." } : {}),
        ...(job ? { every: job.when.kind === "every" ? job.when.everyMs : 0 } : {}),
        ...(job?.next === undefined ? {} : { next: job.next }),
        ...(lastAt === null ? {} : { lastAt }),
        ...(lastSaid === null ? {} : { lastSaid }),
        today: {
          looks: job ? await beatsSince(at.records.committed, job.id, midnight) : 0,
          calls: used?.calls ?? 0,
          cost: used ? used.cost : 0,
          unknownPrice: used?.unknownPrice ?? 0,
        },
      };
    }),
  );
}
