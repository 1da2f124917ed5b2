export { type ConfigKey, configSchemaJson, explain } from "./describe.ts";
export { getFromFile, setInFile } from "./edit.ts";
export { type Environment, type ModelEnvironment, readEnvironment } from "./environment.ts";
export { CONFIG_FILE, type LoadedConfig, loadConfig, parseConfig, saveConfig } from "./load.ts";
export type { ConfigProblem } from "./problems.ts";
export { type Config, type ConfigSchema, defineConfig } from "./schema.ts";
