export { type PromptFiles, promptSections } from "./assemble.ts";
export { BUILT_IN_RULES_VERSION, writeBuiltInRules } from "./built-in-rules.ts";
export { recipientInWords, whereInWords } from "./channels.ts";
export { familyConfig, findFamily, orderTools } from "./families.ts";
export { type PromptPlace, placeText } from "./place.ts";
export { callerPrompt, makePrompts } from "./prompts.ts";
export { situate } from "./situate.ts";
export type { Situation, SituationKind } from "./situation.ts";
