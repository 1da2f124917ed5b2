/** What tools see of the house: a job made in a chat answers in that chat; a session sees its own subtree. */

import { type AgentId, AppError, asId, type InboundMessage, type SessionKey } from "../core/domain/index.ts";
import type { Clock } from "../core/kit/index.ts";
import type { Exit, ScheduleDesk, SessionDesk } from "../edges/tools/index.ts";
import type { Sessions } from "../flow/sessions/index.ts";
import type { TurnWatch } from "../flow/turns/index.ts";
import { inWords, type JobView, previewWhen, type Schedules } from "../mind/schedule/index.ts";
import type { Children } from "../mind/teams/index.ts";

export function scheduleDesk(schedules: Schedules, zone: () => string, clock: Clock): ScheduleDesk {
  const shown = (job: JobView) => ({ name: job.name, words: inWords(job.when, job.zone), next: job.next ?? null });
  return {
    preview: (job) => previewWhen(job, clock.now(), zone()),
    async add({ key, text, caller, ...when }) {
      const createdBy = `tool ${key}`;
      // The same call again, after a crash, is the same job.
      const known = (await schedules.list()).find((job) => job.createdBy === createdBy);
      if (known) return shown(known);
      const { agent, session, route } = caller;
      return shown(await schedules.add({ ...when, prompt: text, agent, session, route, createdBy }));
    },
    async list(agent) {
      const mine = (await schedules.list()).filter((job) => job.agent === agent);
      return mine.map((job) => ({ ...shown(job), prompt: job.prompt, enabled: job.enabled }));
    },
    async remove(name, agent) {
      const job = (await schedules.list()).find((one) => one.name === name);
      if (!job || job.agent !== agent || job.declared) {
        throw new AppError("TOOL_INPUT", {
          message: `There is no schedule "${name}" of yours.`,
          hint: "See schedule_list.",
        });
      }
      await schedules.remove(job.id);
    },
  };
}

export function sessionDesk(children: Children, sessions: Sessions, watch: TurnWatch): SessionDesk {
  return {
    spawn: (given) => children.spawn(given),
    async list(caller) {
      const rows = await children.list(caller.session);
      return Promise.all(
        rows.map(async (row) => ({
          session: row.session,
          task: row.task.split("\n")[0]!.slice(0, 120),
          state: (await watch.read(row.turn))?.result?.state ?? "running",
        })),
      );
    },
    async history(session, limit, caller) {
      if (!(await children.mayRead(caller.session, session))) {
        throw new AppError("TOOL_INPUT", {
          message: `"${session}" is no sub-agent of yours.`,
          hint: "See sessions_list.",
        });
      }
      const { messages } = await sessions.history({ session, limit });
      return messages.map((m) => ({
        role: m.role,
        text: m.content.map((part) => ("text" in part ? part.text : `[${part.name}]`)).join(""),
      }));
    },
  };
}

/** The message that tells a session of a background process's end. The same process is told once (B4). */
export function exitMessage({ id, agent, session, route, text }: Exit): InboundMessage {
  return {
    route,
    sender: { id: `process:${id}` },
    idempotencyKey: `process:${id}`,
    text,
    agent: asId<AgentId>(agent),
    session: asId<SessionKey>(session),
    mode: "steer",
    origin: "event",
    // What it says is data: it may not change what Lares keeps.
    authority: "known",
  };
}
