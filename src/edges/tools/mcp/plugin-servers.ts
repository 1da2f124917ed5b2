/** Servers that plugins bring: defined by their folders, confined to what the owner granted them. */
import { defined } from "../../../core/kit/index.ts";
import { misfit } from "./call/arguments.ts";
import { type ServerConfig, serverConfig } from "./config.ts";
import { type PluginConfinement, whyNoProgram, whyNotGranted } from "./connect/launch.ts";

/** Whether a plugin could be used here, as far as that is known without starting it. */
export const pluginFit = { misfit, whyNoProgram, whyNotGranted };

/** A program, or an address elsewhere. */
export interface PluginServerDefinition {
  name: string;
  command?: string;
  args?: readonly string[];
  env?: Readonly<Record<string, string>>;
  cwd?: string;
  url?: string;
  headers?: Readonly<Record<string, string>>;
  /** Variables that Lares itself sets, beside `env`. */
  settings?: Readonly<Record<string, string>>;
  /** The tools it may offer; any when absent. */
  allow?: readonly string[];
}

export interface PluginServerPort {
  /** Those in use, by the names they have among all servers. */
  list(): readonly PluginServerDefinition[];
  has(server: string): boolean;
  /** Whether people may type this prompt of a server as a command. */
  mayPrompt(server: string, prompt: string): boolean;
  /** A program of a plugin is about to start: what it may use. Undefined for any other server. Throws when it may not be started. */
  start(server: string): Promise<PluginConfinement | undefined>;
  /** Servers of plugins that are on and can't be used: a sentence for agents, and one for the owner. */
  missing(): readonly { server: string; why: string; inFull: string }[];
  /** It couldn't be reached, ended by itself, or didn't answer. */
  failed(server: string, why: string): void;
}

/** A plugin answers hooks and short calls; a person who waits for it doesn't wait as long as for a server they chose themselves. */
const CALL_SECONDS = 30;
const START_SECONDS = 15;

export function definePluginServers(port: PluginServerPort | undefined): Record<string, ServerConfig> {
  const all = (port?.list() ?? []).flatMap(({ name, settings, ...given }) => {
    const read = serverConfig.safeParse({ ...defined(given), callSeconds: CALL_SECONDS, startSeconds: START_SECONDS });
    // One that nobody could configure by hand either is left out; the others aren't lost with it.
    return read.success ? [[name, { ...read.data, env: { ...read.data.env, ...settings } }] as const] : [];
  });
  return Object.fromEntries(all);
}
