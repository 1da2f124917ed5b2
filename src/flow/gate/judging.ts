/** How an action is judged: the gate's rules with the configured policies, the agent's places and remembered approvals. */

import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import type { ActionPlan, ToolPlace } from "../../core/contracts/index.ts";
import {
  type AgentId,
  type Authority,
  asId,
  type Danger,
  isChildSession,
  type PolicyMode,
  type SessionKey,
  stricterMode,
} from "../../core/domain/index.ts";
import { truthy } from "../../core/kit/index.ts";
import { listDangers } from "./dangers.ts";
import { decide, joinPolicy, ruleFor, strictest } from "./decide.ts";
import { type Explanation, explain, explainText } from "./explain.ts";
import type { OwnDoors } from "./own-address.ts";
import { mayMove } from "./rearranges.ts";
import type { GatePlace } from "./rules.ts";

type Policies = Parameters<typeof joinPolicy>;

export interface JudgingParts {
  home: string;
  config: {
    policy: Policies[0];
    agents: Readonly<Record<string, { policy?: Policies[1] } | undefined>>;
    routing: { defaultAgent: string };
  };
  /** Where an agent's files are. */
  places(agent: AgentId): Pick<ToolPlace, "agentDir" | "workspace" | "spillDir">;
  approvals: {
    remembered(agent: AgentId): Promise<ReadonlySet<string>>;
    used(agent: AgentId, rule: string): void;
  };
  /** How the tool that runs commands would go about this one. */
  planCommand(command: string, place: ToolPlace): Promise<ActionPlan>;
  /** The text with what cannot be seen made visible. */
  visible: Parameters<typeof explainText>[1];
  /** Folders besides the workspace. */
  roots(agent: string): string[];
  /** Who asked for this session, and who asked for theirs. */
  ancestors: (session: string) => Promise<readonly string[]>;
  /** Whether anybody but the owner has spoken in this session. */
  isShared: (session: string) => Promise<boolean>;
  /** How strict this session was made, or one it works for; nothing: as the agent's policy says. */
  modeOf: (session: string) => Promise<PolicyMode | undefined>;
  /** Whether undo brings back a file of this size that is overwritten. */
  restores: (bytes: number) => boolean;
  doors: Pick<OwnDoors, "now">;
}

interface Who {
  agent: AgentId;
  session: SessionKey;
}

interface TurnTrust {
  authority: Authority;
  tainted: boolean;
  isFetched?: boolean;
  said?: string;
}

interface Judgement {
  verdict: "allow" | "ask" | "deny";
  because: string;
  rule: string;
  settled?: true;
  lacksRule?: true;
  moves?: boolean;
  dangers?: Danger[];
}

export interface Judging {
  /** The gate's word on a planned action of this agent, with the rule "allow always" would keep. */
  judge(who: Who, plan: ActionPlan, standing: TurnTrust): Promise<Judgement>;
  /** The same once more, right before it runs. It doesn't count as another use of a remembered rule. */
  again(who: Who, plan: ActionPlan, standing: TurnTrust): Promise<Judgement>;
  /** How a command would be judged; nothing runs. */
  explainCommand: (command: string, agent?: string) => Promise<Explanation>;
}

export function makeJudging({
  home,
  config,
  places,
  approvals,
  planCommand,
  visible,
  roots,
  ancestors,
  isShared,
  modeOf,
  restores,
  doors,
}: JudgingParts): Judging {
  // Targets of plans are real paths; the gate compares text.
  const readPlace = (agent: AgentId): GatePlace => {
    const { agentDir, workspace } = places(agent);
    const [real, dir, work] = [home, agentDir, workspace].map((path) => realpathSync(path));
    return {
      home: real!,
      userHome: homedir(),
      agentDir: dir!,
      workspace: work!,
      roots: roots(agent),
      doors: doors.now(),
    };
  };
  const policyFor = async (agent: AgentId, place = readPlace(agent)) =>
    joinPolicy(config.policy, config.agents[agent]?.policy, { place, remembered: await approvals.remembered(agent) });

  const word = async (...[{ agent, session }, plan, standing]: Parameters<Judging["judge"]>) => {
    const { authority, tainted, isFetched, said } = standing;
    const own = await policyFor(agent);
    const policies = [own];
    // What a sub-agent may do is what everybody who asked for it may do, too.
    const above = isChildSession(session) ? await ancestors(session) : [];
    for (const one of above) policies.push(await policyFor(asId<AgentId>(one), own.place));
    // Only a mode that trusts the agent can be made stricter.
    if (policies.some(({ mode }) => mode !== "ask")) {
      const own = await modeOf(session);
      if (own) for (const policy of policies) policy.mode = stricterMode(policy.mode, own);
    }
    const isTrusting = plan.risk === "exec" && policies.some(({ mode }) => mode !== "ask");
    const shared = authority === "owner" && (isTrusting || redirects(plan)) && (await isShared(session));
    const turn = { authority, tainted, shared, restores, ...truthy({ isFetched, said }) };
    const words = policies.map((policy) => decide({ ...policy, ...turn }, plan));
    const verdict = strictest(words);
    const rule = plan.once ? "" : ruleFor(plan);
    const isRemembered = verdict.verdict === "allow" && words[0]!.remembered === true;
    // Where the agent is trusted with every command, nothing hangs on where a name leads; after text from outside it does.
    const isHeld = tainted || policies.some(({ mode }) => mode === "ask");
    const dangers = verdict.verdict === "ask" ? listDangers(plan, own.place) : [];
    return {
      ...verdict,
      rule,
      isRemembered,
      ...(dangers.length ? { dangers } : {}),
      ...(plan.shell && isHeld ? { moves: mayMove(plan.shell) } : {}),
    };
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
      const place = { ...places(agent), roots: roots(name), userHome: homedir(), caller };
      const plan = await planCommand(command, place);
      const found = explain(await policyFor(agent), plan);
      return { ...found, text: explainText(found, visible) };
    },
  };
}

/** Its output may go to a file without asking, and then it matters who else is there. */
function redirects({ shell }: ActionPlan): boolean {
  return shell?.commands.some((command) => command.redirects.length > 0) ?? false;
}
