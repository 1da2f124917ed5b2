export { joinSections, type PromptFiles, type PromptSection, promptSections, sharedLength } from "./assemble.ts";
export { BUILT_IN_RULES_VERSION, writeBuiltInRules } from "./built-in-rules.ts";
export { onChannel, recipientInWords, showsInWords, whereInWords } from "./channels.ts";
export {
  FAMILY_NOTES,
  type Family,
  type FamilyChoice,
  familyConfig,
  familyNote,
  findFamily,
  orderTools,
} from "./families.ts";
export { type ChatFormat, type KnownChat, type PromptMachine, type PromptPlace, placeText } from "./place.ts";
export { callerPrompt, makePrompts } from "./prompts.ts";
export { type SessionFacts, situate } from "./situate.ts";
export { isSmall, type Situation, type SituationKind, SMALL_WINDOW } from "./situation.ts";
export { DAILY_TOOLS, SHORT_WINDOW, toolsFor } from "./tools.ts";
