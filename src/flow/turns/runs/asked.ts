/**
 * What a runtime asks permission for, as a call that the gate knows. A command is judged as our own `exec`, a file as our own `write`, by the
 * same rules and remembered answers (I9); anything else by the runtime's name and its tool's.
 */
import { isAbsolute, join, relative, sep } from "node:path";
import type { ActionPlan, RunAsk, Tool, ToolPlace } from "../../../core/contracts/index.ts";
import { AppError, isObject, type Json, type JsonObject, type ToolCallPart } from "../../../core/domain/index.ts";
import type { Toolbox, TurnParts } from "../ports.ts";
import { askedBy, leavesFolders, runsOutside } from "../words.ts";

type AskedTool = Extract<RunAsk, { kind: "tool" }>;

/** In which field a runtime's tool names its command, or its file. */
const COMMANDS = ["command", "cmd"];
const FILES = ["file_path", "filePath", "filepath", "path", "abs_path"];

const OTHER = "runtime";

/** The call that is judged. `id`: made unique in the turn. */
export function toCall(about: AskedTool, id: string): ToolCallPart {
  const command = readText(about.input, COMMANDS);
  if (command !== undefined) return { type: "tool-call", id, name: "exec", input: { command } };
  const path = readText(about.input, FILES);
  const { name: tool, input, summary } = about;
  if (path !== undefined) return { type: "tool-call", id, name: "write", input: { path, tool, input, summary } };
  return { type: "tool-call", id, name: OTHER, input: { tool, input, summary } };
}

/** The same parts, with tools that only plan: what was asked runs elsewhere. */
export function withAskedTools(parts: TurnParts, of: { runtime: string; title: string }): TurnParts {
  const { tools } = parts;
  const own: Record<string, Tool> = {
    exec: planner("exec", (input, place) => planCommand(tools, of, input, place)),
    write: planner("write", async (input, place) => planFile(of, input, place)),
    [OTHER]: planner(OTHER, async (input) => planOther(of, input)),
  };
  return { ...parts, tools: { ...tools, get: (name) => own[name] ?? tools.get(name) } };
}

function planner(name: string, plan: Tool["plan"]): Tool {
  return {
    spec: { name, description: "", input: {} },
    repeat: "never",
    plan,
    run: async () => {
      throw new AppError("TOOL_INPUT", { message: runsOutside(name) });
    },
  };
}

async function planCommand(
  tools: Toolbox,
  { runtime, title }: { runtime: string; title: string },
  input: Json,
  place: ToolPlace,
): Promise<ActionPlan> {
  const { where, ...plan } = await tools.get("exec")!.plan(input, place);
  // Ours says where our own shell would run it.
  const say = (text: string) => (where ? text.replace(where.line, askedBy(title)) : text);
  return {
    ...plan,
    shown: say(plan.shown),
    ...(plan.whole === undefined ? {} : { whole: say(plan.whole) }),
    binding: { ...plan.binding, runtime },
  };
}

function planFile(of: { runtime: string; title: string }, given: Json, place: ToolPlace): ActionPlan {
  const { path, tool, input, summary } = given as { path: string; tool: string; input: Json; summary: string };
  const full = isAbsolute(path) ? path : join(place.workspace, path);
  const isInside = [place.workspace, ...(place.roots ?? [])].some((root) => isBelow(root, full));
  return {
    tool: "write",
    risk: "write",
    targets: [full],
    shown: [summary, show(tool, input), askedBy(of.title)].join("\n"),
    binding: { runtime: of.runtime, tool, input },
    ...(isInside ? {} : { outside: leavesFolders(full) }),
  };
}

function planOther({ runtime, title }: { runtime: string; title: string }, given: Json): ActionPlan {
  const { tool, input, summary } = given as { tool: string; input: Json; summary: string };
  return {
    tool: OTHER,
    risk: "service",
    targets: [`${runtime}/${tool}`],
    shown: [summary, show(tool, input), askedBy(title)].join("\n"),
    binding: { runtime, tool, input },
  };
}

/** Of an input, where a person reads it. */
const MOST_SHOWN = 4000;

function show(tool: string, input: Json): string {
  return `${tool} ${JSON.stringify(input, null, 2)}`.slice(0, MOST_SHOWN);
}

function isBelow(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

function readText(input: Json, names: readonly string[]): string | undefined {
  if (!isObject(input)) return undefined;
  const fields: JsonObject = input;
  const found = names.map((name) => fields[name]).find((value) => typeof value === "string" && value !== "");
  return typeof found === "string" ? found : undefined;
}
