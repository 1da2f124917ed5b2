export { agentAdvice, isAgent } from "./advise.ts";
export { AgentFolders, DEFAULT_AGENT } from "./folder.ts";
