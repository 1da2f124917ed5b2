export { type PolicyConfig, policyConfig } from "./config.ts";
export { decide, type Policy, ruleFor, type Verdict } from "./decide.ts";
