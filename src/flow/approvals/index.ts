export { Approvals, newApprovalId } from "./approvals.ts";
export { describeAsker, personBehind } from "./asker/store.ts";
export { type ApprovalsConfig, agentExpiryConfig, approvalsConfig } from "./config.ts";
export { Reminders } from "./reminders.ts";
export { askedOn, countAskedSince, countPending, eraseApprovals, type NewApproval } from "./store.ts";
export { outcomeText, questionText, questionTextWithButtons, shortCode } from "./words.ts";
