/** How an action is judged here: the gate's rules with this house's policies, places and remembered approvals. */
import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { type AgentId, asId, isChildSession } from "../core/domain/index.ts";
import { type Roots, type ToolRegistry, visible } from "../edges/tools/index.ts";
import type { Approvals } from "../flow/approvals/index.ts";
import {
  decide,
  type Explanation,
  explain,
  explainText,
  type GatePlace,
  joinPolicy,
  mayMove,
  type OwnDoors,
  ruleFor,
  strictest,
} from "../flow/gate/index.ts";
import type { TurnParts } from "../flow/turns/index.ts";
import type { AgentFolders } from "../mind/agents/index.ts";
import type { LaresConfig } from "./config.ts";

export interface JudgingParts {
  home: string;
  config: LaresConfig;
  agents: AgentFolders;
  approvals: Pick<Approvals, "remembered" | "used">;
  tools: Pick<ToolRegistry, "get">;
  roots: Pick<Roots, "of">;
  /** Who asked for this session, and who asked for theirs. */
  ancestors: (session: string) => Promise<readonly string[]>;
  /** Whether anybody but the owner has spoken in this session. */
  isShared: (session: string) => Promise<boolean>;
  doors: Pick<OwnDoors, "now">;
}

export interface Judging {
  judge: TurnParts["judge"]["judge"];
  again: TurnParts["judge"]["again"];
  /** How a command would be judged; nothing runs. */
  explainCommand: (command: string, agent?: string) => Promise<Explanation>;
}

export function makeJudging({
  home,
  config,
  agents,
  approvals,
  tools,
  roots,
  ancestors,
  isShared,
  doors,
}: JudgingParts): Judging {
  // Targets of plans are real paths; the gate compares text.
  const placeOf = (agent: AgentId): GatePlace => {
    const { agentDir, workspace } = agents.place(agent);
    const [real, dir, work] = [home, agentDir, workspace].map((path) => realpathSync(path));
    return {
      ...{ home: real!, userHome: homedir(), agentDir: dir!, workspace: work!, roots: roots.of(agent) },
      doors: doors.now(),
    };
  };
  const policyFor = async (agent: AgentId, place = placeOf(agent)) =>
    joinPolicy(config.policy, config.agents[agent]?.policy, { place, remembered: await approvals.remembered(agent) });

  const word = async (...[{ agent, session }, plan, { authority, tainted, said }]: Parameters<Judging["judge"]>) => {
    const own = await policyFor(agent);
    const policies = [own];
    // What a sub-agent may do is what everybody who asked for it may do, too.
    const above = isChildSession(session) ? await ancestors(session) : [];
    for (const one of above) policies.push(await policyFor(asId<AgentId>(one), own.place));
    // Only a mode that trusts the agent has to know it.
    const isTrusting = plan.risk === "exec" && authority === "owner" && policies.some(({ mode }) => mode !== "ask");
    const shared = isTrusting && (await isShared(session));
    const words = policies.map((policy) =>
      decide({ ...policy, authority, tainted, shared, ...(said ? { said } : {}) }, plan),
    );
    const verdict = strictest(words);
    const rule = plan.once ? "" : ruleFor(plan);
    const isRemembered = verdict.verdict === "allow" && words[0]!.remembered === true;
    // Where the agent is trusted with every command, nothing hangs on where a name leads; after text from outside it does.
    const isHeld = tainted || policies.some(({ mode }) => mode === "ask");
    return { ...verdict, rule, isRemembered, ...(plan.shell && isHeld ? { moves: mayMove(plan.shell) } : {}) };
  };

  return {
    async judge(who, plan, standing) {
      const { isRemembered, ...said } = await word(who, plan, standing);
      if (isRemembered) approvals.used(who.agent, said.rule);
      return said;
    },
    again: word,
    async explainCommand(command, name = config.routing.defaultAgent) {
      const agent = asId<AgentId>(name);
      const caller = { agent: name, session: "none", turn: "none", route: { channel: "none", account: "", chat: "" } };
      const plan = await tools.get("exec").plan(
        { command },
        {
          ...agents.place(agent),
          ...{ roots: roots.of(name), userHome: homedir(), caller },
        },
      );
      const found = explain(await policyFor(agent), plan);
      return { ...found, text: explainText(found, visible) };
    },
  };
}
