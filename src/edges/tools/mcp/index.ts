/** Tools of other programs, over MCP. The SDK is loaded with the first server that is wanted. */
export { addServers } from "./add.ts";
export { agentMcpConfig, mcpConfig, type ServerConfig } from "./config.ts";
export { type OpenedMcp, openMcp } from "./open.ts";
export { describeTool } from "./pins.ts";
