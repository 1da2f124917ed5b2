/** Keys that are about plugins, judged by what is installed in the home: a terminal asks as well, without a running Lares. */
import type { AdviceTable } from "../../core/contracts/index.ts";
import type { Json, JsonObject } from "../../core/domain/index.ts";
import { nearest } from "../../core/kit/index.ts";
import { PluginFolders } from "./install/folders.ts";
import { readLock } from "./install/lock.ts";
import { type PluginContents, readPlugin } from "./installed.ts";

/** Why a value doesn't fit a JSON schema. */
export type Misfit = (schema: JsonObject, value: Json) => string | undefined;

export function advisePlugins(misfit: Misfit): AdviceTable {
  return {
    async "plugins.config.*"(value, { home }, name) {
      const installed = await readInstalled(home);
      const contents = installed?.get(name);
      if (contents) {
        const problem = configMisfit(misfit, contents, value as JsonObject);
        return problem === undefined ? undefined : { message: `The plugin ${name} can't be used with it: ${problem}.` };
      }
      // What can't be read is the doctor's to explain.
      if (!installed || installed.has(name)) return undefined;
      const near = nearest(name, installed.keys());
      const hint = near === undefined ? "Install it, or remove the key." : `Did you mean ${near}?`;
      return { message: `There is no plugin "${name}". ${hint}` };
    },
  };
}

/** The MCP servers of all installed plugins, also of those that are off. */
export async function listPluginServers(home: string): Promise<string[]> {
  const installed = await readInstalled(home);
  return [...(installed?.values() ?? [])].flatMap((contents) => contents?.servers.map(({ name }) => name) ?? []);
}

/** Why a plugin can't be used with these settings. */
export function configMisfit(misfit: Misfit, { manifest }: PluginContents, config: JsonObject): string | undefined {
  const schema = (manifest.own.config ?? { additionalProperties: false }) as JsonObject;
  return misfit({ type: "object", ...schema }, config);
}

/** By name; undefined for one whose files can't be read. Nothing at all where the list of plugins can't be. */
async function readInstalled(home: string): Promise<Map<string, PluginContents | undefined> | undefined> {
  const folders = new PluginFolders(home);
  const lock = await readLock(folders.dir).catch(() => undefined);
  if (!lock) return undefined;
  const found = Object.entries(lock.plugins).map(async ([name, { digest }]) => {
    const contents = await readPlugin({ root: folders.stored({ name, digest }), data: folders.data(name) });
    return [name, "why" in contents ? undefined : contents] as const;
  });
  return new Map(await Promise.all(found));
}
