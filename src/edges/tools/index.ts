/** The built-in tools and what other tools are made of: registry, paths, visible text, clean environment. */

export { createBrowserTool } from "./browser/index.ts";
export { visible, visibleLine } from "./escape.ts";
export { cleanEnvironment, type Locale, RUN_TAG } from "./exec/environment.ts";
export { createExec, type ExecOptions } from "./exec/exec.ts";
export { endRun } from "./exec/processes.ts";
export { CommandRuns } from "./exec/runs.ts";
export { createApplyPatch } from "./files/apply-patch.ts";
export { createEdit } from "./files/edit.ts";
export { createList } from "./files/list.ts";
export { createRead } from "./files/read.ts";
export { createWrite } from "./files/write.ts";
export { parseInput } from "./input.ts";
export {
  addServers,
  agentMcpConfig,
  describeTool,
  mcpConfig,
  type OpenedMcp,
  openMcp,
  type ServerConfig,
} from "./mcp/index.ts";
export { createMemoryTools, MEMORY_TOOLS, type MemoryPort } from "./memory/memory.ts";
export { createMessageTool, type MessagePort } from "./message/message.ts";
export { createOnDemandTools } from "./on-demand/on-demand.ts";
export { createAgentFiles, Inside, type OpenOptions, openInside, withInside } from "./paths/index.ts";
export { createProcess, type ProcessExit, Processes } from "./process/index.ts";
export { runningProcesses } from "./process/store.ts";
export {
  createTools,
  emptyRegistry,
  ON_DEMAND_TOOLS,
  registerTools,
  type ToolRegistry,
  type ToolsOptions,
} from "./registry.ts";
export { createRootedFiles, listReadable, openRoots, type Roots, type RootsConfig, rootsConfig } from "./roots.ts";
export {
  agentSandboxConfig,
  type Confinement,
  createConfinement,
  hasPrlimit,
  type Rules,
  safeRoot,
  sandboxConfig,
  sandboxFor,
  within,
  withLimits,
} from "./sandbox/index.ts";
export { createScheduleTools, type SchedulePort } from "./schedule/schedule.ts";
export { createSearch, type SearchOptions } from "./search/search.ts";
export { createSessionTools, type SessionPort } from "./sessions/sessions.ts";
export { createWait, type WaitPort } from "./sessions/wait.ts";
export { skillFiles } from "./skills/files.ts";
export type { SkillPort } from "./skills/skills.ts";
export { createFetcher, createWebTools, type WebConfig, webConfig, withListed } from "./web/index.ts";
