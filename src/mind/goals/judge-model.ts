/** Which model judges whether a goal is reached. */
import type { Models } from "../../core/contracts/index.ts";
import type { GoalsConfig } from "./config.ts";

/** The configured one, else the agent's, else the first choice; undefined for the practice model, which can't judge. */
export function chooseJudge(
  from: {
    models: Pick<Models, "info" | "primary">;
    config: () => Pick<GoalsConfig, "judge">;
    agentModel: (agent: string) => string | undefined;
  },
  agent: string,
): string | undefined {
  const { models } = from;
  const chosen = from.config().judge ?? from.agentModel(agent) ?? models.primary().id;
  return models.info(chosen)?.practice === false ? chosen : undefined;
}
