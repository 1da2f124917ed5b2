/** For the tests of this room: throw-away places with a workspace, an outside and a secret, and all tools to look at. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Tool, ToolPlace } from "../../core/contracts/index.ts";
import {
  createBrowserTool,
  createMemoryTools,
  createMessageTool,
  createProcess,
  createScheduleTools,
  createSessionTools,
  createTools,
  createWait,
  createWebTools,
  registerTools,
  type ToolRegistry,
  webConfig,
} from "./index.ts";

export interface Scene extends ToolPlace {
  /** Beside the workspace; holds `secret`. */
  out: string;
}

export const SECRET = "the canary sings";

export async function scene(base: string = tmpdir()): Promise<Scene> {
  const dir = await realpath(await mkdtemp(join(base, "lares-tools-")));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const made = {
    agentDir: dir,
    workspace: join(dir, "workspace"),
    caller: { agent: "main", session: "s", turn: "t", route: { channel: "http", account: "a", chat: "c" } },
    spillDir: join(dir, "workspace", ".lares", "out"),
    out: join(dir, "out"),
  };
  await mkdir(made.workspace);
  await mkdir(made.out);
  await writeFile(join(made.out, "secret"), SECRET);
  return made;
}

export const never = new AbortController().signal;

/** Every built-in tool, for tests that only read their descriptions. `bound`: those that need the rest of Lares. */
export function everyTool(): { registry: ToolRegistry; bound: Tool[] } {
  const nothing = {} as never;
  const web = () => webConfig.parse({ search: { provider: "searxng", baseUrl: "http://127.0.0.1:9" } });
  const bound: Tool[] = [
    ...createScheduleTools(nothing),
    ...createSessionTools(nothing),
    createWait(nothing),
    ...createMemoryTools(nothing),
    ...createWebTools(web, nothing),
    createMessageTool(nothing),
    createProcess(nothing),
    createBrowserTool(nothing).tool,
  ];
  const registry = createTools({ exec: { processes: nothing } });
  registerTools(registry, bound);
  return { registry, bound };
}
