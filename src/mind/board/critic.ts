/** Which model reviews what another one did. */
import type { Models } from "../../core/contracts/index.ts";
import type { BoardConfig } from "./config.ts";

/** The configured one, else one of another provider than the agent's; `isWanted`: else the agent's own. Never the practice model. */
export function chooseCritic(
  from: {
    models: Pick<Models, "info" | "primary" | "list">;
    config: () => Pick<BoardConfig, "critic">;
    agentModel: (agent: string) => string | undefined;
  },
  agent: string,
  isWanted: boolean,
): string | undefined {
  const { models } = from;
  const own = from.agentModel(agent) ?? models.primary().id;
  const other = () => models.list().find(({ id, practice }) => !practice && readProvider(id) !== readProvider(own))?.id;
  const chosen = from.config().critic ?? other() ?? (isWanted ? own : undefined);
  return chosen !== undefined && models.info(chosen)?.practice === false ? chosen : undefined;
}

function readProvider(id: string): string {
  return id.split("/", 1)[0]!;
}
