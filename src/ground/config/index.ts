export { noteAddress } from "./address.ts";
export { explainIssues } from "./check.ts";
export { type ConfigKey, configSchemaJson, explain } from "./describe.ts";
export { closeInherited } from "./descriptors.ts";
export { getFromFile, setInFile } from "./edit.ts";
export { type Environment, type ModelEnvironment, modelVariables, readEnvironment, usualHome } from "./environment.ts";
export { ensureHome, fileProblem, homeFileProblem, homeProblem } from "./home.ts";
export {
  CONFIG_FILE,
  type LoadedConfig,
  loadConfig,
  parseConfig,
  type Review,
  readText,
  reviewConfig,
  saveConfig,
} from "./load.ts";
export { isMask, maskSecrets } from "./mask.ts";
export { makeOwnerZone } from "./owner-zone.ts";
export { type ConfigProblem, soundsSecret } from "./problems.ts";
export { type ProgramNames, programNames, quoted } from "./program.ts";
export { type Config, type ConfigSchema, defineConfig, type Effect, findEffect } from "./schema.ts";
export { makeReader, type Section, Settings, type SettingsParts } from "./settings.ts";
export { ensureToken, readToken } from "./token.ts";
export { type FileWatch, watchFile } from "./watch.ts";
