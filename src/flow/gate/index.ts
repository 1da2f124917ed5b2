export type { Authority } from "../../core/domain/index.ts";
export { agentPolicyConfig, type PolicyConfig, policyConfig } from "./config.ts";
export { decide, joinPolicy, type Policy, ruleFor, strictest, type Verdict } from "./decide.ts";
export type { JudgedPart } from "./exec.ts";
export { type Explanation, explain, explainText } from "./explain.ts";
export { type OwnDoors, ownDoors } from "./own-address.ts";
export { mayMove } from "./rearranges.ts";
export type { GatePlace, GatewayDoors } from "./rules.ts";
export { onlyLooks } from "./standing.ts";
