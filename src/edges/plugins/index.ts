/** Plugins: folders of others with skills, tools and hooks. Their code runs as sandboxed MCP servers, never in this process. */
export { pluginsConfig } from "./config.ts";
export { type OpenedPlugins, openPlugins } from "./open.ts";
export { followHooks } from "./run/hooks.ts";
