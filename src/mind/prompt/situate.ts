/**
 * Derives a session's situation from who came in, by which channel, under which policy. Pure.
 */
import { type Authority, isChildSession } from "../../core/domain/index.ts";
import type { Situation, SituationKind } from "./situation.ts";

export interface SessionFacts {
  session: string;
  /** What a run of a job is for; undefined for every other session. */
  job?: { isHeartbeat: boolean; isQuiet: boolean };
  /** The authority of each person who has spoken here. */
  speakers: readonly Authority[];
  isGroup: boolean;
  /** In a group: only messages that address the agent reach it. */
  needsMention: boolean;
  tools: ReadonlySet<string>;
  window: number;
}

export function situate(facts: SessionFacts): Situation {
  const kind = chooseKind(facts);
  return {
    kind,
    tools: facts.tools,
    window: facts.window,
    ...(kind === "group" ? { hears: facts.needsMention ? ("mentions" as const) : ("all" as const) } : {}),
    ...(kind === "job" && facts.job?.isQuiet ? { isQuiet: true } : {}),
  };
}

function chooseKind({ session, job, speakers, isGroup }: SessionFacts): SituationKind {
  if (isChildSession(session)) return "child";
  if (job) return job.isHeartbeat ? "heartbeat" : "job";
  if (isGroup) return "group";
  if (speakers.includes("stranger") || speakers.includes("outside")) return "stranger";
  return speakers.includes("known") ? "known" : "owner";
}
