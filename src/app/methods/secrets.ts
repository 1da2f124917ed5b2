/** Handlers of `secrets.*`. Values go in and never come out; who gets them is a list in lares.yaml. */
import { type AgentId, asId, unknownAgent } from "../../core/domain/index.ts";
import { Granting, type Vault } from "../../ground/vault/index.ts";
import type { LaresSettings } from "../config.ts";
import type { Asks, Methods } from "./parts.ts";

export function makeSecretMethods(
  parts: Asks<"agents"> & { settings: LaresSettings; vault: Vault },
): Methods<"secrets"> {
  const { settings, vault } = parts;
  const granting = new Granting({
    vault,
    agents: () => settings.view.agents,
    // An empty list is removed from the file, which then reads as if nothing had ever been granted.
    give: (agent, secrets) =>
      settings.change([[["agents", agent, "secrets"], secrets.length ? [...secrets] : undefined]]),
    refersTo: (reference) => settings.refersTo(reference),
  });
  return {
    "secrets.list": () => granting.list(),
    async "secrets.set"({ name, value }) {
      const replaced = vault.get(name) !== undefined;
      await vault.set(name, value);
      return { name, replaced, where: vault.where() };
    },
    "secrets.remove": ({ name }) => granting.remove(name),
    async "secrets.grant"({ name, agent }) {
      // Checked here and not in the room: a grant in lares.yaml may come before its secret, a typed one is a typo.
      granting.mustExist(name);
      if (!parts.instance().agents.exists(asId<AgentId>(agent))) throw unknownAgent(agent);
      await granting.grant(name, agent);
      return { name, agents: granting.agentsWith(name) };
    },
    async "secrets.revoke"({ name, agent }) {
      await granting.revoke(name, agent);
      return { name, agents: granting.agentsWith(name) };
    },
    async "secrets.keyring"({ use }) {
      await vault.moveKey(use ? "keyring" : "file");
      return { where: vault.where() };
    },
  };
}
