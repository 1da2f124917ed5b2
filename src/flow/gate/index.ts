export type { Authority } from "../../core/domain/index.ts";
export { adviseRules, agentPolicyConfig, policyConfig } from "./config.ts";
export { decide, joinPolicy, type Policy, ruleFor, type Verdict } from "./decide.ts";
export { explain, explainText } from "./explain.ts";
export { type Judging, makeJudging } from "./judging.ts";
export { type OwnDoors, ownDoors } from "./own-address.ts";
export { onlyLooks } from "./standing.ts";
