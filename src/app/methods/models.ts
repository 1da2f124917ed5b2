/** Handlers of `models.*`. */
import type { Models } from "../../core/contracts/index.ts";
import type { ProviderSetup } from "../../edges/models/index.ts";
import type { Methods } from "./parts.ts";

export interface ModelMethodParts {
  models: Pick<Models, "list" | "primary">;
  /** Changes lares.yaml and the vault, and makes real requests to providers. */
  providers: ProviderSetup;
}

export function makeModelMethods({ models, providers }: ModelMethodParts): Methods<"models"> {
  return {
    "models.list": async () => ({ models: models.list(), primary: models.primary().id }),
    "models.providers": async () => providers.list(),
    "models.test": (given) => providers.test(given),
    "models.connect": (given) => providers.connect(given),
    "models.disconnect": ({ provider }) => providers.disconnect(provider),
  };
}
