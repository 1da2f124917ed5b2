export { Approvals } from "./approvals.ts";
export { describeAsker, personBehind } from "./asker/store.ts";
export { agentExpiryConfig, approvalsAdvice, approvalsConfig } from "./config.ts";
export { Reminders } from "./reminders.ts";
export { answerShower } from "./show-answer.ts";
export { countAskedSince, countPending, eraseApprovals, withdrawPending } from "./store.ts";
export { outcomeText, questionText, questionTextWithButtons, shortCode } from "./words.ts";
