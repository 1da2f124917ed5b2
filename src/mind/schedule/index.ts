export { scheduleWords, zoneWords } from "./commands.ts";
export { adviseSchedules, budgetConfig, conditionConfig, schedulesConfig, timeConfig } from "./config.ts";
export type { CatchUp, Condition, Job, SlotState } from "./job.ts";
export { type JobSurroundings, jobPorts } from "./obstacles.ts";
export type { Beats, Need, ScheduleParts, WorkspaceFiles } from "./ports.ts";
export type { ShownSlot, SlotBody } from "./runs.ts";
export {
  type GivenWhen,
  type JobSettings,
  type JobView,
  MOST_JOBS_PER_TURN,
  MOST_OPEN_JOBS,
  type NewJob,
  Schedules,
} from "./schedules.ts";
export { makeZoneFinder } from "./store.ts";
export { beatsSince, jobOfRun, nextSlots, troublesSince } from "./summary/store.ts";
export { moment } from "./times/moments.ts";
export { duration } from "./times/spans.ts";
export { makeToolPort as makeScheduleToolPort } from "./tool-port.ts";
export { asGiven, comesAgain, inWords, momentWords, nextDue, PAST_GRACE_MS, settled } from "./when.ts";
export { minutesOfDay, wallWords } from "./zone.ts";
