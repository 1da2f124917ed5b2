/** What a turn thinks with: its context and compaction, memory, money, locks on what it changes, and checkpoints of it. */

import type { Worktrees } from "../../core/contracts/index.ts";
import { readTeamSession } from "../../core/domain/index.ts";
import { endRun, ON_DEMAND_TOOLS, RUN_TAG } from "../../edges/tools/index.ts";
import { GitWorktrees } from "../../edges/worktrees/index.ts";
import type { Checkpoints } from "../../flow/checkpoints/index.ts";
import { everydayCommands } from "../../flow/commands/index.ts";
import { findStart } from "../../flow/editor/index.ts";
import { stampFor } from "../../flow/inbox/index.ts";
import { Locks } from "../../flow/locks/index.ts";
import { sessionViews } from "../../flow/sessions/index.ts";
import { listDoors, openAmong, recentChats, recordUsage } from "../../flow/turns/index.ts";
import { makeReader } from "../../ground/config/index.ts";
import { Budget, BudgetedModel } from "../../mind/budget/index.ts";
import { Compactions, type ContextParts, Contexts, findPrompt, textTokens } from "../../mind/context/index.ts";
import { type MemoryRooms, takeSnapshot } from "../../mind/memory/index.ts";
import { callerPrompt, makePrompts, type PromptFiles } from "../../mind/prompt/index.ts";
import { findJobByRun } from "../../mind/schedule/index.ts";
import { describeTeam } from "../../mind/teams/index.ts";
import { makeCheckpoints } from "./checkpoints.ts";
import type { BuiltDelivery } from "./delivery.ts";
import type { Ground } from "./ground.ts";
import { buildMemory } from "./memory.ts";
import type { InstanceParts, LateParts } from "./parts.ts";
import type { Workshop } from "./workshop.ts";

export interface Mind {
  budget: Budget;
  /** Every model call is paid for here. */
  paid: BudgetedModel;
  contexts: Contexts;
  compactions: Compactions;
  memory: MemoryRooms<PromptFiles>;
  locks: Locks;
  checkpoints: Checkpoints;
  worktrees: Worktrees;
}

export async function buildMind(
  parts: InstanceParts,
  ground: Ground,
  workshop: Workshop,
  { approvals }: BuiltDelivery,
  late: LateParts,
): Promise<Mind> {
  const { config, models, clock, ids, crash, bus, log } = parts;
  const { records, engine, turnEnds, findZone, agentModel, findModel } = ground;
  const { agents, roots } = workshop;
  const snapshot: ContextParts["snapshot"] = (of) =>
    takeSnapshot(
      {
        memory: late.memory.get().memory,
        viewer: (session) => late.memory.get().viewer(session),
        keepsFiles: () => late.memory.get().keepsFiles(),
        prompt: (session) => findPrompt(records, session),
        tokens: textTokens,
      },
      of,
    );
  const contexts = new Contexts({
    records,
    clock,
    prompt: buildPrompts(parts, ground, workshop, late),
    snapshot,
    model: findModel,
    agentModel,
    sessions: sessionViews,
    config: makeReader(config, "context"),
    callerPrompt: async (agent) => callerPrompt(await agents.promptFiles(agent, { forOwner: false })),
  });
  const limits = { config: makeReader(config, "budgets"), mostOutput: makeReader(config, "models", "maxOutputTokens") };
  const budget = await Budget.open({ records, clock, model: findModel, recordUsage, ...limits });
  const paid = new BudgetedModel({ budget, models, clock, recordUsage });
  const compactions = new Compactions({
    contexts,
    records,
    models,
    paid,
    snapshot,
    clock,
    crash,
    bus,
    hooks: ground.eventHooks,
    sessions: sessionViews,
    accept: (m) => engine.accept(m),
    beforeCompaction: ({ session }) => late.memory.get().capture.flush(session),
    stamp: (session, at) => stampFor({ messages: records, findZone }, { session, at }),
    config: makeReader(config, "context"),
    log: log.child("context"),
  });
  const memory = late.memory.set(buildMemory(parts, ground, workshop, { paid, contexts, approvals }));
  const locks = await Locks.open({
    records,
    clock,
    config: makeReader(config, "locks"),
    log: log.child("locks"),
    openAmong: (turns) => openAmong(records, turns),
  });
  const checkpoints = makeCheckpoints({
    roots,
    records,
    clock,
    ids,
    crash,
    home: parts.home,
    agents,
    locks,
    turnEnds,
    config: makeReader(config, "checkpoints"),
    log: log.child("checkpoints"),
  });
  const worktrees = openWorktrees(parts, ground, locks);
  return { budget, paid, contexts, compactions, memory, locks, checkpoints, worktrees };
}

/** For runs of other runtimes, and for tasks. */
function openWorktrees({ home, clock, crash, log }: InstanceParts, { records }: Ground, locks: Locks): Worktrees {
  return new GitWorktrees({
    home,
    records,
    clock,
    crash,
    endRun,
    tag: RUN_TAG,
    log: log.child("worktrees"),
    alone: (name, { key, agent }, work) =>
      locks.aloneAs(name, { turn: key, call: "worktree", agent, tool: "worktree" }, work),
  });
}

/** A session's frozen prompt, from what is known in records, channels, sandbox and settings. */
function buildPrompts(parts: InstanceParts, ground: Ground, workshop: Workshop, late: LateParts) {
  const { config } = parts;
  const { records, findZone, findModel } = ground;
  const { agents, roots, sandbox, skills, tools } = workshop;
  const accounts = late.accounts.get;
  return makePrompts({
    zone: findZone,
    everydayCommands,
    doors: (session) => listDoors(records, session),
    recentChats: (agent) => recentChats(records, agent),
    findJobByRun: (session) => findJobByRun(records, session),
    roots: (agent) => roots.of(agent),
    start(agent, session) {
      const { workspace } = agents.place(agent);
      const { folder } = findStart(session, [workspace, ...roots.of(agent)]);
      return folder === undefined ? undefined : { folder, workspace, servers: workshop.mcp.brought.names(session) };
    },
    async files(agent, session) {
      const files = await late.memory.get().promptFiles(agent, session);
      const member = readTeamSession(session) && late.rooms.get().memberIn(session);
      return member ? { ...files, agents: `${files.agents}\n\n${describeTeam(member.team)}`.trim() } : files;
    },
    skills: (agent) => skills.section(agent),
    tools: (agent) => ({ specs: tools.specs(), found: ON_DEMAND_TOOLS, pinned: workshop.mcp.served.pinned(agent) }),
    window: (model) => findModel(model).contextWindow,
    agent: (agent) => ({
      name: config.agents[agent]?.name,
      family: config.agents[agent]?.family,
      mode: config.agents[agent]?.policy?.mode ?? config.policy.mode,
    }),
    account: (channel, of) => {
      const can = accounts().get(channel, of)?.can;
      return can && { can, policy: accounts().policy({ channel, account: of }) };
    },
    hasAccounts: () => accounts().size > 0,
    sandbox: async (agent) => {
      try {
        const room = await sandbox.room(agents.place(agent).workspace, { agent, session: "" });
        return { name: room.name, network: room.rules.network };
      } catch {
        // Talking needs no sandbox. Each command still says itself why it does not run.
        return { name: config.sandbox.backend, isDown: true };
      }
    },
  });
}
