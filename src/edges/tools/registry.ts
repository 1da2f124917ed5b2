/**
 * The tools of this process by name. The order of `specs` is the order of registration and never changes by itself: the
 * prompt cache depends on byte-identical tool lists.
 */
import type { Tool, ToolSpec } from "../../core/contracts/index.ts";
import { AppError } from "../../core/domain/index.ts";
import { createExec, type ExecOptions } from "./exec/exec.ts";
import { createApplyPatch } from "./files/apply-patch.ts";
import { createEdit } from "./files/edit.ts";
import { createList } from "./files/list.ts";
import { createRead, type ReadOptions } from "./files/read.ts";
import { createWrite } from "./files/write.ts";
import { createOnDemandTools, type ServedTools } from "./on-demand/on-demand.ts";
import { createSearch, type SearchOptions } from "./search/search.ts";
import type { SkillPort } from "./skills/skills.ts";
import { unknownTool } from "./unknown.ts";

export interface ToolRegistry {
  /** The tools offered to the model, in a fixed order. A new array each time; the same bytes as long as nothing is registered. */
  specs(): ToolSpec[];
  /** The tool of this name. Throws TOOL_INPUT with the nearest name when there is none. */
  get(name: string): Tool;
  has(name: string): boolean;
  /** Every tool that is registered. */
  all(): Tool[];
  /** One sentence for a name that is no tool: which one is meant and how it is called. Names only what may be used. */
  unknown(name: string, allowed?: readonly string[]): string;
  /** The tools that are run through `tool_run`, so that a direct call of one says so. */
  found(tools: readonly Tool[]): void;
  /** One of those by its name: for another runtime, which is lent tools one by one. */
  onDemand(name: string): Tool | undefined;
  /** Adds a tool at the end. A name can be taken once: nobody replaces a tool that was judged under its name. */
  register(tool: Tool): void;
}

export interface ToolsOptions extends SearchOptions {
  exec?: ExecOptions;
  read?: ReadOptions;
}

/** The built-in ones. */
export function createTools(options: ToolsOptions = {}): ToolRegistry {
  const registry = emptyRegistry();
  registry.register(createRead(options.read));
  registry.register(createWrite());
  registry.register(createEdit());
  registry.register(createApplyPatch());
  registry.register(createList());
  registry.register(createSearch(options));
  registry.register(createExec(options.exec));
  return registry;
}

/** Offered only through `tool_search`: their schemas would be paid for on every call and are rarely wanted. */
export const ON_DEMAND_TOOLS: readonly string[] = [
  "board_list",
  "board_get",
  "board_create",
  "board_comment",
  "board_hand_in",
  "browser",
  "memory_forget",
  "room_post",
  "room_read",
  "schedule_list",
  "schedule_remove",
  "schedule_update",
  "schedule_snooze",
  "sessions_list",
  "sessions_history",
  "sessions_send",
  "sessions_stop",
  "wait",
];
/** Every name that rules can be about; `mcp` stands for the tools of all servers. */
export const TOOL_NAMES: readonly string[] = [
  ...[
    "read",
    "write",
    "edit",
    "apply_patch",
    "list",
    "search",
    "exec",
    "process",
    "web_fetch",
    "web_search",
    "message",
  ],
  ...["memory_save", "memory_search", "schedule_add", "sessions_spawn", "tool_search", "tool_run", "mcp", "peer_ask"],
  ...ON_DEMAND_TOOLS,
];
const ON_DEMAND: ReadonlySet<string> = new Set(ON_DEMAND_TOOLS);

/** Registers the tools that act on Lares; rarely used ones behind `tool_search`, which finds skills and tools of servers as well. */
export function registerTools(
  registry: ToolRegistry,
  tools: readonly Tool[],
  { skills, served }: { skills?: SkillPort; served?: ServedTools } = {},
): void {
  for (const tool of tools) if (!ON_DEMAND.has(tool.spec.name)) registry.register(tool);
  const onDemand = tools.filter((tool) => ON_DEMAND.has(tool.spec.name));
  // A small window is offered fewer tools; the others are found and run the same way.
  const also = registry.all();
  if (onDemand.length)
    for (const tool of createOnDemandTools({ onDemand, skills, also, served })) registry.register(tool);
  registry.found(onDemand);
}

function emptyRegistry(): ToolRegistry {
  const tools = new Map<string, Tool>();
  let found: readonly Tool[] = [];
  const specs = () => [...tools.values()].filter((tool) => tool.offered?.() ?? true).map((tool) => tool.spec);
  const unknown = (name: string, allowed?: readonly string[]) => {
    const isAllowed = (spec: ToolSpec) =>
      !allowed || allowed.includes(spec.name) || /^tool_(search|run)$/.test(spec.name);
    return unknownTool(name, {
      offered: specs().filter(isAllowed),
      found: found.map(({ spec }) => spec).filter(isAllowed),
    });
  };
  return {
    specs,
    all: () => [...tools.values()],
    has: (name) => tools.has(name),
    get(name) {
      const tool = tools.get(name);
      if (tool) return tool;
      throw new AppError("TOOL_INPUT", { message: unknown(name), retry: "after-change", origin: "own" });
    },
    unknown,
    found(tools) {
      found = tools;
    },
    onDemand: (name) => found.find(({ spec }) => spec.name === name),
    register(tool) {
      if (tools.has(tool.spec.name)) throw new Error(`a tool named "${tool.spec.name}" is registered already`);
      tools.set(tool.spec.name, tool);
    },
  };
}
