/** Where agents work: their folders, the sandbox, background processes, skills, files and tools. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type AgentId, asId, isChildSession, type SessionKey } from "../../core/domain/index.ts";
import { type Confine, createParsers } from "../../edges/parsers/index.ts";
import { type OpenedPlugins, openPlugins } from "../../edges/plugins/index.ts";
import {
  CommandRuns,
  type Confinement,
  createConfinement,
  createTools,
  type FarWork,
  hasPrlimit,
  joinFarWork,
  listedHosts,
  listReadable,
  type OpenedHooks,
  type OpenedMcp,
  type OpenedPeers,
  openEventHooks,
  openMcp,
  openPeers,
  openRoots,
  ownDownloads,
  Processes,
  pluginFit,
  type Roots,
  type SkillPort,
  sandboxFor,
  skillFiles,
  type ToolRegistry,
  withLimits,
} from "../../edges/tools/index.ts";
import { Attachments } from "../../flow/attachments/index.ts";
import { exitEvent, peerEvent } from "../../flow/events/index.ts";
import { authorityIn } from "../../flow/inbox/index.ts";
import { countHops } from "../../flow/peers/index.ts";
import { AgentFolders, DEFAULT_AGENT } from "../../mind/agents/index.ts";
import { Skills } from "../../mind/skills/index.ts";
import { TeamFolders } from "../../mind/teams/index.ts";
import type { Ground } from "./ground.ts";
import type { InstanceParts, LateParts } from "./parts.ts";

export interface Workshop {
  agents: AgentFolders;
  /** Makes the folders that the named agents lack. */
  ensureAgents(named: object): void;
  attachments: Attachments;
  hookSources: OpenedHooks;
  a2a: OpenedPeers;
  far: FarWork;
  mcp: OpenedMcp;
  parsers: ReturnType<typeof createParsers>;
  plugins: OpenedPlugins["plugins"];
  processes: Processes;
  roots: Roots;
  runs: CommandRuns;
  sandbox: Confinement;
  skills: Skills;
  skillPort: SkillPort;
  teams: TeamFolders;
  tools: ToolRegistry;
}

/** A model request waits for it, and only the beginning is shown. */
const ATTACHED_PDF_MS = 10_000;

export function buildWorkshop(parts: InstanceParts, ground: Ground, late: LateParts): Workshop {
  const { home, config, clock, ids, crash, log } = parts;
  const { records, grants, whenStopped } = ground;
  const agents = new AgentFolders(home);
  const ensureAgents = (named: object) => {
    for (const name of Object.keys(named)) agents.ensure(asId<AgentId>(name));
  };
  ensureAgents({ [DEFAULT_AGENT]: {}, ...config.agents });
  const roots = openRoots(config, { home, userHome: homedir() });
  roots.check();
  const parsers = createParsers(confineParser);
  const attachments = new Attachments({
    home,
    records,
    clock,
    ids,
    log: log.child("attachments"),
    findWorkspace: (agent) => agents.place(agent).workspace,
    redact: parts.redact,
    readPdf: (bytes, mostChars, signal) => parsers.pdf(bytes, { mostChars, mostMs: ATTACHED_PDF_MS }, signal),
  });
  const processes = openProcesses(parts, records, late);
  const runs = new CommandRuns(join(home, "runs"), crash);
  const sandbox = createConfinement({
    config: (agent) => sandboxFor(config.sandbox, config.agents, agent),
    above: async (session) => (isChildSession(session) ? late.children.get().ancestors(session) : []),
    home,
    userHome: homedir(),
    listRoots: (agent) => roots.of(agent),
    listReads: (agent) => listReadable(config, agent, homedir()),
  });
  const { plugins, programs } = openPlugins({
    home,
    clock,
    ids,
    crash,
    fit: pluginFit,
    web: ownDownloads,
    log: log.child("plugins"),
    vault: parts.vault,
    config: () => config.plugins,
    takenServers: () => Object.keys(config.mcp.servers),
    judge: (...asked) => ground.eventHooks.ask("install.staged", ...asked),
    servers: () => mcp.servers,
  });
  const skills = openSkills(home, config, { agents, plugins });
  const skillPort: SkillPort = {
    open: (agent, name) => skills.get(agent, name),
    words: async (agent, name) => skills.words(await skills.get(agent, name)),
    search: (agent, query) => skills.search(agent, query),
  };
  const tools = createTools({
    read: {
      pdf: (bytes, signal) => parsers.pdf(bytes, {}, signal),
      skills: skillPort,
      keepPicture: ({ name, bytes, caller }) => attachments.keepPicture(caller.session as SessionKey, { name, bytes }),
    },
    exec: { sandbox, processes, runs, secrets: (agent) => grants.environmentFor(agent).env },
  });
  const hookSources = buildHookSources(parts, ground, { agents, roots, runs, sandbox });
  const mcp = openServers(parts, ground, { agents, attachments, sandbox, programs });
  const a2a = openAgents(parts, records, late);
  const far = joinFarWork([a2a.hires, mcp.tasks]);
  whenStopped.push((turn) => far.drop(turn));
  const teams = new TeamFolders({ home, templates: findTemplates(), clock, crash, agents }, late.rooms.get);
  const made = { agents, ensureAgents, attachments, hookSources, mcp, parsers, plugins };
  return { ...made, a2a, far, processes, roots, runs, sandbox, skills, skillPort, teams, tools };
}

/** Ready-made teams, beside the built program, or where they lie when the sources run. */
function findTemplates(): string {
  const beside = fileURLToPath(new URL("../templates/teams", import.meta.url));
  return existsSync(beside) ? beside : fileURLToPath(new URL("../../../templates/teams", import.meta.url));
}

function openServers(
  parts: InstanceParts,
  { records, engine }: Ground,
  of: Pick<Workshop, "agents" | "attachments" | "sandbox"> & Pick<OpenedPlugins, "programs">,
): OpenedMcp {
  const { home, config, clock, ids, crash, log, vault, version, redact, bus } = parts;
  return openMcp({
    home,
    userHome: homedir(),
    records,
    clock,
    crash,
    ids,
    redact,
    vault,
    version,
    sandbox: of.sandbox,
    log: log.child("mcp"),
    plugins: of.programs,
    config: () => config.mcp,
    gatewayPort: () => parts.doors.now().ports[0],
    isListed: (...asked) => listedHosts(config.web.privateHosts)(...asked),
    lists: (agent) => config.agents[agent]?.mcp ?? { deny: [] },
    workspaces: () => listWorkspaces(of.agents),
    keepPicture: (session, picture) => of.attachments.keepPicture(asId<SessionKey>(session), picture),
    wake: (turn, event) => engine.resume(turn, { ...event, value: null }),
    progress: (said) => bus.emit({ event: "tool.progress", ...said }),
  });
}

/** Agents of others that these agents may ask. */
function openAgents(parts: InstanceParts, records: Ground["records"], late: LateParts): OpenedPeers {
  const { config, clock, crash, log } = parts;
  return openPeers({
    records,
    clock,
    crash,
    log: log.child("a2a"),
    config: () => config.a2a.peers,
    maxHops: () => config.a2a.maxHops,
    hops: (session) => countHops(records, session),
    tell: (key, event, also) =>
      late.events.get().tell(peerEvent(key, { ...event, body: parts.redact(event.body) }), also),
  });
}

function openProcesses(parts: InstanceParts, records: Ground["records"], late: LateParts): Processes {
  const { home, clock, ids, log } = parts;
  return new Processes({
    records,
    clock,
    ids,
    log: log.child("process"),
    dir: join(home, "processes"),
    tell: async (exit) => {
      const authority = await authorityIn(records, asId<SessionKey>(exit.session));
      await late.events.get().tell(exitEvent({ ...exit, body: parts.redact(exit.body) }, authority));
    },
  });
}

function openSkills(
  home: string,
  config: InstanceParts["config"],
  { agents, plugins }: Pick<Workshop, "agents" | "plugins">,
): Skills {
  return new Skills({
    home,
    files: skillFiles(),
    platform: process.platform,
    plugins: () => plugins.skillFolders(),
    agentDir: (agent) => agents.place(asId<AgentId>(agent)).agentDir,
    config: (agent) => {
      const own = config.agents[agent]?.skills?.disabled ?? [];
      const { disabled, allowed, trusted, promptTokens } = config.skills;
      return { disabled: [...disabled, ...own], allowed: [...allowed], trusted: [...trusted], promptTokens };
    },
  });
}

function listWorkspaces(agents: AgentFolders): string[] {
  return agents.names().map((agent) => agents.place(asId<AgentId>(agent)).workspace);
}

function buildHookSources(
  { home, config, clock, ids, log }: InstanceParts,
  ground: Ground,
  { agents, roots, runs, sandbox }: Pick<Workshop, "agents" | "roots" | "runs" | "sandbox">,
): OpenedHooks {
  return openEventHooks({
    home,
    userHome: homedir(),
    clock,
    ids,
    sandbox,
    runs,
    log: log.child("hooks"),
    registry: ground.eventHooks,
    config: () => config.eventHooks,
    workspace: (agent) => agents.place(asId<AgentId>(agent)).workspace,
    writable: () => [...listWorkspaces(agents), ...agents.names().flatMap((agent) => roots.of(agent))],
  });
}

/** A parser under the same kernel limits as commands: it writes no files and starts nothing. */
const confineParser: Confine = (argv, memoryMb) =>
  hasPrlimit() ? withLimits(argv, { memoryMb, processes: 1, tmpMb: 0, fileMb: 0 }, { apart: false }) : undefined;
