/** The plugins of this home with everything they need. */
import { homedir } from "node:os";
import { Plugins, type PluginsParts } from "./plugins.ts";
import { PluginPrograms } from "./run/serve.ts";

export interface OpenPluginsParts extends Omit<PluginsParts, "userHome" | "registry" | "settings" | "hasSecret"> {
  config: () => {
    readonly registry?: string | undefined;
    readonly memoryMb: number;
    readonly dataMb: number;
    readonly config: Readonly<Record<string, unknown>>;
  };
  vault: { get(name: string): { reveal(): string } | undefined };
}

export interface OpenedPlugins {
  plugins: Plugins;
  /** Their code, as MCP servers. */
  programs: PluginPrograms;
}

export function openPlugins(parts: OpenPluginsParts): OpenedPlugins {
  const { config, vault } = parts;
  const plugins = new Plugins({
    ...parts,
    userHome: homedir(),
    registry: () => config().registry,
    settings: () => config().config,
    hasSecret: (name) => vault.get(name) !== undefined,
  });
  const programs = new PluginPrograms({
    plugins,
    memoryMb: () => config().memoryMb,
    dataMb: () => config().dataMb,
    secret: (name) => vault.get(name)?.reveal(),
  });
  return { plugins, programs };
}
