/** Finds the providers: from the environment that was handed in, changed and added to by the configuration. */
import { trimEndCharacters, truthy } from "../../core/kit/index.ts";
import type { ModelsConfig, ProviderConfig } from "./config.ts";

export type Api = "anthropic" | "openai-chat" | "openai-responses" | "google";

export interface Credential {
  /** Its name in logs and health; never the key. */
  name: string;
  key: string;
}

export interface Provider {
  name: string;
  api: Api;
  /** With the version path, without a slash at the end. */
  baseUrl: string;
  /** The plugin that answers, in place of a server at that address. */
  plugin?: string;
  /** The provider's own service: its own dialect may be used. */
  official: boolean;
  credentials: Credential[];
  models: NonNullable<ProviderConfig["models"]>;
  because: string;
}

export type ModelEnv = Readonly<Record<string, string | undefined>>;

interface BuiltIn {
  api: Api;
  url: string;
  keyEnv?: string;
  urlEnv?: string;
}

const BUILT_IN: Record<string, BuiltIn> = {
  anthropic: {
    api: "anthropic",
    url: "https://api.anthropic.com/v1",
    keyEnv: "ANTHROPIC_API_KEY",
    urlEnv: "ANTHROPIC_BASE_URL",
  },
  openai: {
    api: "openai-responses",
    url: "https://api.openai.com/v1",
    keyEnv: "OPENAI_API_KEY",
    urlEnv: "OPENAI_BASE_URL",
  },
  google: { api: "google", url: "https://generativelanguage.googleapis.com/v1beta", keyEnv: "GEMINI_API_KEY" },
  openrouter: { api: "openai-chat", url: "https://openrouter.ai/api/v1", keyEnv: "OPENROUTER_API_KEY" },
  ollama: { api: "openai-chat", url: "http://127.0.0.1:11434/v1", urlEnv: "OLLAMA_BASE_URL" },
};

/** Local servers ask for no key, the client libraries insist on one. */
export const NO_KEY: Credential = { name: "none", key: "none" };

/** Reachable providers, in the order their defaults are preferred. */
export function findProviders(config: ModelsConfig, env: ModelEnv): Map<string, Provider> {
  const found = new Map<string, Provider>();
  const names = new Set([...Object.keys(BUILT_IN), ...Object.keys(config.providers)]);
  for (const name of names) {
    const provider = findProvider(name, config.providers[name], env);
    if (provider) found.set(name, provider);
  }
  return found;
}

function findProvider(name: string, config: ProviderConfig | undefined, env: ModelEnv): Provider | undefined {
  const known = BUILT_IN[name];
  const envKey = known?.keyEnv ? env[known.keyEnv]?.trim() : undefined;
  const envUrl = known?.urlEnv ? env[known.urlEnv]?.trim() : undefined;
  if (!config && !envKey && !envUrl) return undefined;

  const plugin = config?.plugin;
  // Only its path is used: the connection goes to the plugin's socket.
  const given = plugin === undefined ? (config?.baseUrl ?? (envUrl || undefined)) : `http://${plugin}/v1`;
  // Local servers speak Chat Completions and rarely Responses.
  const ownApi = name === "openai" && given && !isHost(given, "api.openai.com") ? "openai-chat" : known?.api;
  const api = config?.api ?? ownApi ?? "openai-chat";
  const url = given ?? known?.url;
  if (!url) return undefined;
  const baseUrl = normaliseUrl(url, api);
  const official = known !== undefined && baseUrl === known.url;

  const credentials = findCredentials(config, envKey, known?.keyEnv);
  if (credentials.length === 0) {
    if (official && known.keyEnv) return undefined;
    credentials.push(NO_KEY);
  }
  const variable = envKey ? known?.keyEnv : known?.urlEnv;
  const because = config ? `configured under models.providers.${name}` : `${variable} is set`;
  return { name, api, baseUrl, official, credentials, models: config?.models ?? {}, because, ...truthy({ plugin }) };
}

function findCredentials(
  config: ProviderConfig | undefined,
  envKey: string | undefined,
  keyEnv: string | undefined,
): Credential[] {
  const named = [...(config?.keys ?? []).map((key, i) => ({ name: `key-${i + 1}`, key })), ...(config?.profiles ?? [])];
  return named.length > 0 || !envKey ? named : [{ name: keyEnv ?? "env", key: envKey }];
}

const VERSION_PATH: Record<Api, string> = {
  anthropic: "/v1",
  "openai-chat": "/v1",
  "openai-responses": "/v1",
  google: "/v1beta",
};

/**
 * Accepts a base URL with and without its version path. Anthropic's convention is without `/v1`, also behind a prefix
 * (`https://proxy/anthropic`); OpenAI's is with it, so there only an empty path is completed.
 */
export function normaliseUrl(url: string, api: Api): string {
  const parsed = new URL(url);
  const path = trimEndCharacters(parsed.pathname, "/");
  const version = VERSION_PATH[api];
  const hasVersion = /\/v\d+(beta|alpha)?$/.test(path);
  const completed = path === "" || (api === "anthropic" && !hasVersion) ? path + version : path;
  return `${parsed.protocol}//${parsed.host}${completed}`;
}

function isHost(url: string, host: string): boolean {
  return URL.canParse(url) && new URL(url).host === host;
}

/** What a person can choose from: the providers built in and those configured, set up or not. */
export interface ProviderView {
  name: string;
  builtIn: boolean;
  needsKey: boolean;
  ready: boolean;
  /** Where it was found; absent when it was not. */
  from?: "config" | "environment";
  api: Api;
  baseUrl?: string;
}

export function describeProviders(config: ModelsConfig, env: ModelEnv): ProviderView[] {
  const found = findProviders(config, env);
  const names = [...new Set([...Object.keys(BUILT_IN), ...Object.keys(config.providers)])];
  return names.map((name) => {
    const known = BUILT_IN[name];
    const provider = found.get(name);
    const baseUrl = provider?.plugin === undefined ? (provider?.baseUrl ?? known?.url) : undefined;
    return {
      name,
      builtIn: known !== undefined,
      needsKey: known?.keyEnv !== undefined,
      ready: provider !== undefined,
      api: provider?.api ?? config.providers[name]?.api ?? known?.api ?? "openai-chat",
      ...(provider ? { from: config.providers[name] ? ("config" as const) : ("environment" as const) } : {}),
      ...truthy({ baseUrl }),
    };
  });
}

/** Where a key for this provider is expected, for hints. */
export function keyHint(name: string): string {
  const known = BUILT_IN[name];
  if (known?.keyEnv) return `Set ${known.keyEnv}, or models.providers.${name}.keys in lares.yaml.`;
  if (known?.urlEnv) return `Set ${known.urlEnv}, or models.providers.${name}.baseUrl in lares.yaml.`;
  return `Describe it under models.providers.${name} in lares.yaml.`;
}
