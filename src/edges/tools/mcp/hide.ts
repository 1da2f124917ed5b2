/** Keys in a pasted definition belong into the vault, not into lares.yaml. Pure. */
import { beginsSecretReference, readSecretReference, secretReference } from "../../../core/domain/index.ts";
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
  const take = (key: string, value: string) => secretReference(keepSecret(secrets, secretName(server, key), value));
  const args = hideInArguments(config.args, soundsSecret, take);
  return { config: { ...config, args, env: hide(config.env), headers: hide(config.headers) }, secrets };
}

/** `--api-key VALUE`, `--api-key=VALUE` and `-e API_KEY=VALUE`, as READMEs write them. */
function hideInArguments(
  args: readonly string[],
  soundsSecret: (key: string) => boolean,
  take: (key: string, value: string) => string,
): string[] {
  const isKey = (name: string) => soundsSecret(name.replaceAll("-", "_"));
  return args.map((arg, i) => {
    const given = /^(-{0,2}([A-Za-z][\w-]*)=)(.+)$/.exec(arg);
    if (given && isKey(given[2]!) && !isReference(given[3]!)) return `${given[1]}${take(given[2]!, given[3]!)}`;
    const before = /^--?([A-Za-z][\w-]*)$/.exec(args[i - 1] ?? "")?.[1];
    const isValue = before !== undefined && isKey(before) && !arg.startsWith("-") && !isReference(arg);
    return isValue ? take(before, arg) : arg;
  });
}

function isReference(value: string): boolean {
  return beginsSecretReference(value) || value.includes("${");
}

/** Another value of the same name gets another name. */
function keepSecret(secrets: Hidden["secrets"], name: string, value: string): string {
  const clash = secrets.some((one) => one.name === name && one.value !== value);
  const free = clash ? `${name}_${secrets.length + 1}` : name;
  secrets.push({ name: free, value });
  return free;
}

/** Of a server's own secrets in the vault. */
export function secretName(server: string, key: string): string {
  return `MCP_${server}_${key}`.toUpperCase().replace(/[^A-Z0-9]/g, "_");
}

/** The other way: what is behind `=vault:NAME` at the end of an argument. A whole `vault:NAME` the settings resolve themselves. */
export function revealIn(argument: string, reveal: (name: string) => string | undefined): string {
  const at = argument.indexOf("=") + 1;
  const name = at > 0 ? readSecretReference(argument.slice(at)) : undefined;
  return name === undefined ? argument : `${argument.slice(0, at)}${reveal(name) ?? ""}`;
}
