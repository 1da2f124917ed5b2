/** Handlers of `secrets.*`. Values go in and never come out; who gets them is a list in lares.yaml. */

import { type AgentId, AppError, asId, unknownAgent } from "../../core/domain/index.ts";
import type { Handlers } from "../../faces/gateway/index.ts";
import type { Vault } from "../../ground/vault/index.ts";
import type { LaresSettings } from "../config.ts";
import type { Asks } from "./parts.ts";

type Methods = Pick<Handlers, `secrets.${string}` & keyof Handlers>;

export function makeSecretMethods(parts: Asks<"agents"> & { settings: LaresSettings; vault: Vault }): Methods {
  const { settings, vault } = parts;
  const granted = () => Object.entries(settings.view.agents).map(([agent, { secrets }]) => [agent, secrets] as const);
  const agentsOf = (name: string) => granted().flatMap(([agent, secrets]) => (secrets.includes(name) ? [agent] : []));
  const secretsOf = (agent: string) => settings.view.agents[agent]?.secrets ?? [];
  const give = (agent: string, secrets: readonly string[]) =>
    settings.change([[["agents", agent, "secrets"], secrets.length ? [...secrets] : undefined]]);
  const mustExist = (name: string) => {
    if (vault.get(name)) return;
    throw new AppError("NOT_FOUND", {
      message: `There is no secret "${name}" in the vault.`,
      hint: "Put it there: lares secrets set NAME. See them: lares secrets list",
    });
  };

  return {
    async "secrets.list"() {
      await vault.refresh();
      const known = vault.list();
      const names = new Set(known.map((one) => one.name));
      const missing = [...new Set(granted().flatMap(([, secrets]) => secrets))].filter((name) => !names.has(name));
      return {
        secrets: known.map((one) => ({ ...one, agents: agentsOf(one.name) })),
        missing: missing.map((name) => ({ name, agents: agentsOf(name) })),
        where: vault.where(),
      };
    },
    async "secrets.set"({ name, value }) {
      const replaced = vault.get(name) !== undefined;
      await vault.set(name, value);
      return { name, replaced, where: vault.where() };
    },
    async "secrets.remove"({ name }) {
      if (await settings.refersTo(`vault:${name}`)) {
        throw new AppError("CONFLICT", {
          message: `lares.yaml refers to vault:${name}: a model or a channel uses it.`,
          hint: "Remove that channel or provider first, or give the secret another value: lares secrets set NAME",
        });
      }
      const agents = agentsOf(name);
      for (const agent of agents)
        await give(
          agent,
          secretsOf(agent).filter((one) => one !== name),
        );
      return { removed: await vault.remove(name), agents };
    },
    async "secrets.grant"({ name, agent }) {
      mustExist(name);
      if (!parts.instance().agents.exists(asId<AgentId>(agent))) throw unknownAgent(agent);
      if (!secretsOf(agent).includes(name)) await give(agent, [...secretsOf(agent), name]);
      return { name, agents: agentsOf(name) };
    },
    async "secrets.revoke"({ name, agent }) {
      if (secretsOf(agent).includes(name))
        await give(
          agent,
          secretsOf(agent).filter((one) => one !== name),
        );
      return { name, agents: agentsOf(name) };
    },
    async "secrets.keyring"({ use }) {
      await vault.moveKey(use ? "keyring" : "file");
      return { where: vault.where() };
    },
  };
}
