export { scheduleWords, zoneWords } from "./commands.ts";
export { adviseSchedules, rhythmAdvice, schedulesConfig, timeConfig } from "./config.ts";
export { type JobSurroundings, jobPorts } from "./obstacles.ts";
export type { WorkspaceFiles } from "./ports.ts";
export { skipPassed } from "./restored.ts";
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
export { beatsSince, FAILED_JOBS, findJobByRun, nextSlots, troublesSince } from "./summary/store.ts";
export { moment } from "./times/moments.ts";
export { makeToolPort as makeScheduleToolPort } from "./tool-port.ts";
export { asGiven, comesAgain, inWords, nextDue } from "./when.ts";
export { countMinutes } from "./zone.ts";
