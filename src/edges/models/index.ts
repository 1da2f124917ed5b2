/** The models room: providers, failover, pricing, and the practice model. */
export { modelAdvice } from "./advise.ts";
export { type ModelsConfig, modelsConfig } from "./config.ts";
export { changingModels, createModels } from "./models.ts";
export { PRACTICE_MODEL } from "./practice/index.ts";
export type { ModelEnv } from "./providers.ts";
export { scriptedRelays } from "./relay/scripted.ts";
export { ProviderSetup, type ProviderSetupParts } from "./setup.ts";
