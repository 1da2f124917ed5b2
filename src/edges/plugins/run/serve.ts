/** The plugins in use as MCP servers: what is started for each, and what it may use. */
import { defined } from "../../../core/kit/index.ts";
import type { PluginServer } from "../installed.ts";
import type { ActivePlugin, Plugins } from "../plugins.ts";

export interface ServeParts {
  plugins: Pick<Plugins, "servers" | "missing" | "prepare" | "failed">;
  /** A secret from the vault. */
  secret(name: string): string | undefined;
  memoryMb(): number;
  dataMb(): number;
}

export class PluginPrograms {
  readonly #parts: ServeParts;

  constructor(parts: ServeParts) {
    this.#parts = parts;
  }

  list() {
    return this.#parts.plugins.servers().map(({ plugin, server }) => describe(plugin, server));
  }

  has(name: string): boolean {
    return this.#find(name) !== undefined;
  }

  async start(name: string) {
    const found = this.#find(name);
    if (!found) return undefined;
    const { plugin } = found;
    const { paths, secrets, hosts } = plugin.locked.rights;
    const { data: own, way } = await this.#parts.plugins.prepare(plugin, name);
    const granted = secrets.map((secret) => [secret, this.#parts.secret(secret)] as const);
    return {
      hosts,
      way,
      own,
      root: plugin.root,
      read: paths.read,
      write: paths.write,
      memoryMb: this.#parts.memoryMb(),
      dataMb: this.#parts.dataMb(),
      env: {
        ...defined(Object.fromEntries(granted)),
        // Last, so that no secret can stand in for them.
        PLUGIN_ROOT: plugin.root,
        PLUGIN_DATA: own,
      },
    };
  }

  /** Whether people may type this prompt as a command. Servers of `mcp.json` offer all of theirs, like their tools. */
  mayPrompt(name: string, prompt: string): boolean {
    const found = this.#find(name);
    return found?.server.allow === undefined || found.plugin.locked.rights.commands.includes(prompt);
  }

  missing() {
    return this.#parts.plugins.missing();
  }

  failed(name: string, why: string): void {
    const found = this.#find(name);
    if (found) this.#parts.plugins.failed(found.plugin.name, why);
  }

  #find(name: string): { plugin: ActivePlugin; server: PluginServer } | undefined {
    return this.#parts.plugins.servers().find(({ server }) => server.name === name);
  }
}

function describe({ config }: ActivePlugin, server: PluginServer) {
  const { name, allow } = server;
  if (server.kind === "remote") return { name, url: server.url, headers: server.headers, ...defined({ allow }) };
  const { command, args, env, cwd } = server;
  // Part of the definition, so that other settings start it again.
  const settings = { LARES_PLUGIN_CONFIG: JSON.stringify(config) };
  return { name, command, args, env, cwd, settings, ...defined({ allow }) };
}
