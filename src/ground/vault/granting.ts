/** Secrets and the agents whose commands get them: values in the vault, the lists in lares.yaml. */
import { AppError, secretReference } from "../../core/domain/index.ts";
import type { Vault } from "./vault.ts";

export interface GrantingParts {
  vault: Vault;
  /** The agents as they are set now. */
  agents: () => Readonly<Record<string, { secrets: readonly string[] }>>;
  /** Writes an agent's list into lares.yaml; an empty one goes. */
  give: (agent: string, secrets: readonly string[]) => Promise<unknown>;
  /** Whether lares.yaml refers to it as a whole value. */
  refersTo: (reference: string) => Promise<boolean>;
}

export class Granting {
  private readonly parts: GrantingParts;

  constructor(parts: GrantingParts) {
    this.parts = parts;
  }

  /** Names and who gets them, never a value. `missing`: granted, but not there. */
  async list() {
    const { vault } = this.parts;
    await vault.refresh();
    const known = vault.list();
    const names = new Set(known.map((one) => one.name));
    const granted = new Set(Object.values(this.parts.agents()).flatMap(({ secrets }) => secrets));
    return {
      secrets: known.map((one) => ({ ...one, agents: this.agentsWith(one.name) })),
      missing: [...granted].filter((name) => !names.has(name)).map((name) => ({ name, agents: this.agentsWith(name) })),
      where: vault.where(),
    };
  }

  agentsWith(name: string): string[] {
    return Object.entries(this.parts.agents()).flatMap(([agent, { secrets }]) =>
      secrets.includes(name) ? [agent] : [],
    );
  }

  /** From the vault and from every list. Throws CONFLICT while a model or a channel uses it. */
  async remove(name: string): Promise<{ removed: boolean; agents: string[] }> {
    if (await this.parts.refersTo(secretReference(name))) {
      throw new AppError("CONFLICT", {
        message: `lares.yaml refers to vault:${name}: a model or a channel uses it.`,
        hint: "Remove that channel or provider first, or give the secret another value: lares secrets set NAME",
      });
    }
    const agents = this.agentsWith(name);
    for (const agent of agents) await this.revoke(name, agent);
    return { removed: await this.parts.vault.remove(name), agents };
  }

  async grant(name: string, agent: string): Promise<void> {
    const has = this.listSecrets(agent);
    if (!has.includes(name)) await this.parts.give(agent, [...has, name]);
  }

  async revoke(name: string, agent: string): Promise<void> {
    const has = this.listSecrets(agent);
    if (!has.includes(name)) return;
    await this.parts.give(
      agent,
      has.filter((one) => one !== name),
    );
  }

  /** Throws NOT_FOUND for a name that is not in the vault. */
  mustExist(name: string): void {
    if (this.parts.vault.get(name)) return;
    throw new AppError("NOT_FOUND", {
      message: `There is no secret "${name}" in the vault.`,
      hint: "Put it there: lares secrets set NAME. See them: lares secrets list",
    });
  }

  private listSecrets(agent: string): readonly string[] {
    return this.parts.agents()[agent]?.secrets ?? [];
  }
}
