/** The servers of this home with everything they need: their programs, the SDK, and their tools as tools of ours. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Records, Tool } from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import { type Clock, type Crash, type IdMaker, Late, LOGIN_END_PATH, type Log } from "../../../core/kit/index.ts";
import { endRun } from "../exec/processes.ts";
import type { ServedTools } from "../on-demand/on-demand.ts";
import { revealIn, revealInAddress, secretName } from "./adding/hide.ts";
import type { McpConfig, ServerConfig } from "./config.ts";
import type { IsListed } from "./connect/http.ts";
import { type LaunchParts, namedFolders, prepareLaunch } from "./connect/launch.ts";
import type { McpLogin } from "./connect/login.ts";
import { readPending } from "./connect/pending.ts";
import { namesBegin } from "./listed/names.ts";
import { type ManagerPort, McpManager } from "./manager.ts";
import { definePluginServers, type PluginServerPort } from "./plugin-servers.ts";
import { createMcpRead } from "./read.ts";
import { type SamplePort, Sampling } from "./sampling/sampling.ts";
import { type AgentLists, McpServers, type McpServersParts, type OfferedTool } from "./servers.ts";
import { SessionServers } from "./session-servers.ts";
import { McpTasks, type TaskParts } from "./tasks/tasks.ts";
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
  redact: TaskParts["redact"];
  wake: TaskParts["wake"];
  progress: TaskParts["progress"];
  /** The gateway's, where browsers end a login. Undefined: it isn't open yet. */
  gatewayPort(): number | undefined;
  /** Where logins are kept, by name. */
  vault: { get(name: string): { reveal(): string } | undefined; set(name: string, value: string): Promise<void> };
}

export interface OpenedMcp {
  servers: McpServers;
  /** What editors bring to single conversations. */
  brought: SessionServers;
  /** Calls that servers work on in the background. */
  tasks: McpTasks;
  /** Their tools as `tool_search` and `tool_run` see them. */
  served: ServedTools;
  /** Set once: the gate, and paid model calls. */
  sampleBy(port: SamplePort): void;
  /** Set once: messages to the owner go through what is built after this. */
  tellOwnerBy(tell: McpPort["tellOwner"]): void;
  /** For the owner: what there is, and changes to it. */
  manage(port: ManagerPort): McpManager;
  /** Ends what a killed process left running. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

export function openMcp(parts: OpenMcpParts): OpenedMcp {
  const { records, clock, crash, ids, log, config, lists } = parts;
  // The folders that a definition names are what its server is for; without any, it works where the agents do.
  const roots = (server: string) => {
    const named = config().servers[server];
    const folders = named?.command === undefined ? [] : namedFolders(named);
    return (folders.length > 0 ? folders : parts.workspaces()).map(toRoot);
  };
  // What a plugin wrote into its own definition must not get the owner's secrets.
  const secretFor = (server: string) => (name: string) =>
    Object.hasOwn(config().servers, server) ? parts.vault.get(name)?.reveal() : undefined;
  const login = makeLogins(parts, secretFor);
  const servers = new McpServers({
    login,
    pending: (name) => readPending(parts.vault.get(secretName(name, "OAUTH"))?.reveal()),
    client: makeClient(parts.version, roots),
    records,
    clock,
    crash,
    ids,
    log,
    lists,
    // A name that the owner gave stays the owner's.
    config: () => ({ ...config(), servers: { ...definePluginServers(parts.plugins), ...config().servers } }),
    isWorking: (server) => tasks.isWorking(server),
    failed: (server, why) => parts.plugins?.failed(server, why),
    missing: () => parts.plugins?.missing() ?? [],
    whyMissing: (server) => parts.plugins?.missing().find((one) => one.server === server)?.inFull,
    mayPrompt: (server, prompt) => parts.plugins?.mayPrompt(server, prompt) ?? true,
    endsWhenSilent: (server) => parts.plugins?.has(server) ?? false,
    endRun: (key) => endRun({ key }),
    async connect(server, key) {
      const { url } = server.config;
      const secret = (name: string) => secretFor(server.name)(name) ?? missing(server.name, name, config());
      const reveal = (text: string) => revealIn(text, secret);
      if (url !== undefined) {
        const { connectOver } = await import("./connect/http.ts");
        const given = Object.entries(server.config.headers);
        const headers = Object.fromEntries(given.map(([name, value]) => [name, reveal(value)]));
        const hasOwn = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
        const using = { login: hasOwn ? undefined : await login(server), isListed: parts.isListed };
        return connectOver(revealInAddress(url, secret), headers, using);
      }
      const plugin = await parts.plugins?.start(server.name);
      const at = { ...server, workspaces: parts.workspaces(), plugin };
      return startProgram({ ...parts, resolveSecret: reveal }, at, key);
    },
  });
  const late = new Late<McpPort["tellOwner"]>();
  const find = (server: string) => (servers.has(server) ? servers : brought.find(server));
  const tasks: McpTasks = new McpTasks({
    ...parts,
    definition: (server) => find(server)?.definition(server),
    line: (server, work) => (find(server) ?? servers).task(server, work),
  });
  const { keepPicture } = parts;
  const sampling = new Sampling({ records, ids });
  const outward: Outward = { keepPicture, tasks, sampling, tellOwner: (...notice) => late.get()(...notice) };
  const brought = openBrought(parts, outward);
  const { userHome, workspaces } = parts;
  const manage = (of: ManagerPort) => new McpManager({ ...of, servers: () => servers, userHome, workspaces });
  return {
    servers,
    brought,
    tasks,
    served: alsoBrought(serveTools(servers, makePort(servers, roots, outward)), brought),
    manage,
    sampleBy: (port) => sampling.by(port),
    tellOwnerBy: (tell) => void late.set(tell),
    async sweep() {
      await servers.sweep();
      await brought.sweep();
    },
    async close() {
      await Promise.all([servers.close(), brought.close()]);
    },
  };
}

/** A reference in a plugin's definition is worth nothing; one in the owner's that leads nowhere is never passed on as it stands. */
function missing(server: string, secret: string, { servers }: McpConfig): string {
  if (!Object.hasOwn(servers, server)) return "";
  throw new AppError("CONFIG_INVALID", {
    message: `${server} needs the secret ${secret}, and the vault doesn't have that: lares secrets set ${secret}`,
    retry: "after-change",
  });
}

/** One for each server and definition: many calls renew a token once. */
function makeLogins(
  parts: OpenMcpParts,
  secretFor: (server: string) => (name: string) => string | undefined,
): (server: { name: string; config: ServerConfig }) => Promise<McpLogin> {
  const logins = new Map<string, McpLogin>();
  return async ({ name, config: { url: written, oauth } }: { name: string; config: ServerConfig }) => {
    const url = revealInAddress(written ?? "", secretFor(name));
    const key = JSON.stringify([name, url, oauth]);
    const known = logins.get(key);
    if (known) return known;
    const { McpLogin } = await import("./connect/login.ts");
    const { guardedFetch } = await import("./connect/http.ts");
    const secret = secretName(name, "OAUTH");
    const made = new McpLogin({
      server: name,
      url,
      oauth,
      clock: parts.clock,
      fetch: guardedFetch(url, parts.isListed),
      redirect: () => `http://127.0.0.1:${parts.gatewayPort() ?? USUAL_PORT}${LOGIN_END_PATH}`,
      store: { read: () => parts.vault.get(secret)?.reveal(), write: (text) => parts.vault.set(secret, text) },
    });
    logins.set(key, made);
    return made;
  };
}

/** Of an address that is then pasted. */
const USUAL_PORT = 7717;

type ListRoots = McpPort["roots"];
/** What a call leaves outside its server. */
type Outward = Pick<McpPort, "keepPicture" | "tellOwner"> & { tasks: McpTasks; sampling: Sampling };

function toRoot(path: string): ReturnType<ListRoots>[number] {
  return { uri: pathToFileURL(path).href, name: "workspace" };
}

function makeClient(version: string, roots: ListRoots): McpServersParts["client"] {
  return async (server, options) => {
    const { createClient } = await import("./connect/sdk.ts");
    return createClient({ version, roots: roots(server), ...options });
  };
}

async function startProgram(parts: LaunchParts, server: Parameters<typeof prepareLaunch>[1], key: string) {
  const { where: _, ...launch } = await prepareLaunch(parts, server, key);
  const { StdioTransport } = await import("./connect/stdio.ts");
  return new StdioTransport({ ...launch, key });
}

function makePort(servers: McpServers, roots: ListRoots, outward: Outward): McpPort {
  return {
    ...outward,
    roots,
    mostMs: (server) => servers.taskMs(server),
    samples: (server) => servers.config(server).sampling,
    sample: (server, asked, signal) => outward.sampling.sample(servers, { server, ...asked }, signal),
    allowSampling: (server) => servers.allowSampling(server),
    find: (agent, server, tool) => servers.find(agent, server, tool),
    definition: (server) => servers.definition(server),
    call: (server, request) => servers.call(server, request),
    answer: (server, ...given) => servers.answer(server, ...given),
  };
}

/** Servers of single conversations: nothing about them is stored, and nothing in their definitions stands for a secret. */
function openBrought(parts: OpenMcpParts, outward: Outward): SessionServers {
  const folder = join(parts.home, SESSION_FOLDER);
  return new SessionServers({
    folder: { root: parts.home, path: SESSION_FOLDER },
    clock: parts.clock,
    serve: (servers, place) =>
      offerTools(
        servers,
        makePort(servers, () => [toRoot(place)], outward),
      ),
    open(definitions, place, failed) {
      const { records, clock, crash, ids, log, lists } = parts;
      return new McpServers({
        records,
        clock,
        crash,
        ids,
        log,
        lists,
        failed,
        forgets: true,
        isWorking: (server) => outward.tasks.isWorking(server),
        client: makeClient(parts.version, () => [toRoot(place)]),
        config: () => ({ servers: definitions() }),
        endRun: (key) => endRun({ key }),
        pending: () => undefined,
        // A login is kept for good, which a server of one conversation isn't: its editor sends a header, or nothing.
        login: () => Promise.reject(new AppError("BAD_REQUEST", { message: NO_LOGIN })),
        async connect(server, key) {
          const { url, headers } = server.config;
          const resolveSecret = (argument: string) => argument;
          if (url === undefined)
            return startProgram({ ...parts, resolveSecret }, { ...server, workspaces: [place], folder }, key);
          const { connectOver } = await import("./connect/http.ts");
          return connectOver(url, headers, { isListed: parts.isListed });
        },
      });
    },
  });
}

/** No server's name begins with a dot. */
const SESSION_FOLDER = "mcp/.conversations";
const NO_LOGIN = "A server that an editor brings can't be logged in to here.";

/** The owner's servers first: no editor's server takes the place of one. */
function alsoBrought(own: ServedTools, brought: SessionServers): ServedTools {
  return {
    ...own,
    get: (name) => own.get(name) ?? brought.get(name),
    async list(agent, session) {
      const [mine, theirs] = await Promise.all([own.list(agent, session), brought.list(agent, session)]);
      return { ...mine, tools: [...mine.tools, ...theirs.tools], isSeen: mine.isSeen && theirs.isSeen };
    },
  };
}

function serveTools(servers: McpServers, port: McpPort): ServedTools {
  const reading = createMcpRead({
    mayRead: (...asked) => servers.mayRead(...asked),
    definition: (server) => servers.definition(server),
    request: (server, ...asked) => servers.request(server, ...asked),
  });
  const offered = offerTools(servers, port);
  return {
    servers: () => servers.names(),
    get(name) {
      if (name === reading.spec.name) return servers.names().length > 0 ? reading : undefined;
      return offered.get(name);
    },
    pinned: (agent) =>
      servers.pinned(agent).map(({ tool, input }) => ({ name: tool.modelName, description: tool.description, input })),
    async list(...asked) {
      const { tools, isSeen } = await offered.list(...asked);
      const also = tools.length > 0 ? [{ server: "", tool: reading }] : [];
      return {
        tools: [...tools, ...also],
        isSeen,
        waiting: servers.waiting(asked[0]),
        missing: servers.missing(asked[0]).map(({ why }) => why),
      };
    },
    whyNot: (name, agent) => servers.missing(agent).find(({ server }) => name.startsWith(namesBegin(server)))?.why,
  };
}

function offerTools(servers: McpServers, port: McpPort): Pick<ServedTools, "get" | "list"> {
  const asTool = (offered: OfferedTool): Tool => createMcpTool(port, offered);
  return {
    get(name) {
      const found = servers.all().find(({ tool }) => tool.modelName === name);
      return found && asTool(found);
    },
    async list(agent) {
      await servers.discover(agent);
      const tools = servers.offered(agent).map((offered) => ({ server: offered.server, tool: asTool(offered) }));
      return { tools, isSeen: servers.isSeen(agent) };
    },
  };
}
