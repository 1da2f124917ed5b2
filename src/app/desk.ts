/** The schedule tools' view of the schedules: a job made in a chat answers in that chat. */

import { AppError } from "../core/domain/index.ts";
import type { Clock } from "../core/kit/index.ts";
import type { ScheduleDesk } from "../edges/tools/index.ts";
import { inWords, type JobView, previewWhen, type Schedules } from "../mind/schedule/index.ts";

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
