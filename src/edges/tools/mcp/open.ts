/** The servers of this home with everything they need: their programs, the SDK, and their tools as tools of ours. */
import { pathToFileURL } from "node:url";
import type { Records, Tool } from "../../../core/contracts/index.ts";
import { type Clock, type Crash, defined, type IdMaker, type Log } from "../../../core/kit/index.ts";
import { endRun } from "../exec/processes.ts";
import type { ServedTools } from "../on-demand/on-demand.ts";
import type { McpConfig, ServerConfig } from "./config.ts";
import { revealIn, secretName } from "./hide.ts";
import type { IsListed } from "./http.ts";
import { type LaunchParts, prepareLaunch } from "./launch.ts";
import type { McpLogin } from "./login.ts";
import { type ManagerPort, McpManager } from "./manager.ts";
import { definePluginServers, type PluginServerPort } from "./plugin-servers.ts";
import { createMcpRead } from "./read.ts";
import { type AgentLists, McpServers, type OfferedTool } from "./servers.ts";
import { createMcpTool, type McpPort } from "./tool.ts";

export interface OpenMcpParts extends Omit<LaunchParts, "resolveSecret"> {
  records: Records;
  clock: Clock;
  crash: Crash;
  ids: IdMaker;
  log: Log;
  /** Lares' own, for the greeting. */
  version: string;
  config: () => McpConfig;
  lists: (agent: string) => AgentLists;
  /** The agents' workspaces: what a server may use, and what it gets as roots. */
  workspaces: () => readonly string[];
  keepPicture: McpPort["keepPicture"];
  /** Hosts of private networks that the owner listed: a server may send us there to log in. */
  isListed: IsListed;
  plugins?: PluginServerPort;
  /** Where logins are kept, by name. */
  vault: { get(name: string): { reveal(): string } | undefined; set(name: string, value: string): Promise<void> };
}

export interface OpenedMcp {
  servers: McpServers;
  /** Their tools as `tool_search` and `tool_run` see them. */
  served: ServedTools;
  /** For the owner: what there is, and changes to it. */
  manage(port: ManagerPort): McpManager;
}

export function openMcp(parts: OpenMcpParts): OpenedMcp {
  const { records, clock, crash, ids, log, config, lists } = parts;
  const roots = () => parts.workspaces().map((path) => ({ uri: pathToFileURL(path).href, name: "workspace" }));
  // One for each server and definition: many calls renew a token once.
  const logins = new Map<string, McpLogin>();
  const login = async ({ name, config: { url, oauth } }: { name: string; config: ServerConfig }) => {
    const key = JSON.stringify([name, url, oauth]);
    const known = logins.get(key);
    if (known) return known;
    const { McpLogin } = await import("./login.ts");
    const { guardedFetch } = await import("./http.ts");
    const secret = secretName(name, "OAUTH");
    const made = new McpLogin({
      server: name,
      url: url!,
      oauth,
      clock,
      fetch: guardedFetch(url!, parts.isListed),
      store: { read: () => parts.vault.get(secret)?.reveal(), write: (text) => parts.vault.set(secret, text) },
    });
    logins.set(key, made);
    return made;
  };
  const servers = new McpServers({
    login,
    records,
    clock,
    crash,
    ids,
    log,
    lists,
    // A name that the owner gave stays the owner's.
    config: () => ({ ...config(), servers: { ...definePluginServers(parts.plugins), ...config().servers } }),
    failed: (server, why) => parts.plugins?.failed(server, why),
    endsWhenSilent: (server) => parts.plugins?.has(server) ?? false,
    endRun: (key) => endRun({ key }),
    async client(options) {
      const { createClient } = await import("./sdk.ts");
      return createClient({ version: parts.version, roots: roots(), ...options });
    },
    async connect(server, key) {
      const { url, headers } = server.config;
      if (url !== undefined) {
        const { connectOver } = await import("./http.ts");
        const hasOwn = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
        return connectOver(url, headers, { login: hasOwn ? undefined : await login(server), isListed: parts.isListed });
      }
      const resolveSecret = (argument: string) => revealIn(argument, (name) => parts.vault.get(name)?.reveal());
      const { wrapped, cwd, ended } = await prepareLaunch(
        { ...parts, resolveSecret },
        { ...server, workspaces: parts.workspaces(), plugin: await parts.plugins?.start(server.name) },
        key,
      );
      const { StdioTransport } = await import("./stdio.ts");
      return new StdioTransport({ wrapped, cwd, key, ...defined({ ended }) });
    },
  });
  const port: McpPort = {
    find: (agent, server, tool) => servers.find(agent, server, tool),
    definition: (server) => servers.definition(server),
    call: (server, request) => servers.call(server, request),
    answer: (server, ...given) => servers.answer(server, ...given),
    roots: () => roots(),
    keepPicture: parts.keepPicture,
  };
  const { userHome, workspaces } = parts;
  const manage = (of: ManagerPort) => new McpManager({ ...of, servers: () => servers, userHome, workspaces });
  return { servers, served: serveTools(servers, port), manage };
}

function serveTools(servers: McpServers, port: McpPort): ServedTools {
  const reading = createMcpRead({
    mayRead: (...asked) => servers.mayRead(...asked),
    definition: (server) => servers.definition(server),
    request: (server, ...asked) => servers.request(server, ...asked),
  });
  const asTool = (offered: OfferedTool): Tool => createMcpTool(port, offered);
  return {
    servers: () => servers.names(),
    get(name) {
      if (name === reading.spec.name) return servers.names().length > 0 ? reading : undefined;
      const found = servers.all().find(({ tool }) => tool.modelName === name);
      return found && asTool(found);
    },
    pinned: (agent) =>
      servers.pinned(agent).map(({ tool, input }) => ({ name: tool.modelName, description: tool.description, input })),
    async list(agent) {
      await servers.discover(agent);
      const tools = servers.offered(agent).map((offered) => ({ server: offered.server, tool: asTool(offered) }));
      const also = tools.length > 0 ? [{ server: "", tool: reading }] : [];
      return { tools: [...tools, ...also], isSeen: servers.isSeen(agent) };
    },
  };
}
