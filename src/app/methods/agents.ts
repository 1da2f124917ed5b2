/** Handlers of `agents.*`. */
import { type AgentId, asId, unknownAgent } from "../../core/domain/index.ts";
import type { Result } from "../../core/protocol/index.ts";
import { sessionsPerAgent } from "../../flow/sessions/index.ts";
import type { Asks, MethodParts, Methods } from "./parts.ts";

export function makeAgentMethods(parts: Asks<"agents" | "records"> & Pick<MethodParts, "config">): Methods<"agents"> {
  const { config, instance } = parts;
  const committed = () => instance().records.committed;

  // The settings name only agents that differ from the defaults, so most agents have no entry there.
  const agentInfo = (agent: string, sessions: Map<string, number>): Result<"agents.get"> => {
    const own = Object.hasOwn(config.agents, agent) ? config.agents[agent] : undefined;
    return {
      agent,
      isDefault: agent === config.routing.defaultAgent,
      policy: own?.policy?.mode ?? config.policy.mode,
      sessions: sessions.get(agent) ?? 0,
      files: instance().agents.files(asId<AgentId>(agent)),
      ...(own?.model ? { model: own.model } : {}),
    };
  };
  const knownAgent = (agent: string): AgentId => {
    const id = asId<AgentId>(agent);
    if (instance().agents.exists(id)) return id;
    throw unknownAgent(agent, instance().agents.names());
  };

  return {
    async "agents.list"() {
      const sessions = await sessionsPerAgent(committed());
      return {
        agents: instance()
          .agents.names()
          .map((name) => agentInfo(name, sessions)),
      };
    },
    "agents.get": async ({ agent }) => agentInfo(knownAgent(agent), await sessionsPerAgent(committed())),
    // Settings for it may exist already: the folder is what makes an agent.
    async "agents.create"({ agent, soul }) {
      await instance().agents.create(asId<AgentId>(agent), soul);
      return agentInfo(agent, new Map());
    },
    async "agents.files.get"({ agent, file }) {
      return { agent, file, ...(await instance().agents.readFile(knownAgent(agent), file)) };
    },
    // `version` is the text the editor began with; a file changed since then is a conflict, not overwritten.
    async "agents.files.set"({ agent, file, text, version }) {
      const written = await instance().agents.writeFile(knownAgent(agent), file, text, version);
      return { agent, file, version: written.version };
    },
  };
}
