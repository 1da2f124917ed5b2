/** Handlers of `a2a.*`. */
import type { Vault } from "../../ground/vault/index.ts";
import type { LaresSettings } from "../config.ts";
import type { Asks, Methods } from "./parts.ts";

export interface A2aMethodParts extends Asks<"a2a"> {
  settings: Pick<LaresSettings, "change" | "view">;
  vault: Pick<Vault, "set" | "remove">;
}

export function makeA2aMethods({ settings, vault, instance }: A2aMethodParts): Methods<"a2a"> {
  const manager = () =>
    instance().a2a.manage({
      known: () => settings.view.a2a.peers,
      vault,
      policies: () => settings.view,
      save: (edits) => settings.change(edits),
    });
  return {
    "a2a.list": async () => ({ peers: await manager().list() }),
    "a2a.add": (given) => manager().add(given),
    "a2a.test": ({ name }) => manager().test(name),
    "a2a.accept": async ({ name, digest }) => ({ accepted: await manager().accept(name, digest) }),
    "a2a.remove": ({ name }) => manager().remove(name),
  };
}
