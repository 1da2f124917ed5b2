/** Every built-in tool, to look at: nothing of Lares is behind those that need it. */
import type { Tool } from "../../src/core/contracts/index.ts";
import {
  createBoardTools,
  createBrowserTool,
  createMemoryTools,
  createMessageTool,
  createProcess,
  createRoomTools,
  createScheduleTools,
  createSessionTools,
  createTools,
  createWait,
  createWebTools,
  registerTools,
  type ToolRegistry,
  webConfig,
} from "../../src/edges/tools/index.ts";
import { pretend } from "./pretend.ts";

/** `bound`: those that need the rest of Lares. */
export function everyTool(): { registry: ToolRegistry; bound: Tool[] } {
  const web = () => webConfig.parse({ search: { provider: "searxng", baseUrl: "http://127.0.0.1:9" } });
  const bound: Tool[] = [
    ...createScheduleTools(pretend({})),
    ...createSessionTools(pretend({})),
    ...createBoardTools(pretend({})),
    ...createRoomTools(pretend({})),
    createWait(pretend({})),
    ...createMemoryTools(pretend({})),
    ...createWebTools(web, pretend({})),
    createMessageTool(pretend({})),
    createProcess(pretend({})),
    createBrowserTool(pretend({})).tool,
  ];
  const registry = createTools({ exec: { processes: pretend({}) } });
  registerTools(registry, bound);
  return { registry, bound };
}
