/** The models room: providers, failover, pricing, and the practice model. */
export { DEFAULT_MODEL, KNOWN_MODELS } from "./catalogue.ts";
export { changingModels } from "./changing.ts";
export { type ModelsConfig, modelsConfig } from "./config.ts";
export { createModels, type ModelsDeps } from "./models.ts";
export { PRACTICE_MODEL } from "./practice/index.ts";
export { describeProviders, type ModelEnv, type ProviderView } from "./providers.ts";
