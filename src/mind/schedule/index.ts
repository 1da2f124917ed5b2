export { budgetConfig, conditionConfig, schedulesConfig, timeConfig } from "./config.ts";
export type { CatchUp, Condition, Job, SlotState } from "./job.ts";
export type { Beats, Need, ScheduleParts, WorkspaceFiles } from "./ports.ts";
export type { SlotBody } from "./runs.ts";
export { type GivenWhen, type JobView, type NewJob, Schedules, type Wishes } from "./schedules.ts";
export type { Slot } from "./store.ts";
export { asGiven, duration, inWords, moment, nextDue, previewWhen } from "./when.ts";
export { minutesOfDay, wallWords } from "./zone.ts";
