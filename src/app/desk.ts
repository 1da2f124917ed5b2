/** What tools see of the house: a job made in a chat answers in that chat; a session sees its own subtree. */

import { type AgentId, AppError, asId, type SessionKey, type TurnId } from "../core/domain/index.ts";
import type { Clock } from "../core/kit/index.ts";
import type { Rung } from "../edges/hooks/index.ts";
import type { Exit, ScheduleDesk, SessionDesk } from "../edges/tools/index.ts";
import type { SystemEvent } from "../flow/events/index.ts";
import type { Sessions } from "../flow/sessions/index.ts";
import type { TurnWatch } from "../flow/turns/index.ts";
import { inWords, type JobView, previewWhen, type Schedules } from "../mind/schedule/index.ts";
import type { Children, Told } from "../mind/teams/index.ts";

export function scheduleDesk(schedules: Schedules, zone: () => string, clock: Clock): ScheduleDesk {
  const shown = (job: JobView) => ({ name: job.name, words: inWords(job.when, job.zone), next: job.next ?? null });
  return {
    preview: (job) => previewWhen(job, clock.now(), zone()),
    async add({ key, text, caller, ...when }) {
      const createdBy = `tool ${key}`;
      // The same call again, after a crash, is the same job.
      const known = await schedules.madeBy(createdBy);
      if (known) return shown(known);
      const { agent, session, route, turn } = caller;
      const cause = await schedules.jobOfTurn(asId<TurnId>(turn));
      if (cause && !cause.mayPlan) {
        throw new AppError("TOOL_INPUT", {
          message: `This is a run of the job "${cause.name}", and jobs do not make jobs.`,
          hint: "The owner can allow it: mayPlan: true.",
        });
      }
      return shown(await schedules.add({ ...when, prompt: text, agent, session, route, createdBy }));
    },
    async list(agent) {
      const mine = await schedules.ofAgent(agent);
      return mine.map((job) => ({ ...shown(job), prompt: job.prompt, enabled: job.enabled }));
    },
    async remove(name, agent) {
      const job = (await schedules.ofAgent(agent)).find((one) => one.name === name);
      if (!job || job.declared) {
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

/** What tells a session of a background process's end. The same process is told once (B4). */
export function exitEvent({ id, agent, session, route, label, body }: Exit): SystemEvent {
  return {
    key: processKey(id),
    kind: "process",
    source: `process:${id}`,
    session: asId<SessionKey>(session),
    agent: asId<AgentId>(agent),
    ...{ route, label, body },
    // What it says is data: it may not change what Lares keeps.
    authority: "known",
    outside: true,
    must: true,
  };
}

/** What tells a session of a webhook. Whatever it says comes from outside (I12). */
export function hookEvent({ hook, ...rung }: Rung): SystemEvent {
  return { ...rung, kind: "hook", source: `hook:${hook}`, authority: "outside", lane: "scheduled" };
}

export function processKey(id: string): string {
  return `process:${id}`;
}

/** What tells a parent's session of its sub-agent. */
export function childEvent({ child, ...told }: Told): SystemEvent {
  return { ...told, kind: "child", source: `session:${child}`, authority: "known", must: true };
}
