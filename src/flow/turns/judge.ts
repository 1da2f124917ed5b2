/** Judging: a call is planned and the gate decides about the plan. Nothing runs here. */
import { type ActionPlan, failed, type Tool } from "../../core/contracts/index.ts";
import {
  AppError,
  type Danger,
  type Json,
  type Origin,
  type RunsWhere,
  type ToolCallPart,
} from "../../core/domain/index.ts";
import { defined, truthy } from "../../core/kit/index.ts";
import { approvalHash, type BoundParts, bindPlan } from "./approval-hash.ts";
import { suggestInstead } from "./denied.ts";
import { askAboutCall, tighten } from "./hooked.ts";
import { type At, makePlace } from "./place.ts";
import type { TurnParts, TurnStanding } from "./ports.ts";
import { FILES_CLOSED, toolClosed, toolLeftOut, WRITE_A_RULE } from "./words.ts";

/** What was decided about one call, as it is recorded. */
export type JudgedCall = {
  verdict: "allow" | "ask" | "deny" | "error";
  because: string;
  shown: string;
  rule: string;
  hash: string;
  /** Of a question: what the hash is made of. */
  bound?: BoundParts;
  marks?: string[];
  /** What is risky about it, the worst first. */
  dangers?: Danger[];
  whole?: string;
  where?: RunsWhere;
  /** Of `because`, where the model reads it. */
  origin?: Origin;
  /** What is run and asked about instead of the call's own input. */
  input?: Json;
  /** Of a refusal: what can be done instead. */
  instead?: string;
  /** A rule allowed the settled form of a command, and this is it. */
  settled?: string;
  /** When a question about it expires at the latest. */
  until?: number;
  /** Of a command: whether it may change where names of files lead. */
  moves?: boolean;
  /** What it starts goes on after the call. */
  starts?: true;
  /** Hooks are asked about its result. */
  heard?: true;
  /** Hooks that failed, in sentences for people. */
  hookFailures?: string[];
};

/** What is shown beside `shown`: all of a long action, and where a command runs. */
export function pickShown({ whole, where }: ActionPlan): { whole?: string; where?: RunsWhere } {
  return defined({ whole, where });
}

/** What the gate says to one call. Nothing runs. */
export async function judge(parts: TurnParts, at: At, call: ToolCallPart, standing: TurnStanding): Promise<JudgedCall> {
  const none = { shown: "", rule: "", hash: "" };
  const tool = parts.tools.get(call.name);
  if (!tool) {
    const because = parts.tools.unknown(call.name, at.tools);
    return { verdict: "error", because, origin: "own", ...none };
  }
  try {
    const closed = closedTo(at, tool, call.input, standing);
    if (closed) {
      const instead = suggestInstead({ risk: "state" }, standing.authority);
      return { verdict: "deny", because: closed, instead, origin: "own", ...none };
    }
    let { input } = call;
    let plan = await tool.plan(input, makePlace(parts, at));
    // A time such as "in 10 minutes" becomes a moment once, so that asking for days doesn't move it.
    if (plan.fixed !== undefined) {
      input = plan.fixed;
      plan = await tool.plan(input, makePlace(parts, at));
    }
    const gate = await parts.judge.judge(at, plan, standing);
    const { settled, lacksRule, moves, dangers } = gate;
    const { verdict: word } = gate;
    const isAsked = word !== "deny" && parts.hooks.answers("tool.planned");
    const hooked = isAsked ? await askAboutCall(parts, at, { ...call, input }, { plan, verdict: word }) : undefined;
    const verdict = hooked ? tighten(gate.verdict, hooked) : gate.verdict;
    const why = hooked?.deny ?? [gate.verdict === verdict ? gate.because : "", hooked?.ask].filter(Boolean).join(" ");
    // A hook asks again the next time, whatever a rule says.
    const rule = hooked?.ask ? "" : gate.rule;
    // Only where a rule would help: otherwise the hint sends people to write one in vain.
    const once = plan.once && lacksRule ? `${plan.once} ${WRITE_A_RULE}` : plan.once;
    const because = gate.verdict === "ask" && verdict === "ask" && once ? `${why} ${once}` : why;
    const hash = approvalHash(parts, call.name, plan, makePlace(parts, at));
    return {
      verdict,
      because,
      rule,
      shown: plan.shown,
      hash,
      // The gate quotes the call and its own rules, nothing else; a hook's words are its own.
      origin: hooked?.deny || hooked?.ask ? "outside" : "own",
      marks: verdict === "ask" ? listMarks(plan) : [],
      ...(verdict === "ask" ? { bound: bindPlan(parts, plan, makePlace(parts, at)) } : {}),
      ...pickShown(plan),
      ...(verdict === "deny" ? { instead: suggestInstead(plan, standing.authority) } : {}),
      ...(input === call.input ? {} : { input }),
      ...defined({ until: plan.until }),
      ...(settled && plan.shell?.settled ? { settled: plan.shell.settled.run } : {}),
      ...(plan.shell ? { moves: moves ?? false } : {}),
      ...truthy({ dangers, starts: plan.starts, hookFailures: hooked?.failed }),
      ...(verdict !== "deny" && parts.hooks.answers("tool.finished") ? { heard: true } : {}),
    };
  } catch (error) {
    // The model's mistake, which it can correct. Anything else is ours and must not be hidden from the log.
    if (error instanceof AppError) {
      const { text, origin } = failed(error);
      return { verdict: "error", because: text, ...defined({ origin }), ...none };
    }
    throw error;
  }
}

/** What a person is asked about: the tool itself, also where it is called through one that runs others. */
export function nameTool(parts: Pick<TurnParts, "tools">, { tool, input }: { tool: string; input: Json }): string {
  try {
    return parts.tools.get(tool)?.runs?.(input).tool.spec.name ?? tool;
  } catch {
    // It is no longer there.
    return tool;
  }
}

function realTool(tool: Tool, input: Json): { tool: Tool; input: Json } | undefined {
  try {
    return tool.runs?.(input) ?? { tool, input };
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

/** Why a call is refused before it is planned: planning looks at files, and its failures quote them. */
function closedTo(at: At, tool: Tool, input: Json, { authority }: TurnStanding): string | undefined {
  const real = realTool(tool, input);
  // One that isn't there can't be planned either, and planning says why.
  if (!real) return undefined;
  const { name } = real.tool.spec;
  if (at.tools && !at.tools.includes(name)) return toolClosed(name);
  if (at.p.narrowed && !at.p.narrowed.includes(name)) return toolLeftOut(name);
  // The same words for every path, so that a guest can't find out which files exist.
  return authority === "stranger" && real.tool.opensFiles?.(real.input) ? FILES_CLOSED : undefined;
}

/** What of a plan's text must stay visible when it is shortened: programs, targets of redirections, the files of a patch. */
export function listMarks(plan: ActionPlan): string[] {
  return [...new Set(allMarks(plan))].slice(0, MOST_MARKS).map((mark) => mark.slice(0, 200));
}

/** In a shortened question these words stay visible, so that a command can't hide its target in the middle. */
function allMarks({ shell, risk, targets }: ActionPlan): string[] {
  if (!shell)
    return risk === "write" && targets.length > 1
      ? targets.map((target) => target.slice(target.lastIndexOf("/") + 1))
      : [];
  return shell.commands.flatMap(({ words, redirects }) => [
    words[0]!.literal ?? words[0]!.guess,
    ...redirects.map(({ operator, target }) => `${operator} ${target.literal ?? target.guess}`),
  ]);
}

/** More programs than this nobody follows in a chat; the gate refuses what is too much to be read at all. */
const MOST_MARKS = 60;
