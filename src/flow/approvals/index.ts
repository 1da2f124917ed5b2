export { Approvals } from "./approvals.ts";
export { describeAsker, personBehind } from "./asker/store.ts";
export { agentExpiryConfig, approvalsConfig } from "./config.ts";
export { Reminders } from "./reminders.ts";
export { askedOn, countAskedSince, countPending, eraseApprovals } from "./store.ts";
export { outcomeText, questionText, questionTextWithButtons, shortCode } from "./words.ts";
