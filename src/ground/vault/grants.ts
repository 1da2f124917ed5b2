/** Who gets which secret. A command of an agent sees those the config grants that agent, and no others. */
import { z } from "zod";
import { AppError, readSecretReference } from "../../core/domain/index.ts";
import type { Secret } from "./secret.ts";
import { isSecretName, type Vault } from "./vault.ts";

/** The slice `agents.<id>.secrets`. */
export const grantsConfig = z
  .array(z.string().refine(isSecretName, "not the name of a secret"))
  .default([])
  .describe("Secrets of the vault this agent's commands get as variables of the same name. Example: [GITHUB_TOKEN]");

export interface Granted {
  /** Variables for a command; reveal them when it is started, not before. */
  env: Readonly<Record<string, Secret>>;
  /** Granted, but not in the vault. */
  missing: readonly string[];
}

/** `table` is the config's word on each agent. */
export function makeGrants(vault: Pick<Vault, "get">, table: (agent: string) => readonly string[]) {
  return {
    environmentFor(agent: string): Granted {
      const env: Record<string, Secret> = {};
      const missing: string[] = [];
      for (const name of table(agent)) {
        const secret = vault.get(name);
        if (secret) env[name] = secret;
        else missing.push(name);
      }
      return { env, missing };
    },
  };
}

/** `vault:NAME` as the whole of a config value becomes the secret; any other text stays. Throws CONFIG_INVALID when there is none. */
export function makeResolver(vault: Pick<Vault, "get">): (text: string) => string {
  return function resolveVault(text) {
    const name = readSecretReference(text);
    if (name === undefined) return text;
    const secret = vault.get(name);
    if (secret) return secret.reveal();
    throw new AppError("CONFIG_INVALID", {
      message: `The config refers to the secret "${name}", which is not in the vault.`,
      hint: `Put it there: lares secrets set ${isSecretName(name) ? name : "NAME"}`,
      retry: "after-change",
    });
  };
}
