/**
 * The request of one model call.
 *
 * TURNS-12: this is the only place that puts one together, so what `context.request` shows is what a turn sends.
 */
import type { ModelRequest, ThinkingLevel } from "../../core/contracts/index.ts";
import {
  type AgentId,
  type Given,
  isEndingTool,
  type ModelMessage,
  type SessionKey,
  type TurnId,
} from "../../core/domain/index.ts";
import { defined, truthy } from "../../core/kit/index.ts";
import { userMessage } from "./finish.ts";
import type { IntakeMessage, TurnParts } from "./ports.ts";

export interface RequestInput {
  session: SessionKey;
  agent: AgentId;
  /** The turn that asks; none when only the request is looked at. */
  turn?: TurnId;
  given?: Given | undefined;
  /** The only tools this chat allows. */
  tools?: readonly string[] | undefined;
  /** The turn's own model; without one the session's, then the agent's. */
  model: string | null;
  thinking?: ThinkingLevel | undefined;
  /** What waits in the inbox for this call and is said in it. */
  said: readonly IntakeMessage[];
  /** Lines of ours behind what was said. */
  more?: readonly ModelMessage[];
  /** Tools stay in the request, which its cache depends on, and none may be called. */
  mustAnswer?: boolean;
}

export interface BuiltRequest {
  request: ModelRequest;
  tainted: boolean;
  isFetched: boolean;
  /** It does not fit, and is not sent like this. */
  full: boolean;
  /** What is new in it, in tokens. */
  fresh: number;
}

export async function buildRequest(
  parts: Pick<TurnParts, "history" | "agentModel">,
  input: RequestInput,
): Promise<BuiltRequest> {
  const { session, agent, given } = input;
  const { system, shared, tools, notes, messages, ...built } = await parts.history.build(session, agent, {
    given,
    turn: input.turn,
  });
  const { tainted, isFetched, ...tuned } = built;
  const fresh: ModelMessage[] = [...input.said.map((m) => userMessage(m).message), ...(input.more ?? [])];
  // The nearest choice wins: this turn's, the session's (/model), the agent's.
  const model = input.model ?? tuned.model ?? parts.agentModel(agent);
  const fit = await parts.history.fit(session, { agent, model, fresh, ...defined({ given }) });
  const thinking = input.thinking ?? given?.settings?.thinking ?? tuned.thinking;
  const settings = input.mustAnswer ? { ...given?.settings, toolChoice: "none" as const } : given?.settings;
  const request: ModelRequest = {
    system,
    ...truthy({ shared }),
    tools: offered(input.tools, tools),
    ...truthy({ notes }),
    messages: [...messages, ...fresh],
    room: fit.room,
    // Providers that route by key send the same session to the machine that has its prefix.
    cacheKey: session,
    ...truthy({ settings, model, thinking }),
  };
  return { request, tainted, isFetched, full: fit.full, fresh: fit.fresh };
}

/** The tools a chat allows; the two that find the others stay, the others are judged by name when they are called. */
function offered<T extends { name: string }>(allowed: readonly string[] | undefined, tools: T[]): T[] {
  if (!allowed) return tools;
  const names = new Set([...allowed, "tool_search", "tool_run"]);
  return tools.filter((tool) => names.has(tool.name) || isEndingTool(tool.name));
}
