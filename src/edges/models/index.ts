/** The models room: providers, failover, pricing, and the practice model. */
export { type ModelsConfig, modelsConfig } from "./config.ts";
export { createModels, type ModelsDeps } from "./models.ts";
export { PRACTICE_MODEL } from "./practice/index.ts";
