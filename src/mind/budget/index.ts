export { Budget, type BudgetParts, type BudgetUse, type PlannedCall, type Reservation } from "./budget.ts";
export { BudgetedModel, type BudgetedModelParts, type PaidReply } from "./budgeted-model.ts";
export { type BudgetsConfig, budgetsConfig } from "./config.ts";
export { type Amount, type BudgetVerdict, type Caps, judge } from "./judge.ts";
export { eraseSpent } from "./store.ts";
