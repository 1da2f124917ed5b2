/** Handlers of `models.*`. */
import type { Models } from "../../core/contracts/index.ts";
import type { ProviderSetup } from "../../edges/models/index.ts";
import type { Handlers } from "../../faces/gateway/index.ts";

type Methods = Pick<Handlers, `models.${string}` & keyof Handlers>;

export interface ModelMethodParts {
  models: Pick<Models, "list" | "primary">;
  providers: ProviderSetup;
}

export function makeModelMethods({ models, providers }: ModelMethodParts): Methods {
  return {
    "models.list": async () => ({ models: models.list(), primary: models.primary().id }),
    "models.providers": async () => providers.list(),
    "models.test": (given) => providers.test(given),
    "models.connect": (given) => providers.connect(given),
    "models.disconnect": ({ provider }) => providers.disconnect(provider),
  };
}
