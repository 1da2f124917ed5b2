/** Tools of other programs, over MCP. The SDK is loaded with the first server that is wanted. */
export { misfit } from "./call/arguments.ts";
export { agentMcpConfig, mcpConfig } from "./config.ts";
export { type OpenedMcp, openMcp } from "./open.ts";
export { pluginFit } from "./plugin-servers.ts";
export { dropOpenTasks, eraseTasks } from "./tasks/store.ts";
