/** Where a call stands: whose turn, in which session, with whose rights. */
import type { Ctx, ToolPlace } from "../../core/contracts/index.ts";
import type { AgentId, ReplyRoute, SessionKey, TurnId } from "../../core/domain/index.ts";
import { defined } from "../../core/kit/index.ts";
import type { TurnParts } from "./ports.ts";
import type { Progress } from "./progress.ts";

export interface At {
  ctx: Ctx;
  turn: TurnId;
  session: SessionKey;
  agent: AgentId;
  segment: number;
  route: ReplyRoute;
  p: Pick<Progress, "authority" | "narrowed">;
  /** The only tools that may be used here; without it, the agent's. */
  tools?: readonly string[] | undefined;
}

export function makePlace(parts: TurnParts, at: At): ToolPlace {
  const { agent, session, turn, route, p, tools } = at;
  return parts.tools.place({ agent, session, turn, route, authority: p.authority, ...defined({ tools }) });
}
