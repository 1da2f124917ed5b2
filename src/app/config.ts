/** Joins the rooms' slices of the configuration. A new key is declared in its room and named here. */
import { z } from "zod";
import type { AdviceContext, ConfigAdvice } from "../core/contracts/index.ts";
import { channelAdvice, channelsConfig, limitsShape, whyUnreachable } from "../edges/channels/index.ts";
import { embedderAdvice, embedderConfig } from "../edges/embedder/index.ts";
import { hooksConfig } from "../edges/hooks/index.ts";
import { modelAdvice, modelsConfig } from "../edges/models/index.ts";
import { advisePlugins, listPluginServers, pluginsConfig } from "../edges/plugins/index.ts";
import { agentRuntimeConfig, runtimeAdvice, runtimesConfig } from "../edges/runtimes/index.ts";
import {
  adviseTools,
  agentMcpConfig,
  agentSandboxConfig,
  eventHooksConfig,
  mcpConfig,
  misfit,
  peersConfig,
  rootsConfig,
  SHELL_WORDS,
  sandboxConfig,
  TOOL_NAMES,
  webConfig,
} from "../edges/tools/index.ts";
import { watchConfig } from "../edges/watch/index.ts";
import { repositoryConfig } from "../edges/worktrees/index.ts";
import { gatewayAdvice, gatewayConfig } from "../faces/gateway/index.ts";
import { agentExpiryConfig, approvalsAdvice, approvalsConfig } from "../flow/approvals/index.ts";
import { checkpointsConfig } from "../flow/checkpoints/index.ts";
import { adviseRules, agentPolicyConfig, policyConfig } from "../flow/gate/index.ts";
import { inboxConfig } from "../flow/inbox/index.ts";
import { locksConfig } from "../flow/locks/index.ts";
import { outboxConfig } from "../flow/outbox/index.ts";
import { a2aConfig } from "../flow/peers/index.ts";
import { retentionConfig } from "../flow/sessions/index.ts";
import { limitsConfig } from "../flow/turns/index.ts";
import { backupConfig } from "../ground/backup/index.ts";
import { adviseBy, type Config, defineConfig, type Settings } from "../ground/config/index.ts";
import { lanesConfig } from "../ground/engine/index.ts";
import { grantsConfig } from "../ground/vault/index.ts";
import { agentAdvice, isAgent } from "../mind/agents/index.ts";
import { boardConfig } from "../mind/board/index.ts";
import { budgetsConfig } from "../mind/budget/index.ts";
import { contextConfig } from "../mind/context/index.ts";
import { goalsConfig } from "../mind/goals/index.ts";
import { heartbeatConfig } from "../mind/heartbeat/index.ts";
import { memoryConfig } from "../mind/memory/index.ts";
import { familyConfig } from "../mind/prompt/index.ts";
import { adviseSchedules, rhythmAdvice, schedulesConfig, timeConfig } from "../mind/schedule/index.ts";
import { agentSkillsConfig, skillsConfig } from "../mind/skills/index.ts";
import { teamsConfig } from "../mind/sub-agents/index.ts";

const agentConfig = z
  .strictObject({
    name: z.string().min(1).max(40).optional().describe("What people call it. Example: Vesta"),
    model: z.string().optional().describe("provider/model this agent uses."),
    runtime: agentRuntimeConfig,
    repository: repositoryConfig,
    family: familyConfig,
    messages: z.strictObject(limitsShape).optional().describe("How much this agent takes through channels."),
    policy: agentPolicyConfig.optional(),
    expireAfterHours: agentExpiryConfig,
    secrets: grantsConfig,
    roots: rootsConfig,
    sandbox: agentSandboxConfig,
    heartbeat: heartbeatConfig.optional(),
    skills: agentSkillsConfig.optional(),
    mcp: agentMcpConfig.optional(),
  })
  .describe("One agent; its words are in the files of its folder.");

export const schema = defineConfig(
  {
    gateway: gatewayConfig,
    models: modelsConfig,
    routing: inboxConfig,
    policy: policyConfig,
    sandbox: sandboxConfig,
    approvals: approvalsConfig,
    checkpoints: checkpointsConfig,
    outbox: outboxConfig,
    limits: limitsConfig,
    budgets: budgetsConfig,
    locks: locksConfig,
    context: contextConfig,
    time: timeConfig,
    teams: teamsConfig,
    web: webConfig.prefault({}),
    mcp: mcpConfig.prefault({}),
    plugins: pluginsConfig,
    runtimes: runtimesConfig,
    a2a: a2aConfig.extend({ peers: peersConfig }).prefault({}),
    memory: memoryConfig.extend({ embedder: embedderConfig.prefault({}) }).prefault({}),
    skills: skillsConfig.prefault({}),
    schedules: schedulesConfig,
    hooks: hooksConfig,
    eventHooks: eventHooksConfig.prefault({}),
    watch: watchConfig,
    goals: goalsConfig,
    board: boardConfig,
    lanes: lanesConfig,
    retention: retentionConfig,
    backup: backupConfig,
    agents: z
      .record(z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, "made of a-z, 0-9 and -"), agentConfig)
      .default({})
      .describe("Agents by name. Each has a folder agents/<name> in the home."),
    channels: channelsConfig,
  },
  {
    // Read once: the address is bound and the lanes are built when the program starts.
    gateway: "restart",
    "gateway.http": "live",
    lanes: "restart",
    models: "live",
    routing: "live",
    policy: "live",
    sandbox: "live",
    approvals: "live",
    checkpoints: "live",
    outbox: "live",
    limits: "live",
    budgets: "live",
    locks: "live",
    context: "live",
    // Part of what a conversation is frozen with: the prompt and the list of tools.
    "context.snapshotTokens": "session",
    "web.search": "session",
    skills: "session",
    "agents.*.name": "session",
    "agents.*.family": "session",
    "agents.*.skills": "session",
    "memory.files": "session",
    web: "live",
    mcp: "live",
    plugins: "live",
    runtimes: "live",
    a2a: "live",
    time: "live",
    teams: "live",
    memory: "live",
    schedules: "live",
    hooks: "live",
    eventHooks: "live",
    watch: "live",
    goals: "live",
    board: "live",
    retention: "live",
    backup: "live",
    agents: "live",
    channels: "live",
  },
  advise,
);

export type LaresConfig = Config<typeof schema>;
export type LaresSettings = Settings<typeof schema>;

/** Typed by the slices it looks at: the joined type is made of this function's schema. */
async function advise(at: AdviceContext): Promise<ConfigAdvice[]> {
  const others = { ...adviseTools(listPluginServers), ...advisePlugins(misfit) };
  const some = { ...modelAdvice, ...runtimeAdvice, ...others, ...channelAdvice, ...embedderAdvice, ...approvalsAdvice };
  const table = { ...some, ...agentAdvice, ...rhythmAdvice, ...gatewayAdvice, ...adviseRules(TOOL_NAMES, SHELL_WORDS) };
  return [...adviseJobs(at).map((one) => ({ path: "schedules", ...one })), ...(await adviseBy(table, at))];
}

function adviseJobs(at: AdviceContext): ReturnType<typeof adviseSchedules> {
  const schedules = at.config.schedules as z.output<typeof schedulesConfig>;
  // Most have none, and asking for the machine's zone is slow the first time.
  if (schedules.length === 0) return [];
  const { zone = Intl.DateTimeFormat().resolvedOptions().timeZone } = at.config.time as z.output<typeof timeConfig>;
  const accounts = at.config.channels as z.output<typeof channelsConfig>;
  return adviseSchedules(schedules, {
    now: at.now,
    zone,
    others: at.jobs,
    isAgent: (agent) => isAgent(agent, at),
    whyUnreachable: (route) => whyUnreachable(accounts, route),
  });
}
