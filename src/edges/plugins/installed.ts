/** What a plugin's folder offers: its manifest, its servers and its skills, each with what is wrong with it. */
import { join } from "node:path";
import { listBelow, textBelow } from "../../core/files/index.ts";
import { type PluginManifest, readPluginManifest } from "./format/manifest.ts";
import { type McpFile, type RemoteEntry, readMcpFile, type StdioEntry } from "./format/mcp-file.ts";
import { expandPlaces } from "./format/server-fields.ts";
import { nameServer } from "./names.ts";

const MOST_MANIFEST = 256 * 1024;
const MOST_SKILLS = 200;
/** As many as a plugin may have at all. */
const MOST_FILES = 5000;

export interface PluginPlaces {
  root: string;
  data: string;
}

/** One MCP server of a plugin, under the name it has among all servers. */
export type PluginServer = {
  name: string;
  allow: readonly string[] | undefined;
} /** `shown`: what is started, as the plugin writes it. */ & (
  | {
      kind: "program";
      shown: string;
      command: string;
      args: string[];
      env: Record<string, string>;
      cwd: string;
      speaksHooks: boolean;
    }
  | { kind: "remote"; url: string; headers: Record<string, string> }
);

export interface PluginContents {
  manifest: PluginManifest;
  servers: PluginServer[];
  /** Names of the folders in `skills/`. */
  skills: string[];
  problems: string[];
}

/** Throws nothing: a folder that is no plugin says why. */
export async function readPlugin(places: PluginPlaces): Promise<PluginContents | { why: string }> {
  const { root } = places;
  const text = await textBelow({ root, path: "plugin.json", most: MOST_MANIFEST, links: "refuse" });
  if (text === undefined) return { why: "It has no plugin.json." };
  const manifest = readPluginManifest(text);
  if ("why" in manifest) return manifest;
  const mcpText = await textBelow({ root, path: "mcp.json", most: MOST_MANIFEST, links: "refuse" });
  const mcp: McpFile = mcpText === undefined ? { servers: {}, problems: [] } : readMcpFile(mcpText);
  const { skills, without } = await readSkills(root);
  return {
    manifest,
    servers: [...codeServer(manifest, places), ...mcpServers(manifest, mcp, places)],
    skills,
    problems: [...manifest.notes, ...mcp.problems, ...without.map((name) => `skills/${name} has no SKILL.md`)],
  };
}

/** A folder without a SKILL.md is none. */
async function readSkills(root: string): Promise<{ skills: string[]; without: string[] }> {
  const { entries } = await listBelow({ root, path: "skills", most: MOST_SKILLS, links: "refuse" });
  const names = entries
    .filter(({ kind, name }) => kind === "directory" && !name.startsWith("."))
    .map(({ name }) => name);
  const has = async (name: string) => {
    const { entries: inside } = await listBelow({ root, path: `skills/${name}`, most: MOST_FILES, links: "refuse" });
    return inside.some((one) => one.kind === "file" && one.name === "SKILL.md");
  };
  const found = await Promise.all(names.map(has));
  return { skills: names.filter((_, n) => found[n]), without: names.filter((_, n) => !found[n]) };
}

function codeServer({ name, own }: PluginManifest, places: PluginPlaces): PluginServer[] {
  if (!own.code) return [];
  const { hooks, tools } = own.rights;
  return [
    {
      kind: "program",
      name: nameServer(name),
      speaksHooks: hooks.length > 0,
      ...expanded({ ...own.code, cwd: undefined }, places),
      // Tools that it didn't ask for aren't offered, even if it lists them.
      allow: tools,
    },
  ];
}

/** Written for any client, without our rights in mind: what they list is what they offer. */
function mcpServers({ name }: PluginManifest, { servers }: McpFile, places: PluginPlaces): PluginServer[] {
  return Object.entries(servers).map(([key, entry]): PluginServer => {
    const base = { name: nameServer(name, key), allow: undefined };
    if (entry.type !== "stdio")
      return { ...base, kind: "remote", url: entry.url, headers: (entry as RemoteEntry).headers };
    return { ...base, kind: "program", speaksHooks: false, ...expanded(entry, places) };
  });
}

function expanded({ command, args, env, cwd }: Omit<StdioEntry, "type">, places: PluginPlaces) {
  const at = (text: string) => expandPlaces(text, places);
  const folder = cwd === undefined ? places.root : at(cwd);
  return {
    shown: [command, ...args].join(" "),
    command: command.startsWith("./") ? join(places.root, command) : command,
    args: args.map(at),
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, at(value)])),
    cwd: folder.startsWith("./") ? join(places.root, folder) : folder,
  };
}
