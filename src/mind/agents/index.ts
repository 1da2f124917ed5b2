export { AgentFolders, type AgentPlace, DEFAULT_AGENT } from "./folder.ts";
