import { quotedName } from "../../core/kit/index.ts";

/** What happened to an agent since its last heartbeat. */
export interface News {
  events: readonly { source: string; n: number }[];
  jobs: readonly { name: string; state: string; n: number; reason: string | null }[];
  /** Approvals waiting for a person. */
  asked: number;
}

/** One sentence for each, for the heartbeat's prompt. */
export function newsText({ events, jobs, asked }: News): string[] {
  return [
    ...events.map(({ source, n }) => `${n} ${n === 1 ? "event" : "events"} from ${source}.`),
    ...jobs.map(
      ({ name, state, n, reason }) =>
        `The job ${quotedName(name)} ${state} ${n} ${n === 1 ? "time" : "times"}: ${reason}`,
    ),
    ...(asked ? [`${asked} new ${asked === 1 ? "question waits" : "questions wait"} for a person's answer.`] : []),
  ];
}
