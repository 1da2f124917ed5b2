export { Budget, type Reservation } from "./budget.ts";
export { BudgetedModel } from "./budgeted-model.ts";
export { type BudgetsConfig, budgetsConfig } from "./config.ts";
export { judge } from "./judge.ts";
export { ProxiedCalls } from "./proxied-calls.ts";
export { eraseSpent, lastHold } from "./store.ts";
