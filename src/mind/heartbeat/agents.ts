/** The agents' heartbeats: which agents have one, its state, and what it costs. */

import { type AgentId, AppError, asId, heartbeatName, type ReplyRoute } from "../../core/domain/index.ts";
import { defined, startOfDay, truthy } from "../../core/kit/index.ts";
import type { HeartbeatConfig } from "./config.ts";
import type { Heartbeat } from "./heartbeat.ts";
import { BEAT_PROMPT, WAS_PAUSED } from "./words.ts";

/** A heartbeat's job, as the schedule shows it. */
interface BeatJob {
  id: string;
  agent: string;
  enabled: boolean;
  when: { kind: "every"; everyMs: number } | { kind: "at" | "cron" };
  next?: number | undefined;
  last?: { reason?: string | null } | undefined;
}

/** What heartbeats need from the schedule. */
export interface BeatSchedules {
  list(q: { kind: "beat" }): Promise<readonly BeatJob[]>;
  remove(id: string): Promise<unknown>;
  /** Creates the job or changes it to match. Idempotent. */
  ensure(job: {
    name: string;
    kind: "beat";
    every: string;
    agent: string;
    prompt: string;
    route: ReplyRoute | null;
    catchUp: "skip";
    zone?: string;
    model?: string;
    budget?: NonNullable<HeartbeatConfig["budget"]>;
    createdBy: string;
  }): Promise<unknown>;
}

/** The heartbeat of this agent. Throws NOT_FOUND when it has none. */
export function findBeat<Beat extends { agent: string; state: string }>(beats: readonly Beat[], agent: string): Beat {
  const found = beats.find((one) => one.agent === agent);
  if (found && found.state !== "off") return found;
  throw new AppError("NOT_FOUND", {
    message: `The agent "${agent}" has no heartbeat.`,
    hint: `Give it one: lares config set agents.${agent}.heartbeat.every "30 minutes"`,
  });
}

/**
 * Heartbeats follow the settings file: adding a section creates one, removing it deletes it. Returns any problems, in sentences.
 */
export async function declareBeats(
  schedules: BeatSchedules,
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
        prompt: BEAT_PROMPT,
        route: deliver ?? null,
        catchUp: "skip",
        ...truthy({ zone, model, budget }),
        createdBy: `lares.yaml ${JSON.stringify(heartbeat)}`,
      });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      problems.push([`agents.${agent}.heartbeat: ${error.message}`, error.hint].filter(Boolean).join(" "));
    }
  }
  return problems;
}

/** The state of each agent's heartbeat, and what it has cost since midnight. */
export async function beatViews(at: {
  heartbeat: Pick<Heartbeat, "state">;
  schedules: Pick<BeatSchedules, "list">;
  agents: { names(): readonly string[] };
  /** What the runs of a job used since then. */
  usage(job: string, since: number): Promise<{ calls: number; cost: number | null; unknownPrice: number }>;
  /** How often a job looked since then. */
  looks(job: string, since: number): Promise<number>;
  now: number;
}) {
  const jobs = new Map((await at.schedules.list({ kind: "beat" })).map((job): [string, BeatJob] => [job.agent, job]));
  const midnight = startOfDay(at.now);
  return Promise.all(
    at.agents.names().map(async (name) => {
      const agent = asId<AgentId>(name);
      const { lastAt, lastSaid, ...state } = await at.heartbeat.state(agent);
      const job = jobs.get(name);
      const isStopped = job !== undefined && !job.enabled;
      const used = job ? await at.usage(job.id, midnight) : undefined;
      return {
        agent: name,
        ...state,
        ...(isStopped ? { state: "paused" as const, because: job.last?.reason ?? WAS_PAUSED } : {}),
        ...(job ? { every: job.when.kind === "every" ? job.when.everyMs : 0 } : {}),
        ...(job?.next === undefined ? {} : { next: job.next }),
        ...defined({ lastAt: lastAt ?? undefined, lastSaid: lastSaid ?? undefined }),
        today: {
          looks: job ? await at.looks(job.id, midnight) : 0,
          calls: used?.calls ?? 0,
          cost: used ? used.cost : 0,
          unknownPrice: used?.unknownPrice ?? 0,
        },
      };
    }),
  );
}
