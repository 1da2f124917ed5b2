/** Keys in a pasted definition belong into the vault, not into lares.yaml. Pure. */
import { beginsSecretReference, secretReference } from "../../../../core/domain/index.ts";
import { ownSecretName } from "../../../../core/kit/index.ts";
import type { ServerConfig } from "../config.ts";

export interface Hidden {
  config: ServerConfig;
  /** What goes into the vault, by the name that the definition refers to now. */
  secrets: { name: string; value: string }[];
}

export interface SecretSigns {
  /** Whether a key of that name holds a secret. */
  soundsSecret(key: string): boolean;
  /** Takes out of a text what looks like a secret. */
  redact(text: string): string;
}

/** Headers that no server takes a key in. Any other may hold one, under any name. */
const HARMLESS_HEADER = /^(?:accept(?:-.+)?|cache-control|content-type|origin|referer|user-agent|mcp-.+)$/i;
/** "true" or a region: the vault can't keep such short values out of other texts, and no key is that short. */
const SHORTEST_KEY = 6;

type TakeSecret = (key: string, value: string) => string;

/** A value that refers to something already (`vault:`, `${}`) stays. */
export function hideSecrets(server: string, config: ServerConfig, signs: SecretSigns): Hidden {
  const secrets: Hidden["secrets"] = [];
  const take: TakeSecret = (key, value) => secretReference(keepSecret(secrets, secretName(server, key), value));
  const looksSecret = (value: string) => signs.redact(value) !== value;
  const soundsSecret = (key: string) => signs.soundsSecret(key.replaceAll("-", "_"));
  const hide = (values: Readonly<Record<string, string>>, hideOne: (key: string, value: string) => string) =>
    Object.fromEntries(
      Object.entries(values).map(([key, value]) => [
        key,
        value === "" || isReference(value) ? value : hideOne(key, value),
      ]),
    );
  const env = hide(config.env, (key, value) => (soundsSecret(key) || looksSecret(value) ? take(key, value) : value));
  const headers = hide(config.headers, (key, value) => {
    const isSecret = soundsSecret(key) || looksSecret(value) || value.length >= SHORTEST_KEY;
    return isSecret && !HARMLESS_HEADER.test(key) ? hideInHeader(key, value, take) : value;
  });
  const args = hideInArguments(config.args, { soundsSecret, looksSecret, take });
  const url = config.url === undefined ? {} : { url: hideInAddress(config.url, { soundsSecret, looksSecret, take }) };
  return { config: { ...config, ...url, args, env, headers }, secrets };
}

/** The scheme stays: the key alone is what must not appear in other texts. */
function hideInHeader(key: string, value: string, take: TakeSecret): string {
  const [, scheme = "", rest = value] = /^((?:Bearer|Basic|Bot|Token)\s+)(\S+)$/i.exec(value) ?? [];
  return `${scheme}${take(key, rest)}`;
}

interface HidingSigns {
  soundsSecret(key: string): boolean;
  looksSecret(value: string): boolean;
  take: TakeSecret;
}

/** `?api_key=VALUE`; kept as it is written there, so that it comes back exactly so. */
function hideInAddress(url: string, { soundsSecret, looksSecret, take }: HidingSigns): string {
  return changeQuery(url, (key, value) => {
    if (value === "" || isReference(value)) return value;
    return soundsSecret(key) || looksSecret(`${key}=${value}`) ? take(key, value) : value;
  });
}

function changeQuery(url: string, change: (key: string, value: string) => string): string {
  const [whole = "", ...fragment] = url.split("#");
  const at = whole.indexOf("?") + 1;
  if (at === 0) return url;
  const pairs = whole.slice(at).split("&");
  const changed = pairs.map((pair) => {
    const [key = "", ...value] = pair.split("=");
    return value.length === 0 ? pair : `${key}=${change(key, value.join("="))}`;
  });
  return [whole.slice(0, at) + changed.join("&"), ...fragment].join("#");
}

/** `--api-key VALUE`, `--api-key=VALUE` and `-e API_KEY=VALUE`, as READMEs write them, and what looks like a key or has a password in it. */
function hideInArguments(args: readonly string[], { soundsSecret, looksSecret, take }: HidingSigns): string[] {
  return args.map((arg, i) => {
    if (isReference(arg)) return arg;
    const [, begin = "", key = "", value = ""] = /^(-{0,2}([A-Za-z][\w-]*)=)(.+)$/.exec(arg) ?? [];
    if (begin && isReference(value)) return arg;
    if (begin && (soundsSecret(key) || looksSecret(value))) return `${begin}${take(key, value)}`;
    const before = /^--?([A-Za-z][\w-]*)$/.exec(args[i - 1] ?? "")?.[1];
    const isValue = before !== undefined && soundsSecret(before) && !arg.startsWith("-");
    return isValue || looksSecret(arg) ? take(before ?? "ARGUMENT", arg) : arg;
  });
}

function isReference(value: string): boolean {
  return beginsSecretReference(value) || /\$\{|\Wvault:\w/.test(value);
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
  return ownSecretName("MCP", server, key);
}

/** Whether a secret was named by `secretName` for this server. */
export function isSecretOf(server: string, secret: string): boolean {
  const [one, other] = [secretName(server, "A"), secretName(server, "B")];
  // They differ where the key stands.
  const at = [...one].findIndex((letter, i) => letter !== other[i]);
  return secret.startsWith(one.slice(0, at)) && secret.endsWith(one.slice(at + 1));
}

type RevealSecret = (name: string) => string | undefined;

/**
 * The other way: what is behind `=vault:NAME` in an argument or variable, or `Bearer vault:NAME` in a header, as often as there is one. A
 * whole `vault:NAME` the settings resolve themselves.
 */
export function revealIn(text: string, reveal: RevealSecret): string {
  return text.replace(
    /(\W)vault:([A-Za-z_]\w*)/g,
    (_whole, before: string, name: string) => before + (reveal(name) ?? ""),
  );
}

/** The secrets that a value refers to, by name. */
export function secretsIn(text: string): string[] {
  return [...text.matchAll(/(?:^|\W)vault:([A-Za-z_]\w*)/g)].map(([, name]) => name!);
}

/** `?api_key=vault:NAME`, or in its path. */
export function revealInAddress(url: string, reveal: RevealSecret): string {
  return revealIn(url, reveal);
}
