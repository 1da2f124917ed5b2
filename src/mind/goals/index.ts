export { goalWords } from "./commands.ts";
export { type GoalsConfig, goalsConfig } from "./config.ts";
export { type GoalBody, type GoalParts, Goals, type NewGoal } from "./goals.ts";
export { chooseJudge } from "./judge-model.ts";
export type { Goal, GoalState } from "./store.ts";
