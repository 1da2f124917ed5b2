/** Plugins: folders of others with skills, tools and hooks. Their code runs as sandboxed MCP servers, never in this process. */
export { advisePlugins, listPluginServers } from "./advise.ts";
export { pluginsConfig } from "./config.ts";
export { type OpenedPlugins, openPlugins } from "./open.ts";
export { showStaged } from "./rights.ts";
export type { AskPlugin } from "./run/ask.ts";
