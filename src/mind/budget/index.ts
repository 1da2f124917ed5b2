export { Budget, type Reservation } from "./budget.ts";
export { BudgetedModel } from "./budgeted-model.ts";
export { type BudgetsConfig, budgetsConfig } from "./config.ts";
export { judge } from "./judge.ts";
export { eraseSpent } from "./store.ts";
