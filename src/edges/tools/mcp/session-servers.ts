/**
 * MCP servers that a code editor brings to one conversation. They are known in memory only and end when the editor stops renewing
 * them, so a killed editor leaves nothing behind; after a crash of Lares, the next start sweeps their processes and folders.
 *
 * MCP-22: nothing is started without a yes to exactly this definition in this conversation. The yes names a digest of it, so a
 *     definition that changed has to be asked about again.
 * MCP-23: no other conversation sees or calls them, and no call of theirs can be allowed for good: the next server of the same name
 *     may be another program.
 * MCP-24: their definitions are taken literally. A reference to the vault in one is only text.
 */
import { join } from "node:path";
import type { Tool } from "../../../core/contracts/index.ts";
import { AppError, type Json } from "../../../core/domain/index.ts";
import { removeTree } from "../../../core/files/index.ts";
import { type Clock, defined } from "../../../core/kit/index.ts";
import type { ServedTools } from "../on-demand/on-demand.ts";
import { readPastedValue } from "./adding/paste.ts";
import type { ServerConfig } from "./config.ts";
import { digestJson } from "./listed/manifest.ts";
import type { McpServers } from "./servers.ts";

/** A definition as editors send it. */
export interface BroughtServer {
  name: string;
  type?: string | undefined;
  command?: string | undefined;
  args?: readonly string[] | undefined;
  env?: Readonly<Record<string, string>> | undefined;
  url?: string | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
}

/** Who brings them: an editor in a conversation. Two editors in the same one have their own servers. */
interface BroughtBy {
  session: string;
  holder: string;
  /** Where its programs start. */
  folder: string;
}

interface OfferedServer {
  /** Of exactly this definition in this conversation: what a yes names. */
  id: string;
  /** As the editor calls it. */
  name: string;
  state: "asks" | "used" | "refused";
  /** The program with all arguments, or the address. */
  target: string;
  /** The variables or headers it gets, by name. */
  gets: string[];
  /** Why it is refused, or what went wrong with it last. */
  why?: string;
}

interface SessionServersParts {
  clock: Clock;
  /** Below it, each server has a folder of its own while it is used. */
  folder: { root: string; path: string };
  /** Servers that are remembered nowhere, with these definitions at any time. `failed`: one couldn't be reached, or ended by itself. */
  open(
    servers: () => Readonly<Record<string, ServerConfig>>,
    folder: string,
    failed: (server: string, why: string) => void,
  ): McpServers;
  /** Their tools, as any server's. */
  serve(servers: McpServers, folder: string): Pick<ServedTools, "get" | "list">;
}

/** An editor renews them three times in this time. A laptop that sleeps longer brings them again when it wakes. */
const LEASE_MS = 90_000;
/** Readable letters of a name; the digest's follow, and a server's name has 32 at most. */
const MOST_READABLE = 21;
const DIGEST_LETTERS = 8;

const ONCE = "It can only be allowed once: the editor brought this server for one conversation.";

interface Brought {
  session: string;
  used: Readonly<Record<string, ServerConfig>>;
  servers: McpServers;
  served: Pick<ServedTools, "get" | "list">;
  failures: Map<string, string>;
  stopLease: () => void;
}

export class SessionServers {
  readonly #parts: SessionServersParts;
  readonly #brought = new Map<string, Brought>();
  /** One change of an editor's servers after the other. */
  readonly #lines = new Map<string, Promise<unknown>>();

  constructor(parts: SessionServersParts) {
    this.#parts = parts;
  }

  /** Takes the servers that have a yes for as long as they are renewed, by the same call; ends the others. Starts nothing. */
  bring(by: BroughtBy, given: readonly BroughtServer[], yes: readonly string[]): Promise<OfferedServer[]> {
    return this.#inLine(makeKey(by), async () => {
      const read = readBrought(by, given);
      const used = read.flatMap(({ as, config, id }) => (config && yes.includes(id) ? [[as, config] as const] : []));
      await this.#use(by, Object.fromEntries(used));
      const failures = this.#brought.get(makeKey(by))?.failures;
      return read.map(({ config: _config, as, ...one }): OfferedServer => {
        if (one.state !== "asks" || !yes.includes(one.id)) return one;
        return { ...one, state: "used", ...defined({ why: failures?.get(as) }) };
      });
    });
  }

  /** Ends everything that was brought to a conversation, or only what this editor brought. */
  async end(session: string, holder?: string): Promise<void> {
    const keys = [...this.#brought].filter(([, one]) => one.session === session).map(([key]) => key);
    const mine = holder === undefined ? keys : keys.filter((key) => key === makeKey({ session, holder }));
    await Promise.all(mine.map((key) => this.#inLine(key, () => this.#end(key))));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#brought.keys()].map((key) => this.#inLine(key, () => this.#end(key))));
  }

  /** Folders that a crash left. */
  async sweep(): Promise<void> {
    if (this.#brought.size === 0) await removeTree(this.#parts.folder);
  }

  names(session: string): string[] {
    return this.#of(session).flatMap(({ used }) => Object.keys(used));
  }

  /** Those that one of this name is among. */
  find(server: string): McpServers | undefined {
    return [...this.#brought.values()].find(({ servers }) => servers.has(server))?.servers;
  }

  get(name: string): Tool | undefined {
    for (const { session, served } of this.#brought.values()) {
      const tool = served.get(name);
      if (tool) return confine(tool, session);
    }
    return undefined;
  }

  async list(agent: string, session: string): ReturnType<ServedTools["list"]> {
    const all = await Promise.all(this.#of(session).map(({ served }) => served.list(agent, session)));
    return {
      tools: all.flatMap(({ tools }) => tools.map(({ server, tool }) => ({ server, tool: confine(tool, session) }))),
      isSeen: all.every(({ isSeen }) => isSeen),
    };
  }

  #of(session: string): Brought[] {
    return [...this.#brought.values()].filter((one) => one.session === session);
  }

  async #use(by: BroughtBy, used: Brought["used"]): Promise<void> {
    const key = makeKey(by);
    if (Object.keys(used).length === 0) return this.#end(key);
    const brought = this.#brought.get(key) ?? this.#open(by);
    this.#brought.set(key, brought);
    const left = Object.keys(brought.used).filter((name) => !(name in used));
    brought.used = used;
    brought.stopLease();
    brought.stopLease = this.#parts.clock.after(LEASE_MS, () => void this.end(by.session, by.holder));
    await brought.servers.apply();
    await this.#removeFolders(left);
  }

  #open({ session, folder }: BroughtBy): Brought {
    const failures = new Map<string, string>();
    const brought = { session, used: {} as Brought["used"], failures, stopLease: () => {} };
    const failed = (server: string, why: string) => void failures.set(server, why);
    const servers = this.#parts.open(() => brought.used, folder, failed);
    return Object.assign(brought, { servers, served: this.#parts.serve(servers, folder) });
  }

  async #end(key: string): Promise<void> {
    const brought = this.#brought.get(key);
    if (!brought) return;
    this.#brought.delete(key);
    brought.stopLease();
    await brought.servers.close();
    await this.#removeFolders(Object.keys(brought.used));
  }

  async #removeFolders(names: readonly string[]): Promise<void> {
    const { root, path } = this.#parts.folder;
    for (const name of names) await removeTree({ root, path: join(path, name) });
  }

  #inLine<T>(key: string, work: () => Promise<T>): Promise<T> {
    const mine = (this.#lines.get(key) ?? Promise.resolve()).then(work, work);
    const line = mine.catch(() => {});
    this.#lines.set(key, line);
    void line.then(() => this.#lines.get(key) === line && this.#lines.delete(key));
    return mine;
  }
}

function makeKey({ session, holder }: Pick<BroughtBy, "session" | "holder">): string {
  return JSON.stringify([session, holder]);
}

interface ReadServer extends OfferedServer {
  /** Its name among all servers. */
  as: string;
  config?: ServerConfig;
}

/** One after the other, so that two of the same name stay two. */
function readBrought({ session, folder }: BroughtBy, given: readonly BroughtServer[]): ReadServer[] {
  return given.map(({ name, ...one }): ReadServer => {
    const target = one.url ?? [one.command, ...(one.args ?? [])].join(" ");
    const gets = [...Object.keys(one.env ?? {}), ...Object.keys(one.headers ?? {})];
    const { servers, refused } = readPastedValue({ mcpServers: { [name]: toJson({ ...one, cwd: folder }) } });
    const [read] = servers;
    const id = digestJson(["editor", session, name, toJson(read?.config ?? {})]);
    if (!read) return { id, name, as: "", state: "refused", target, gets, why: refused[0]?.reason ?? "it is empty" };
    const as = `${read.name.slice(0, MOST_READABLE)}-${id.slice(0, DIGEST_LETTERS)}`;
    return { id, name, as, state: "asks", target, gets, config: read.config };
  });
}

function toJson(value: object): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}

function confine(tool: Tool, session: string): Tool {
  return {
    ...tool,
    async plan(input, place) {
      if (place.caller.session !== session)
        throw new AppError("TOOL_INPUT", {
          message: `${tool.spec.name} belongs to another conversation.`,
          hint: "Look for another with tool_search.",
          origin: "own",
        });
      return { ...(await tool.plan(input, place)), once: ONCE };
    },
  };
}
