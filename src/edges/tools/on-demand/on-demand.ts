/**
 * Rarely used tools, found on demand: their schemas are not paid for on every call. `tool_search` shows what there is, skills
 * too; `tool_run` runs one of them.
 *
 * TOOLS-1: the gate judges the inner tool under its own name, with its own plan; `tool_run` adds no right and takes none away.
 */
import { z } from "zod";
import { type ActionPlan, resultOrigin, type Tool, type ToolResult } from "../../../core/contracts/index.ts";
import { AppError, type Json } from "../../../core/domain/index.ts";
import { nearest, truthy } from "../../../core/kit/index.ts";
import { parseInput } from "../input.ts";
import { foundSkills, type SkillDesk } from "../skills/skills.ts";

/** Of the tools most models are told of anyway. */
const MOST_DAILY = 5;

const searchInput = z.strictObject({ query: z.string().max(200).optional() });
const runInput = z.strictObject({ name: z.string().min(1).max(64), input: z.json().optional() });

/** `also`: the tools of daily work. Where a model is told of fewer of them, it finds and runs the others this way. */
export function createOnDemandTools(onDemand: readonly Tool[], skills?: SkillDesk, also: readonly Tool[] = []): Tool[] {
  const byName = new Map([...onDemand, ...also].map((tool) => [tool.spec.name, tool]));
  return [search(onDemand, skills, also), run(byName)];
}

function search(onDemand: readonly Tool[], skills: SkillDesk | undefined, daily: readonly Tool[]): Tool {
  const names = onDemand.map((tool) => tool.spec.name).join(", ");
  return {
    spec: {
      name: "tool_search",
      description: `Find more tools, and skills, by a few words; shows how to call them with tool_run. There are: ${names}.`,
      input: { type: "object", properties: { query: { type: "string", description: "omit to list all" } } },
    },
    repeat: "safe",
    words: { result: "own", failure: "own" },
    async plan(input): Promise<ActionPlan> {
      parseInput("tool_search", searchInput, input);
      return { tool: "tool_search", risk: "read", targets: [], shown: "Look for a tool.", binding: {} };
    },
    async run(input, place): Promise<ToolResult> {
      const { query = "" } = parseInput("tool_search", searchInput, input);
      // Skills are the owner's: guests learn neither their names nor how many there are.
      const isGuest = place.caller.authority === "stranger";
      const also = isGuest ? undefined : await foundSkills(skills, place.caller.agent, query);
      const words = query
        .toLowerCase()
        .split(/[^a-z]+/)
        // "a" and "to" are in every description.
        .filter((word) => word.length > 2);
      const text = (tool: Tool) => `${tool.spec.name} ${tool.spec.description}`.toLowerCase();
      const fits = (tool: Tool) => words.some((word) => text(tool).includes(word));
      const found = [
        ...onDemand.filter(fits),
        ...daily.filter((tool) => (tool.offered?.() ?? true) && fits(tool)).slice(0, MOST_DAILY),
      ];
      const shown = found.length || (also?.isMatch && query) ? found : onDemand;
      const lines = shown.map(({ spec }) => `${spec.name}: ${spec.description} ${JSON.stringify(spec.input)}`);
      return {
        text: [...lines, ...(also?.lines ?? [])].join("\n"),
        ...(also?.carriesOutside ? { origin: "outside" as const } : {}),
      };
    },
  };
}

function run(byName: ReadonlyMap<string, Tool>): Tool {
  const inner = (input: Json): { tool: Tool; input: Json } => {
    const { name, input: given } = parseInput("tool_run", runInput, input);
    const tool = byName.get(name);
    if (tool) return { tool, input: given ?? {} };
    const near = nearest(name, byName.keys());
    throw new AppError("TOOL_INPUT", {
      message: `tool_run has no tool "${name}".`,
      hint: near ? `Did you mean "${near}"?` : "Look for it with tool_search.",
      origin: "own",
    });
  };
  return {
    spec: {
      name: "tool_run",
      description: "Run a tool that tool_search showed, with the input it describes.",
      input: {
        type: "object",
        properties: {
          name: { type: "string", description: "as tool_search shows it" },
          input: { type: "object", description: "what that tool takes" },
        },
        required: ["name"],
      },
    },
    // The strictest class: what the inner tool would be, nobody knows before it is called.
    repeat: "never",
    runs: inner,
    plan: async (input, place) => {
      const { tool, input: given } = inner(input);
      const plan = await asItsOwn(tool, () => tool.plan(given, place));
      return plan.fixed === undefined ? plan : { ...plan, fixed: { name: tool.spec.name, input: plan.fixed } };
    },
    run: async (input, place, key, signal) => {
      const { tool, input: given } = inner(input);
      return said(tool, await asItsOwn(tool, () => tool.run(given, place, key, signal)));
    },
    after: async (input, place, wait) => {
      const { tool, input: given } = inner(input);
      return (await tool.after?.(given, place, wait)) ?? { text: "Time is up.", origin: "own" };
    },
    settled: (input, key) => {
      const { tool, input: given } = inner(input);
      tool.settled?.(given, key);
    },
    probe: async (input, place, key, left) => {
      const { tool, input: given } = inner(input);
      // Reading again is harmless; anything else stays unknown.
      const again = async () =>
        tool.repeat === "safe" ? { ok: await tool.run(given, place, key, left.signal) } : undefined;
      const found = await (tool.probe ? tool.probe(given, place, key, left) : again());
      return found && "ok" in found ? { ok: said(tool, found.ok) } : found;
    },
  };
}

/** Whose words a result is, is up to the tool that was run, not to the one that ran it. */
function said(tool: Tool, result: ToolResult): ToolResult {
  return { ...result, origin: resultOrigin(tool, result) };
}

async function asItsOwn<T>(tool: Tool, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError) || error.origin) throw error;
    const { code, message, hint, retry, details } = error;
    const more = truthy({ hint, details });
    throw new AppError(code, { message, retry, ...more, cause: error, origin: resultOrigin(tool, { isError: true }) });
  }
}
