export { AgentFolders, DEFAULT_AGENT } from "./folder.ts";
