export { Approvals, approvalEvent, newApprovalId, shortCode } from "./approvals.ts";
export { type ApprovalsConfig, approvalsConfig } from "./config.ts";
export type { NewApproval } from "./store.ts";
