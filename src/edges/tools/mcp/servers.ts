/**
 * All MCP servers of this home: what they offer, to which agent, and in which state they are. Nothing is started before a tool is
 * wanted (MCP-7), and every list is remembered, so a restart knows the tools without starting anything.
 */
import type { Records } from "../../../core/contracts/index.ts";
import { AppError, type JsonObject } from "../../../core/domain/index.ts";

import type { Clock, Crash, IdMaker, Log } from "../../../core/kit/index.ts";
import { asSentence, defined, nearest, visibleLine } from "../../../core/kit/index.ts";
import type { CallOutcome, CallRequest } from "./call/call.ts";
import type { McpConfig, ServerConfig } from "./config.ts";
import type { McpLogin } from "./connect/login.ts";
import { McpPeer, type PeerParts } from "./connect/peer.ts";
import { isEndOf, isOpen, type PendingLogin } from "./connect/pending.ts";
import type { PeerMemory, PeerState } from "./connect/state.ts";
import { digestJson, type Manifest, type McpTool } from "./listed/manifest.ts";
import { addressTool, isListed } from "./listed/names.ts";
import { describeTool, type HeldTool, type Sorted, sortTools } from "./listed/pins.ts";
import { projectSchema } from "./listed/project.ts";
import { findPrompt, readPrompt, readPromptArguments, showPrompt } from "./listed/prompts.ts";
import * as store from "./store.ts";
import type { TaskLine } from "./tasks/wire.ts";

/** What of `agents.<id>.mcp` limits an agent: tools as `server/tool`, with `*`. */
export interface AgentLists {
  allow?: readonly string[] | undefined;
  deny: readonly string[];
}

export interface McpServersParts {
  records: Records;
  clock: Clock;
  crash: Crash;
  ids: IdMaker;
  log: Log;
  config: () => McpConfig;
  lists: (agent: string) => AgentLists;
  /** A fresh connection to a server; `key` tags its processes. */
  connect(server: { name: string; config: ServerConfig }, key: string): ReturnType<PeerParts["transport"]>;
  client(server: string, ...options: Parameters<PeerParts["client"]>): ReturnType<PeerParts["client"]>;
  /** The login to a server elsewhere. */
  login(server: { name: string; config: ServerConfig }): Promise<Pick<McpLogin, "begin" | "finish">>;
  /** A login that was begun. Loads nothing. */
  pending(server: string): PendingLogin | undefined;
  /** Ends what is left of a run by its tag. */
  endRun(key: string): Promise<unknown>;
  /** A server couldn't be reached, or ended without being asked to. */
  failed?(server: string, why: string): void;
  /** True: nothing about these servers is stored, not even what was accepted of them. Their runs are, so that they can be ended. */
  forgets?: true;
  /** Whether it works on something between calls. */
  isWorking?(server: string): boolean;
  /** Servers that would be there if their plugin could be used, each with a sentence that agents may read. */
  missing?(): readonly { server: string; why: string }[];
  /** The same of one, in full, for the owner. */
  whyMissing?(server: string): string | undefined;
  /** Whether a prompt may be typed as a command: a plugin's only if it was granted. */
  mayPrompt?(server: string, prompt: string): boolean;
  /** One that doesn't answer is ended at once: it is a plugin's, and may be in an endless loop. */
  endsWhenSilent?(server: string): boolean;
}

/** A person typed the prompt's name and waits for it. */
const PROMPT_MS = 30_000;

export interface ServerStatus {
  name: string;
  state: PeerState;
  tools: number;
  held: HeldTool[];
  quarantined: Manifest["quarantined"];
  /** Its tools were never listed. */
  isUnknown: boolean;
}

export interface ServerTest extends Pick<ServerStatus, "tools" | "quarantined"> {
  ok: boolean;
  why?: string;
  ms: number;
  held: number;
  complaints: string[];
}

/** A tool that may be called now. */
export interface OfferedTool {
  server: string;
  tool: McpTool;
  isRepeatable: boolean;
}

interface Entry {
  config: ServerConfig;
  peer: McpPeer;
  manifest: Manifest | undefined;
  pins: Map<string, store.Pin>;
}

export class McpServers {
  readonly #parts: McpServersParts;
  readonly #entries = new Map<string, Entry>();

  constructor(parts: McpServersParts) {
    this.#parts = parts;
  }

  /** Follows the configuration: reads what is remembered of each server, ends those that left or changed. Starts nothing. */
  async apply(): Promise<void> {
    const { records, forgets } = this.#parts;
    const { servers } = this.#parts.config();
    // A changed definition may be a different program, so nothing of the running one is reused.
    const ended = [...this.#entries].filter(([name, { config }]) => !isSame(servers[name], config));
    for (const [name, { peer }] of ended) {
      this.#entries.delete(name);
      await peer.close();
    }
    for (const [name, config] of Object.entries(servers)) {
      // Unchanged servers keep their connection: other settings change far more often than these.
      if (this.#entries.has(name)) continue;
      const memory = forgets ? {} : await store.readServer(records, name);
      const pins = forgets ? new Map<string, store.Pin>() : await store.readPins(records, name);
      this.#entries.set(name, { config, peer: this.#peer(name, config, memory), manifest: memory.manifest, pins });
    }
  }

  /** Follows the configuration, with nothing known about these servers: their first list is what their owner chose. */
  async renew(servers: readonly string[]): Promise<void> {
    for (const name of servers) {
      const entry = this.#entries.get(name);
      this.#entries.delete(name);
      await entry?.peer.close();
      await this.forget(name);
    }
    await this.apply();
  }

  /** Forgets what was accepted of a server that was removed. */
  async forget(name: string): Promise<void> {
    await this.#parts.records.write((tx) => store.forgetServer(tx, name));
  }

  /** What a killed process left running. Looks at processes only when there was any. */
  async sweep(): Promise<void> {
    for (const { key } of await store.listRuns(this.#parts.records)) {
      await this.#parts.endRun(key);
      await this.#parts.records.write((tx) => store.endedRun(tx, key));
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#entries.values()].map(({ peer }) => peer.close()));
  }

  names(): string[] {
    return [...this.#entries].filter(([, { config }]) => config.enabled).map(([name]) => name);
  }

  /** What this agent may call, as far as it is known without starting anything. */
  offered(agent: string): OfferedTool[] {
    return this.names().flatMap((server) => this.#offeredBy(server, agent));
  }

  /** What new conversations of this agent get directly: pinned by the owner, and accepted as it is now. */
  pinned(agent: string): { tool: McpTool; input: JsonObject }[] {
    return this.offered(agent).flatMap(({ server, tool }) => {
      const input = this.whyNotPinned(server, tool) === undefined ? projectSchema(tool.input) : undefined;
      return input ? [{ tool, input }] : [];
    });
  }

  /** Undefined: it is. "" where nobody asked for it. */
  whyNotPinned(server: string, tool: McpTool): string | undefined {
    const { config, pins } = this.#entry(server);
    if (!config.pin.includes(tool.name)) return "";
    // Its description becomes a part of every request: somebody must have read it (I12).
    if (typeof pins.get(tool.name)?.seenAt !== "number") return "it is pinned, and waits until you accept it";
    return projectSchema(tool.input) ? undefined : "it is pinned, and its schema is too large for every request";
  }

  /** Why no agent is offered a tool of it: its definition leaves it out. */
  whyNotOffered(server: string, tool: string): string | undefined {
    const { allow, deny } = this.#entry(server).config;
    if (isListed(deny, tool)) return `mcp.servers.${server}.deny names it`;
    if (!allow || isListed(allow, tool)) return undefined;
    const isPlugin = this.#parts.endsWhenSilent?.(server) ?? false;
    return isPlugin ? "not among its rights" : `mcp.servers.${server}.allow doesn't name it`;
  }

  /** What any agent might call. */
  all(): OfferedTool[] {
    return this.names().flatMap((server) => this.#offeredBy(server));
  }

  /** Whether the descriptions of everything that is offered were looked at by a person. */
  isSeen(agent: string): boolean {
    return this.names().every((server) => {
      const entry = this.#entries.get(server)!;
      const isUsed = this.#offeredBy(server, agent).length > 0;
      return !isUsed || this.#sorted(entry).isSeen;
    });
  }

  /** Lists the servers of this agent that were never listed. One that fails is left out; its state says why. */
  async discover(agent: string): Promise<void> {
    const wanted = this.names().filter((name) => !this.#entries.get(name)!.manifest && this.#mayUse(agent, name));
    await Promise.all(wanted.map((name) => this.refresh(name).catch(() => undefined)));
  }

  /** Asks a server for its tools again. Throws when it can't be reached. */
  async refresh(name: string): Promise<ServerStatus> {
    const { peer } = this.#entry(name);
    await peer.list().catch((error: unknown) => {
      throw unreached(name, error);
    });
    return this.status(name);
  }

  /** Connects to a server and lists its tools; how that went, in figures and in the server's own words. */
  async test(name: string): Promise<ServerTest> {
    const from = performance.now();
    const why = await this.#entry(name)
      .peer.list()
      .then(
        () => undefined,
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      );
    const { tools, held, quarantined } = this.status(name);
    return {
      ok: why === undefined,
      ms: Math.round(performance.now() - from),
      tools,
      held: held.length,
      quarantined,
      complaints: this.complaints(name, 10),
      ...defined({ why }),
    };
  }

  status(name: string): ServerStatus {
    const entry = this.#entry(name);
    const { held } = this.#sorted(entry);
    return {
      name,
      state: entry.peer.state(),
      tools: this.#offeredBy(name).length,
      held,
      quarantined: entry.manifest?.quarantined ?? [],
      isUnknown: entry.manifest === undefined,
    };
  }

  /** The tools of a server, offered or not, as people read them. */
  describe(name: string): { offered: McpTool[]; held: HeldTool[]; quarantined: Manifest["quarantined"] } {
    const entry = this.#entry(name);
    const { offered, held } = this.#sorted(entry);
    return { offered, held, quarantined: entry.manifest?.quarantined ?? [] };
  }

  /** A person looked at the tools and takes them as they are now. Without names: all of them. Returns how many. */
  async accept(name: string, tools?: readonly string[]): Promise<number> {
    const { records, clock } = this.#parts;
    const entry = this.#entry(name);
    const accepted = (entry.manifest?.tools ?? []).filter((tool) => !tools || tools.includes(tool.name));
    const pins = accepted.map((tool) => pinned(tool, clock.now()));
    await records.write((tx) => {
      for (const pin of pins) store.writePin(tx, name, pin);
    });
    for (const pin of pins) entry.pins.set(pin.tool, pin);
    return pins.length;
  }

  /** Begins a login, or finishes it with the address the browser ended at. */
  async login(name: string, ended?: string): Promise<{ link?: string; done: boolean }> {
    const { config, peer } = this.#entry(name);
    if (config.url === undefined) {
      throw new AppError("BAD_REQUEST", { message: `${name} is a program on this machine and needs no login.` });
    }
    const login = await this.#parts.login({ name, config });
    if (ended === undefined) {
      const link = await login.begin();
      return link === undefined ? { done: true } : { link, done: false };
    }
    await login.finish(ended);
    peer.foundLogin();
    await peer.close();
    await this.refresh(name);
    return { done: true };
  }

  /** A login was begun and can still be finished. */
  isLoggingIn(name: string): boolean {
    return isOpen(this.#parts.pending(name), this.#parts.clock.now());
  }

  /** A browser came back from a login: `query` is what it brought. Undefined: of no login that is open. */
  async endLogin(query: string): Promise<string | undefined> {
    const state = new URLSearchParams(query).get("state") ?? "";
    const name = this.names().find((one) => isEndOf(this.#parts.pending(one), state, this.#parts.clock.now()));
    if (name !== undefined) await this.login(name, query);
    return name;
  }

  /** Sentences about servers that aren't there, of those that this agent may use. In our own words: agents read them. */
  missing(agent: string): { server: string; why: string }[] {
    const own = this.names().flatMap((server) => {
      const { manifest, peer } = this.#entries.get(server)!;
      const trouble = manifest ? undefined : peer.trouble();
      if (!trouble) return [];
      const why = trouble.isOurs ? ` ${asSentence(trouble.why)}` : ` The owner sees why with: lares mcp logs ${server}`;
      return [{ server, why: `The MCP server ${server} can't be used now.${why}` }];
    });
    // A plugin that was just switched off may still have its server here: what is said of the plugin counts.
    const off = this.#parts.missing?.() ?? [];
    const others = own.filter(({ server }) => !off.some((one) => one.server === server));
    return [...off, ...others].filter(({ server }) => this.#mayUse(agent, server));
  }

  /** What a server's program wrote, and why it isn't there. */
  logs(name: string, most?: number): { lines: string[]; problem?: string } {
    const { peer } = this.#entry(name);
    return { lines: peer.allComplaints(most), ...defined({ problem: peer.trouble()?.why }) };
  }

  /** Sentences about servers that wait for a login; of those that this agent may use, if one is named. */
  waiting(agent?: string): string[] {
    const names = this.names().filter((name) => agent === undefined || this.#mayUse(agent, name));
    return names.flatMap((name) => {
      const state = this.#entries.get(name)!.peer.state();
      return state.kind === "needs-login" ? [`The MCP server ${name}: ${state.why}`] : [];
    });
  }

  /** Sentences about everything that only a person can put right. */
  problems(): string[] {
    const broken = this.names().flatMap((name) => {
      const { peer } = this.#entries.get(name)!;
      const state = peer.state();
      const why = peer.whyContained() ?? (state.kind === "paused" ? state.why : undefined);
      return why === undefined ? [] : [`The MCP server ${name}: ${visibleLine(why)}. See: lares mcp logs ${name}`];
    });
    const pins = this.names().flatMap((name) =>
      this.unknownPins(name).map(({ name: tool, reason }) => `The MCP server ${name}: ${tool}: ${reason}`),
    );
    return [...this.waiting(), ...broken, ...pins, ...this.names().flatMap((name) => this.#heldProblem(name))];
  }

  /** Names under `pin` that are no tools of it, once it was listed. */
  unknownPins(name: string): Manifest["quarantined"] {
    const { config, manifest } = this.#entry(name);
    const known = manifest && [...manifest.tools, ...manifest.quarantined].map((one) => one.name);
    const strangers = known ? config.pin.filter((pin) => !known.includes(pin)) : [];
    return strangers.map((pin) => {
      const near = nearest(pin, known ?? []);
      const hint = near === undefined ? "" : `; did you mean ${near}?`;
      return { name: pin, reason: `it is pinned (mcp.servers.${name}.pin), and the server has no such tool${hint}` };
    });
  }

  #heldProblem(name: string): string[] {
    const { length } = this.#sorted(this.#entries.get(name)!).held;
    if (length === 0) return [];
    const what =
      length === 1 ? "a tool changed or is new, and isn't" : `${length} tools changed or are new, and aren't`;
    return [
      `The MCP server ${name}: ${what} used until you accept ${length === 1 ? "it" : "them"}: lares mcp tools ${name}`,
    ];
  }

  complaints(name: string, most?: number): string[] {
    return this.#entry(name).peer.complaints(most);
  }

  /** Throws TOOL_INPUT when the tool isn't offered to this agent now. */
  find(agent: string, server: string, tool: string): OfferedTool {
    const found = this.#entries.has(server)
      ? this.#offeredBy(server, agent).find((one) => one.tool.name === tool)
      : undefined;
    if (found) return found;
    // The two reasons need different advice: one waits for a person, the other is simply gone.
    const isHeld = this.#entries.has(server) && this.status(server).held.some((one) => one.tool.name === tool);
    throw new AppError("TOOL_INPUT", {
      message: isHeld
        ? `${addressTool(server, tool)} has changed and can't be used until the owner has accepted it.`
        : `${addressTool(server, tool)} no longer exists.`,
      hint: isHeld ? "Go on without it, and tell the person." : "Look for another with tool_search.",
      origin: "own",
    });
  }

  async call(server: string, request: CallRequest): Promise<CallOutcome> {
    const outcome = await this.#entry(server).peer.call(request);
    if (outcome.kind === "unknown") await this.endSilent(server, outcome.why);
    return outcome;
  }

  /** It was asked and didn't answer. Does nothing to a server of the owner's, or to one that has ended already. */
  async endSilent(server: string, why: string): Promise<void> {
    const { endsWhenSilent, failed } = this.#parts;
    const peer = this.#entries.get(server)?.peer;
    if (peer?.state().kind !== "ready" || !endsWhenSilent?.(server)) return;
    await peer.close();
    failed?.(server, why);
  }

  /** Whether an agent may use this of a server, by its lists. */
  mayRead(agent: string, server: string, address: string): boolean {
    const { allow, deny } = this.#parts.lists(agent);
    const isAllowed = !isListed(deny, address) && (!allow || isListed(allow, address));
    return isAllowed && this.#entries.get(server)?.config.enabled === true;
  }

  /** Asks a server for something to read. Throws TOOL_INPUT in its words when it refuses. */
  async request(server: string, ...given: Parameters<McpPeer["request"]>): Promise<unknown> {
    try {
      return await this.#entry(server).peer.request(...given);
    } catch (error) {
      if (given[2].aborted || error instanceof AppError) throw error;
      throw new AppError("TOOL_INPUT", { message: `${server}: ${(error as Error).message}`, cause: error });
    }
  }

  /** The prompts this agent may be given, as people type them, as far as they are known without starting anything. */
  prompts(agent: string): { typed: string; about: string }[] {
    return this.names().flatMap((server) =>
      (this.#entries.get(server)!.peer.prompts() ?? [])
        .filter(({ name }) => this.#mayType(agent, server, name))
        .map((prompt) => ({ typed: showPrompt(server, prompt), about: prompt.about })),
    );
  }

  /** A prompt's text. Undefined: there is no such server for this agent. Throws in words for people. */
  async prompt(agent: string, asked: { server: string; prompt: string; typed: string }): Promise<string | undefined> {
    const { server, prompt: name, typed } = asked;
    if (!this.#mayType(agent, server, name)) return undefined;
    const { peer } = this.#entry(server);
    const signal = AbortSignal.timeout(PROMPT_MS);
    try {
      if (!peer.prompts()) await peer.list();
      const prompt = findPrompt(server, peer.prompts() ?? [], name);
      const given = readPromptArguments(server, prompt, typed);
      return readPrompt(server, name, await peer.request("prompts/get", { name, arguments: given }, signal));
    } catch (error) {
      if (error instanceof AppError) throw error;
      throw new AppError("NOT_READY", { message: `${server}: ${visibleLine((error as Error).message)}`, cause: error });
    }
  }

  #mayType(agent: string, server: string, prompt: string): boolean {
    const isGranted = this.#parts.mayPrompt?.(server, prompt) ?? true;
    return isGranted && this.mayRead(agent, server, addressTool(server, `prompt/${prompt}`));
  }

  /** Goes on with a call that waits for a person. */
  answer(server: string, ...given: Parameters<McpPeer["answer"]>): Promise<CallOutcome> {
    return this.#entry(server).peer.answer(...given);
  }

  /** Asks a server about a task. Throws when it can't be reached. */
  task<T>(server: string, work: (line: TaskLine) => Promise<T>): Promise<T> {
    return this.#entry(server).peer.task(work);
  }

  /** The settings of a server. */
  config(server: string): ServerConfig {
    return this.#entry(server).config;
  }

  maySample(server: string): boolean {
    return this.#entry(server).peer.maySample(this.definition(server));
  }

  allowSampling(server: string): void {
    this.#entry(server).peer.allowSampling(this.definition(server));
  }

  taskMs(server: string): number {
    return this.#entry(server).config.taskMinutes * 60_000;
  }

  has(server: string): boolean {
    return this.#entries.has(server);
  }

  /** Of what decides which program answers: an approval is bound to it. A digest, because it has secrets in it. */
  definition(server: string): string {
    const { command, args, env, cwd, url, headers } = this.#entry(server).config;
    return digestJson({ command: command ?? null, args, env, cwd: cwd ?? null, url: url ?? null, headers });
  }

  #offeredBy(server: string, agent?: string): OfferedTool[] {
    const entry = this.#entries.get(server)!;
    const { allow, deny, repeatable } = entry.config;
    const lists: AgentLists = agent === undefined ? { deny: [] } : this.#parts.lists(agent);
    return this.#sorted(entry)
      .offered.filter(({ name }) => {
        const address = addressTool(server, name);
        // A deny wins on both levels, so that an agent's list can't open what the server's closes.
        if (isListed(deny, name) || isListed(lists.deny, address)) return false;
        return (!allow || isListed(allow, name)) && (!lists.allow || isListed(lists.allow, address));
      })
      .map((tool) => ({
        server,
        tool,
        isRepeatable: isListed(repeatable, tool.name),
      }));
  }

  /** Whether any tool of it could be this agent's: it is not started for one that may use none. */
  #mayUse(agent: string, server: string): boolean {
    const { allow } = this.#parts.lists(agent);
    return !allow || allow.some((pattern) => isListed([pattern.split("/")[0]!], server));
  }

  #sorted({ manifest, pins }: Entry): Sorted {
    return manifest ? sortTools(manifest, pins) : { offered: [], held: [], isSeen: true };
  }

  #entry(name: string): Entry {
    const entry = this.#entries.get(name);
    if (entry) return entry;
    const off = this.#parts.whyMissing?.(name);
    if (off !== undefined) throw new AppError("NOT_READY", { message: off, retry: "after-change" });
    const near = nearest(name, this.#entries.keys());
    throw new AppError("NOT_FOUND", {
      message: `There is no MCP server "${name}".`,
      hint: near ? `Did you mean "${near}"?` : "See what there is: lares mcp list",
    });
  }

  #peer(name: string, config: ServerConfig, memory: PeerMemory): McpPeer {
    const { records, clock, ids, client, connect } = this.#parts;
    return new McpPeer({
      name,
      config,
      clock,
      client: (options) => client(name, options),
      memory,
      isWorking: () => this.#parts.isWorking?.(name) ?? false,
      failed: (why) => {
        this.#parts.log.warn("an MCP server failed", { name, why });
        this.#parts.failed?.(name, why);
      },
      remember: (kept) => this.#remember(name, kept),
      listed: (manifest) => this.#took(name, manifest),
      transport: async () => {
        const key = ids.next("mcp");
        // Recorded before it is started: after a crash, the next start finds the record and ends what carries the tag.
        await records.write((tx) => store.startedRun(tx, key, name));
        this.#parts.crash.at("server.noted", () => name);
        const transport = await connect({ name, config }, key);
        return onClosed(transport, () => void records.write((tx) => store.endedRun(tx, key)).catch(() => undefined));
      },
    });
  }

  #remember(name: string, memory: PeerMemory): void {
    const { records, clock, log, forgets } = this.#parts;
    if (forgets) return;
    records
      .write((tx) => store.writeServer(tx, name, memory, clock.now()))
      .catch((error: unknown) => log.warn("an MCP server's list could not be stored", { name, reason: String(error) }));
  }

  /** The first list of a server is what its owner chose; later ones are held against it (MCP-10). */
  async #took(name: string, manifest: Manifest): Promise<void> {
    const entry = this.#entry(name);
    entry.manifest = manifest;
    // Only the very first list is taken without a look: adding the server was the decision.
    if (entry.pins.size > 0 || manifest.tools.length === 0) return;
    const pins = manifest.tools.map((tool) => pinned(tool, null));
    if (!this.#parts.forgets) {
      await this.#parts.records.write((tx) => {
        for (const pin of pins) store.writePin(tx, name, pin);
      });
    }
    for (const pin of pins) entry.pins.set(pin.tool, pin);
  }
}

/** For the person who asked; why is often the server's own word. */
function unreached(name: string, error: unknown): AppError {
  if (error instanceof AppError) return error;
  return new AppError("NOT_READY", {
    message: `The MCP server ${name} can't be used now. ${visibleLine((error as Error).message)}`,
    hint: `See what it printed: lares mcp logs ${name}`,
    retry: "later",
    cause: error,
  });
}

function isSame(a: ServerConfig | undefined, b: ServerConfig): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function pinned(tool: McpTool, seenAt: number | null): store.Pin {
  return { tool: tool.name, digest: tool.digest, shown: describeTool(tool), seenAt };
}

function onClosed<T extends { close(): Promise<void> }>(transport: T, tell: () => void): T {
  const close = transport.close.bind(transport);
  transport.close = () => close().finally(tell);
  return transport;
}
