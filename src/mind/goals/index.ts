export { goalWords } from "./commands.ts";
export { type GoalsConfig, goalsConfig } from "./config.ts";
export { type GoalBody, Goals } from "./goals.ts";
export { chooseJudge } from "./judge-model.ts";
export { type Goal, pauseActive } from "./store.ts";
