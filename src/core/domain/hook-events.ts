/** What hooks can hear of. `contracts/hook.ts` says what each event brings and what may be answered. */
export const HOOK_EVENT_NAMES = [
  "message.received",
  "turn.started",
  "context.building",
  "model.called",
  "tool.planned",
  "tool.finished",
  "answer.ready",
  "turn.ended",
  "message.sent",
  "session.opened",
  "session.closed",
  "compaction.done",
  "approval.changed",
  "schedule.fired",
  "install.staged",
  "skill.proposed",
] as const;
export type HookEventName = (typeof HOOK_EVENT_NAMES)[number];
