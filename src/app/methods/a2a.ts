/** Handlers of `a2a.*`. */
import type { Vault } from "../../ground/vault/index.ts";
import type { LaresSettings } from "../config.ts";
import type { Asks, Methods } from "./parts.ts";

export interface A2aMethodParts extends Asks<"a2a"> {
  settings: Pick<LaresSettings, "change" | "view">;
  vault: Pick<Vault, "set">;
}

export function makeA2aMethods({ settings, vault, instance }: A2aMethodParts): Methods<"a2a"> {
  const manager = () =>
    instance().a2a.manage({
      known: () => settings.view.a2a.peers,
      putSecret: (secret, value) => vault.set(secret, value),
      save: (peer, definition) => settings.change([[["a2a", "peers", peer], definition]]),
    });
  return {
    "a2a.list": async () => ({ peers: await manager().list() }),
    "a2a.add": (given) => manager().add(given),
    "a2a.test": ({ name }) => manager().test(name),
    "a2a.accept": async ({ name, digest }) => ({ accepted: await manager().accept(name, digest) }),
    "a2a.remove": async ({ name }) => ({ removed: await manager().remove(name) }),
  };
}
