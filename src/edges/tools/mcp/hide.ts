/** Keys in a pasted definition belong into the vault, not into lares.yaml. Pure. */
import { beginsSecretReference, secretReference } from "../../../core/domain/index.ts";
import type { ServerConfig } from "./config.ts";

export interface Hidden {
  config: ServerConfig;
  /** What goes into the vault, by the name that the definition refers to now. */
  secrets: { name: string; value: string }[];
}

/** `soundsSecret`: whether a key of that name holds a secret. A value that refers to something already (`vault:`, `${}`) stays. */
export function hideSecrets(server: string, config: ServerConfig, soundsSecret: (key: string) => boolean): Hidden {
  const secrets: Hidden["secrets"] = [];
  const hide = (values: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(values).map(([key, value]) => {
        if (value === "" || !soundsSecret(key) || beginsSecretReference(value) || value.includes("${"))
          return [key, value];
        const name = secretName(server, key);
        secrets.push({ name, value });
        return [key, secretReference(name)];
      }),
    );
  return { config: { ...config, env: hide(config.env), headers: hide(config.headers) }, secrets };
}

/** Of a server's own secrets in the vault. */
export function secretName(server: string, key: string): string {
  return `MCP_${server}_${key}`.toUpperCase().replace(/[^A-Z0-9]/g, "_");
}
