/**
 * Rarely used tools, found on demand: their schemas are not paid for on every call. `tool_search` shows what there is, skills
 * too; `tool_run` runs one of them.
 *
 * TOOLS-1: the gate judges the inner tool under its own name, with its own plan; `tool_run` adds no right and takes none away.
 */
import { stemmer } from "stemmer";
import { z } from "zod";
import {
  type ActionPlan,
  resultOrigin,
  type Tool,
  type ToolPlace,
  type ToolResult,
  type ToolSpec,
} from "../../../core/contracts/index.ts";
import { AppError, type Json } from "../../../core/domain/index.ts";
import { nearest, truthy } from "../../../core/kit/index.ts";
import { parseInput } from "../input.ts";
import { foundSkills, type SkillPort } from "../skills/skills.ts";

/** Tools that most models are offered anyway. */
const MOST_DAILY = 5;
/** Tools of servers that are shown with how to call them; the others only by name. */
const MOST_SERVED = 8;

const searchInput = z.strictObject({ query: z.string().max(200).optional() });
const runInput = z.strictObject({ name: z.string().min(1).max(64), input: z.json().optional() });

/** Tools that other programs offer (MCP). Which there are changes while Lares runs. */
export interface ServedTools {
  /** The servers' names: all that a conversation knows about them beforehand. */
  servers(): readonly string[];
  /** Those that a new conversation of this agent gets without looking for them. */
  pinned(agent: string): readonly ToolSpec[];
  /** The tool a model calls by this name; whether the caller may use it, planning says. */
  get(name: string): Tool | undefined;
  /** What this agent may use in this conversation. Servers that were never listed are asked now. `isSeen`: a person has read the descriptions. */
  list(
    agent: string,
    session: string,
  ): Promise<{
    tools: readonly { server: string; tool: Tool }[];
    isSeen: boolean;
    /** Sentences about servers that wait for a person: their tools may be missing here. */
    waiting?: readonly string[];
    /** The same about servers that can't be used, in our own words. */
    missing?: readonly string[];
  }>;
  /** Why a tool of this name can't be run, where its server is known and isn't there. */
  whyNot?(name: string, agent: string): string | undefined;
}

export interface Findable {
  onDemand: readonly Tool[];
  skills?: SkillPort | undefined;
  /** The tools of daily work. Where a model is offered fewer of them, it finds and runs the others this way. */
  also?: readonly Tool[];
  served?: ServedTools | undefined;
}

export function createOnDemandTools({ onDemand, skills, also = [], served }: Findable): Tool[] {
  const byName = new Map([...onDemand, ...also].map((tool) => [tool.spec.name, tool]));
  const names = () => byName.keys();
  return [
    search({ onDemand, skills, also, served }),
    run({
      get: (name) => byName.get(name) ?? served?.get(name),
      names,
      whyNot: (name, { agent, authority }) => (authority === "stranger" ? undefined : served?.whyNot?.(name, agent)),
    }),
  ];
}

function search({ onDemand, skills, also: daily = [], served }: Findable): Tool {
  const names = onDemand.map((tool) => tool.spec.name).join(", ");
  return {
    spec: {
      name: "tool_search",
      get description() {
        const servers = served?.servers() ?? [];
        const more = servers.length > 0 ? ` And tools of ${nameSome(servers)}.` : "";
        return `Find more tools, and skills, by a few words; shows how to call them with tool_run. There are: ${names}.${more}`;
      },
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
      // Skills and servers are the owner's: guests learn neither their names nor how many there are.
      const isGuest = place.caller.authority === "stranger";
      const also = isGuest ? undefined : await foundSkills(skills, place.caller.agent, query);
      const words = readWords(query);
      const others = isGuest || !served ? NONE_SERVED : await foundServed(served, place.caller, words);
      const rare = [...rank(onDemand, words), ...others.found];
      const usual = rank(
        daily.filter((tool) => tool.offered?.() ?? true),
        words,
      ).slice(0, MOST_DAILY);
      // Most models have them already: in full only those that are named, or where there is nothing else.
      const shown = rare.length > 0 ? usual.filter(({ named }) => named > 0) : usual;
      const found = [...rare, ...shown].sort(byFit);
      const isAnswered = found.length > 0 || (also?.isMatch && query);
      const lines = isAnswered ? found.map(({ tool }) => showTool(tool)) : onDemand.map(showTool);
      const rest = usual.filter((one) => !shown.includes(one)).map(({ tool }) => tool.spec.name);
      if (rest.length > 0) lines.push(`Search for one of these by its name if you don't have it: ${rest.join(", ")}`);
      return {
        text: [...lines, ...others.lines, ...(also?.lines ?? [])].join("\n"),
        ...(also?.carriesOutside || others.carriesOutside ? { origin: "outside" as const } : {}),
      };
    },
  };
}

/** About 60 tokens, which every request pays for; the others are found by searching. */
const MOST_NAMES = 240;

function nameSome(servers: readonly string[]): string {
  let shown = 0;
  for (let length = 0; shown < servers.length; shown++) {
    length += servers[shown]!.length + 2;
    if (length > MOST_NAMES) break;
  }
  const rest = servers.length - shown;
  return servers.slice(0, shown).join(", ") + (rest > 0 ? ` and ${rest} other servers` : "");
}

const NONE_SERVED = { found: [] as FittingTool[], lines: [] as string[], carriesOutside: false };

/** The best few with how to call them; the rest, and everything when nothing was asked for, by name. */
async function foundServed(
  served: ServedTools,
  { agent, session }: { agent: string; session: string },
  words: readonly string[],
): Promise<typeof NONE_SERVED> {
  const { tools, isSeen, waiting = [], missing = [] } = await served.list(agent, session);
  const ranked = rank(
    tools.map(({ tool }) => tool),
    words,
  );
  const found = ranked.slice(0, MOST_SERVED);
  const named = words.length === 0 ? tools : ranked.slice(MOST_SERVED);
  const lines: string[] = [];
  if (named.length > 0) {
    const names = named.map(({ tool }) => tool.spec.name).join(", ");
    lines.push(`${found.length > 0 ? "Also" : "Search for one of these to see how to call it"}: ${names}`);
  }
  lines.push(...waiting, ...missing);
  return { found, lines, carriesOutside: (found.length > 0 && !isSeen) || waiting.length > 0 };
}

function readWords(query: string): string[] {
  // "a" and "to" are in every description.
  return [...new Set(splitWords(query))].filter((word) => word.length > 2);
}

/** `readFile` and `read_file` are two words each. */
function splitWords(text: string): string[] {
  const apart = text.replace(/([\p{Ll}\p{N}])(?=\p{Lu})/gu, "$1 ");
  return apart
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
}

/** A tool, and how many of the words that were asked for are in its name or description, and how many in its name. */
interface FittingTool {
  tool: Tool;
  matched: number;
  named: number;
}

/** Those that fit at all, the best first: the more of the words, the better; among equals, the more of them in the name. */
function rank(tools: readonly Tool[], words: readonly string[]): FittingTool[] {
  if (words.length === 0) return [];
  const isAmong = compareWords();
  return tools
    .map((tool) => {
      const [name, text] = [splitWords(tool.spec.name), splitWords(tool.spec.description)];
      const named = words.filter((word) => isAmong(word, name)).length;
      return { tool, named, matched: words.filter((word) => isAmong(word, name) || isAmong(word, text)).length };
    })
    .filter(({ matched }) => matched > 0)
    .sort(byFit);
}

function byFit(a: FittingTool, b: FittingTool): number {
  return b.matched - a.matched || b.named - a.named;
}

/** Whether a word is among others: in another form ("echo", "echoes"), or as the beginning of a longer one. */
function compareWords(): (word: string, others: readonly string[]) => boolean {
  // Thousands of descriptions are made of the same few words.
  const stems = new Map<string, string>();
  const toStem = (word: string): string => {
    const known = stems.get(word);
    if (known !== undefined) return known;
    const made = stemmer(word);
    stems.set(word, made);
    return made;
  };
  return (word, others) => others.some((other) => other.startsWith(word) || toStem(other) === toStem(word));
}

function showTool({ spec }: Tool): string {
  return `${spec.name}: ${spec.description} ${JSON.stringify(spec.input)}`;
}

interface RunnableTools {
  get(name: string): Tool | undefined;
  names(): Iterable<string>;
  whyNot(name: string, caller: ToolPlace["caller"]): string | undefined;
}

function run(tools: RunnableTools): Tool {
  const inner = (input: Json, caller?: ToolPlace["caller"]): { tool: Tool; input: Json } => {
    const { name, input: given } = parseInput("tool_run", runInput, input);
    const tool = tools.get(name);
    if (tool) return { tool, input: given ?? {} };
    const off = caller && tools.whyNot(name, caller);
    if (off !== undefined) throw new AppError("TOOL_INPUT", { message: off, hint: "Go on without it.", origin: "own" });
    const near = nearest(name, tools.names());
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
    runs: (input) => inner(input),
    plan: async (input, place) => {
      const { tool, input: given } = inner(input, place.caller);
      const plan = await asItsOwn(tool, () => tool.plan(given, place));
      return plan.fixed === undefined ? plan : { ...plan, fixed: { name: tool.spec.name, input: plan.fixed } };
    },
    run: async (input, place, key, signal) => {
      const { tool, input: given } = inner(input);
      return said(tool, await asItsOwn(tool, () => tool.run(given, place, key, signal)));
    },
    goOn: async (input, place, asked, key, signal) => {
      const { tool, input: given } = inner(input);
      if (!tool.goOn) return { text: "It can't go on.", isError: true, origin: "own" };
      return said(tool, await asItsOwn(tool, () => tool.goOn!(given, place, asked, key, signal)));
    },
    after: async (input, place, wait) => {
      try {
        const { tool, input: given } = inner(input);
        return (await tool.after?.(given, place, wait)) ?? { text: "Time is up.", origin: "own" };
      } catch (error) {
        // The tool was removed while the turn waited for it, which must not end the turn.
        if (error instanceof AppError) return { text: error.message, isError: true, origin: error.origin ?? "outside" };
        throw error;
      }
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
