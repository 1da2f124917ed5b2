export { schedulesConfig, timeConfig } from "./config.ts";
export type { CatchUp, Job, SlotState } from "./job.ts";
export { type JobView, type NewJob, type ScheduleParts, Schedules, type SlotBody } from "./schedules.ts";
export type { Slot } from "./store.ts";
export { inWords, previewWhen } from "./when.ts";
