export type { AgentFile, AgentFileInfo } from "./files.ts";
export { AgentFolders, type AgentPlace, DEFAULT_AGENT } from "./folder.ts";
