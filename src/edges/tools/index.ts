/** The built-in tools and what other tools are made of: registry, paths, visible text, clean environment. */

export { type OpenedPeers, openPeers, peersConfig } from "./a2a/index.ts";
export { adviseTools } from "./advise.ts";
export { createBoardTools } from "./board/board.ts";
export { createBrowserTool } from "./browser/index.ts";
export { visible } from "./escape.ts";
export { eventHooksConfig, type OpenedHooks, openEventHooks } from "./event-hooks/index.ts";
export { RUN_TAG } from "./exec/environment.ts";
export { createExec } from "./exec/exec.ts";
export { endRun } from "./exec/processes.ts";
export { CommandRuns } from "./exec/runs.ts";
export { SHELL_WORDS } from "./exec/shell/index.ts";
export { eraseFarWork, type FarWork, joinFarWork, loseFarWork } from "./far-work.ts";
export { createEdit } from "./files/edit.ts";
export { createWrite } from "./files/write.ts";
export {
  agentMcpConfig,
  mcpConfig,
  misfit,
  type OpenedMcp,
  openMcp,
  pluginFit,
} from "./mcp/index.ts";
export { createMemoryTools, listsOnly, MEMORY_TOOLS } from "./memory/memory.ts";
export { createMessageTool } from "./message/message.ts";
export { withInside } from "./paths/index.ts";
export { createProcess, type ProcessExit, Processes } from "./process/index.ts";
export { runningProcesses } from "./process/store.ts";
export { createTools, ON_DEMAND_TOOLS, registerTools, TOOL_NAMES, type ToolRegistry } from "./registry.ts";
export { createRootedFiles, listReadable, openRoots, type Roots, rootsConfig } from "./roots.ts";
export { openRunMachine } from "./runtimes/confine.ts";
export {
  agentSandboxConfig,
  type Confinement,
  createConfinement,
  hasNetwork,
  hasPrlimit,
  sandboxConfig,
  sandboxFor,
  withLimits,
} from "./sandbox/index.ts";
export { createScheduleTools } from "./schedule/schedule.ts";
export { createSessionTools } from "./sessions/sessions.ts";
export { createWait } from "./sessions/wait.ts";
export { skillFiles } from "./skills/files.ts";
export type { SkillPort } from "./skills/skills.ts";
export { createRoomTools } from "./teams/rooms.ts";
export { createFetcher, createWebTools, listedHosts, ownDownloads, webConfig, withListed } from "./web/index.ts";
