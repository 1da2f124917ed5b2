/**
 * How a server's program is started: a separate folder as its home, an environment built from nothing, and the sandbox that commands
 * have. The owner chose the program; what it may see is still decided here.
 *
 * MCP-11: a server sees its own folder, the agents' workspaces, the folders its definition names, and may read the projects of the
 *     scripts it names. A folder that no agent could work in (a whole home, keys, Lares' own files) is refused there, too.
 * MCP-30: whether a server may use the network is up to its definition alone, open unless it says `network: false`.
 * MCP-20: a plugin's program sees its own files, its data, and the folders it was granted; never the network directly.
 */
import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { AppError } from "../../../../core/domain/index.ts";
import { defined } from "../../../../core/kit/index.ts";
import { cleanEnvironment } from "../../exec/environment.ts";
import { type Confinement, safeRoot, type Wrapped, whyNoRead, whyNoRoot } from "../../sandbox/index.ts";
import type { ServerConfig } from "../config.ts";
import { checkFolder, type ProgramBounds, serverBounds } from "./bounds.ts";
import { openHostProxy } from "./host-proxy.ts";
import type { IsListed } from "./http.ts";

export interface LaunchParts {
  home: string;
  userHome: string;
  sandbox: Pick<Confinement, "service">;
  /** An argument or variable with the secret in it that it refers to: `--token=vault:NAME`. */
  resolveSecret(given: string): string;
  /** Hosts of private networks that the owner listed. */
  isListed: IsListed;
}

/** What a plugin's program may use, instead of what every server may. Nothing is added to it but programs and the system. */
export interface PluginConfinement {
  /** Its data folder, which it may write to. */
  own: string;
  /** Its files, which it may only read. */
  root: string;
  /** As the owner accepted them; "workspace" stands for the agents' workspaces. */
  read: readonly string[];
  write: readonly string[];
  /** Hosts it may reach, and the folder for the way there. */
  hosts: readonly string[];
  way: string;
  env: Readonly<Record<string, string>>;
  memoryMb: number;
  /** What its data folder may hold. */
  dataMb: number;
}

export interface Launch {
  wrapped: Wrapped;
  cwd: string;
  /** "in a sandbox (bubblewrap)", for status. */
  where: string;
  /** What it and all it starts may use together. */
  bounds: ProgramBounds;
  /** What has to be closed with it. */
  ended?: () => void;
  /** What the sandbox doesn't show of it, for people whose program doesn't start, and the way out. */
  hides?: string;
}

export async function prepareLaunch(
  parts: LaunchParts,
  server: {
    name: string;
    config: ServerConfig;
    workspaces: readonly string[];
    plugin?: PluginConfinement | undefined;
    /** Where its own folder is, if not below `mcp` in the home. */
    folder?: string | undefined;
  },
  key: string,
): Promise<Launch> {
  const { name, config } = server;
  if (server.plugin) return preparePlugin(parts, { ...server, plugin: server.plugin }, key);
  const own = join(server.folder ?? join(parts.home, "mcp"), name);
  mkdirSync(own, { recursive: true, mode: 0o700 });
  const given = config.cwd ?? own;
  // A workspace lies in Lares' own folder, which is closed otherwise.
  const cwd = given === own || server.workspaces.includes(given) ? given : readRoot(parts, given);
  const argv: [string, ...string[]] = [findProgram(parts, config.command!), ...config.args.map(parts.resolveSecret)];
  const env = {
    ...cleanEnvironment(own),
    PATH: searchPath(parts.userHome).join(":"),
    ...Object.fromEntries(Object.entries(config.env).map(([name, value]) => [name, parts.resolveSecret(value)])),
  };
  const bounds = serverBounds();
  if (!config.sandbox)
    return { wrapped: { argv, env }, cwd, bounds, where: "without a sandbox: its definition says so" };
  const named = namedFolders(config).map((folder) => readRoot(parts, folder));
  const isOwn = config.command!.includes("/") && !argv[0].startsWith("/usr/");
  const files = [...(isOwn ? [argv[0]] : []), ...config.args.filter(isScript)];
  const scripts = files.map((file) => showScript(file, parts));
  const room = await parts.sandbox.service({
    writable: [own, ...server.workspaces, ...named, ...(cwd === own ? [] : [cwd])],
    readable: [...programFolders(parts.userHome), ...scripts.flatMap(({ shown }) => shown)],
    network: config.network,
  });
  const why = room.name === "none" ? undefined : scripts.find((one) => one.why)?.why;
  const hides =
    why && `${why}. Move it to a separate folder, or start it without the sandbox: mcp.servers.${name}.sandbox: false`;
  const wrapped = await room.wrap({ argv, cwd, env, key });
  return { wrapped, cwd, bounds, where: room.where, ...defined({ hides }) };
}

/** The folders that its arguments name: what it is for. */
export function namedFolders({ args }: Pick<ServerConfig, "args">): string[] {
  return args.filter(isFolder);
}

/** With its project, which it loads the rest from. Where that can't be shown, alone. */
function showScript(file: string, homes: LaunchParts): { shown: string[]; why?: string } {
  const project = findProject(file);
  const why = whyNoRead(project, homes);
  if (why === undefined) return { shown: [project] };
  const alone = whyNoRead(file, homes);
  if (alone !== undefined) return { shown: [], why: `The sandbox hides ${file}, because it ${alone}` };
  return { shown: [file], why: `The sandbox shows it only ${file}, because the folder ${project} ${why}` };
}

/** Of a plugin's processes each: a loop that starts programs or fills files ends here. */
const PLUGIN_LIMITS = { processes: 64, tmpMb: 128, fileMb: 256 };
/** All of a plugin's processes together may use so many times what one of them may. */
const TOGETHER = 4;

async function preparePlugin(
  parts: LaunchParts,
  {
    name,
    config,
    workspaces,
    plugin,
  }: { name: string; config: ServerConfig; workspaces: readonly string[]; plugin: PluginConfinement },
  key: string,
): Promise<Launch> {
  const { own, root, memoryMb } = plugin;
  const folder = { path: own, mostMb: plugin.dataMb };
  await checkFolder(folder, name);
  const granted = (paths: readonly string[]) =>
    paths.flatMap((path) => (path === "workspace" ? workspaces : [grantedRoot(parts, path)]));
  const program: [string, ...string[]] = [findProgram(parts, config.command!), ...config.args];
  const proxy = plugin.hosts.length > 0 ? await openHostProxy(plugin.way, plugin.hosts, parts.isListed) : undefined;
  const argv = proxy?.wrap(program) ?? program;
  const env = { ...cleanEnvironment(own), PATH: searchPath(parts.userHome).join(":"), ...config.env, ...plugin.env };
  const cwd = config.cwd ?? root;
  const room = await parts.sandbox.service({
    writable: [own, ...granted(plugin.write)],
    readable: programFolders(parts.userHome),
    ours: [root, ...granted(plugin.read), ...(proxy ? [proxy.folder] : [])],
    network: false,
    limits: { memoryMb, ...PLUGIN_LIMITS },
  });
  const wrapped = await room.wrap({ argv, cwd, env, key });
  const { processes } = PLUGIN_LIMITS;
  const bounds = { what: "a plugin", processes, memoryMb: memoryMb * TOGETHER, folder };
  return { wrapped, cwd, where: room.where, bounds, ...defined({ ended: proxy && (() => proxy.close()) }) };
}

/** Programs people install MCP servers with live beside Node or below their home. */
export function programFolders(userHome: string): string[] {
  const nodes = dirname(dirname(process.execPath));
  const folders = [nodes, join(userHome, ".local", "bin"), join(userHome, ".local", "share", "uv")];
  return folders.filter((folder) => !folder.startsWith("/usr") && existsSync(folder));
}

export function searchPath(userHome: string): string[] {
  const { PATH = "" } = cleanEnvironment(userHome);
  return [...PATH.split(":"), dirname(process.execPath), join(userHome, ".local", "bin")];
}

/** Why a program can't be started here. */
export function whyNoProgram(command: string, userHome: string): string | undefined {
  return locate(command, userHome) === undefined ? noProgram(command) : undefined;
}

/** Why no plugin can get a folder, as a part of a sentence: "it is your whole home". */
export function whyNotGranted(path: string, homes: { home: string; userHome: string }): string | undefined {
  const why = path === "workspace" ? undefined : whyNoRoot(inHome(path, homes.userHome), homes);
  return why === undefined ? undefined : `it ${why}`;
}

function grantedRoot(parts: LaunchParts, path: string): string {
  const why = whyNotGranted(path, parts);
  if (why === undefined) return readRoot(parts, path);
  throw new AppError("CONFIG_INVALID", { message: `No plugin can use ${path}: ${why}.`, retry: "after-change" });
}

function noProgram(command: string): string {
  return `There is no program "${command}" on this machine.`;
}

function locate(command: string, userHome: string): string | undefined {
  const wanted = inHome(command, userHome);
  if (wanted.includes("/")) return isAbsolute(wanted) && existsSync(wanted) ? wanted : undefined;
  return searchPath(userHome)
    .map((dir) => join(dir, wanted))
    .find((path) => existsSync(path));
}

function findProgram({ userHome }: LaunchParts, command: string): string {
  const found = locate(command, userHome);
  if (found !== undefined) return found;
  throw new AppError("CONFIG_INVALID", {
    message: noProgram(command),
    hint: command.includes("/")
      ? "Name it by its absolute path."
      : `Install it, or name it by its absolute path. Lares looks in ${searchPath(userHome).join(", ")}.`,
    retry: "after-change",
  });
}

function isFolder(arg: string): boolean {
  return isAbsolute(arg) && (statSync(arg, { throwIfNoEntry: false })?.isDirectory() ?? false);
}

export function isScript(arg: string): boolean {
  return isAbsolute(arg) && (statSync(arg, { throwIfNoEntry: false })?.isFile() ?? false);
}

/** What says that a folder is a separate project, with everything a script in it loads. */
const PROJECT_MARKS = ["package.json", "pyproject.toml", "go.mod", "Cargo.toml"];
const MOST_LEVELS = 8;

/** The project a script belongs to (`node /srv/sky/build/index.js` loads `/srv/sky/node_modules`), or else its folder. */
export function findProject(file: string): string {
  // What is installed loads its siblings: the project is where they are installed.
  const installed = file.indexOf("/node_modules/");
  if (installed > 0) return file.slice(0, installed);
  let dir = dirname(file);
  for (let level = 0; level < MOST_LEVELS && dir !== dirname(dir); level++) {
    if (PROJECT_MARKS.some((name) => existsSync(join(dir, name)))) return dir;
    dir = dirname(dir);
  }
  return dirname(file);
}

function readRoot({ home, userHome }: LaunchParts, path: string): string {
  return safeRoot(inHome(path, userHome), { home, userHome });
}

function inHome(path: string, userHome: string): string {
  return path.startsWith("~/") ? join(userHome, path.slice(2)) : path;
}
