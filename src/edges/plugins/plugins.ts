/**
 * The plugins of this home: staged, accepted, switched on and off, updated and removed. What they offer is read from the store; their
 * code runs as MCP servers, which this room defines and never starts itself.
 *
 * PLUGINS-7: nothing of a plugin is used before a person said yes to exactly these files and rights; the yes is bound to their digest.
 * PLUGINS-8: a plugin whose files are no longer those of its digest doesn't run.
 */
import { join } from "node:path";
import type { HookFacts } from "../../core/contracts/index.ts";
import { AppError, type JsonObject } from "../../core/domain/index.ts";
import { type Clock, type Crash, defined, type IdMaker, type Log, nearest } from "../../core/kit/index.ts";
import { configMisfit, type Misfit } from "./advise.ts";
import type { PluginRights } from "./format/own-part.ts";
import { countFailure, MOST_FAILURES, WINDOW_MS } from "./health.ts";
import { digestFiles, digestPlugin, refuse } from "./install/files.ts";
import { PluginFolders } from "./install/folders.ts";
import { type LockedPlugin, type PluginLock, readLock, writeLock } from "./install/lock.ts";
import { type ScanFinding, scanPlugin } from "./install/scan.ts";
import { fetchPlugin, type SourceParts } from "./install/source.ts";
import { type PluginContents, type PluginServer, readPlugin } from "./installed.ts";
import { nameServer } from "./names.ts";
import {
  compareFiles,
  compareLists,
  describeOffers,
  describeRights,
  type FileChange,
  type ListChange,
} from "./rights.ts";
import { makePluginCalls, type PluginCalls } from "./run/ask.ts";
import { isEvent, type PluginHooks } from "./run/hooks.ts";

/** Longer than any hook may take. */
const JUDGE_MS = 120_000;

/** What a plugin needs of this machine, and whether it can have it. */
export interface PluginFit {
  misfit: Misfit;
  whyNoProgram(command: string, userHome: string): string | undefined;
  whyNotGranted(path: string, homes: { home: string; userHome: string }): string | undefined;
}

export interface PluginsParts extends Pick<SourceParts, "userHome" | "web"> {
  home: string;
  clock: Clock;
  ids: IdMaker;
  crash: Crash;
  log: Log;
  /** `plugins.config` in lares.yaml, by plugin. */
  settings: () => Readonly<Record<string, unknown>>;
  /** MCP servers that the owner defined: their names are taken. */
  takenServers: () => readonly string[];
  fit: PluginFit;
  hasSecret(name: string): boolean;
  /** Asks the hooks about a staged plugin. */
  judge(key: string, facts: HookFacts<"install.staged">, signal: AbortSignal): Promise<{ deny?: string }>;
  registry: () => string | undefined;
  /** The MCP servers, which their code runs as. */
  servers: () => PluginServersPort;
}

export interface PluginServersPort {
  /** What the plugins offer has changed. `replaced`: servers whose tools are new. */
  renew(replaced: readonly string[]): Promise<void>;
  /** Asks a server. Throws when it can't be reached. */
  request(server: string, method: string, params: object, signal: AbortSignal): Promise<unknown>;
  /** It was asked and didn't answer in time. */
  endSilent(server: string, why: string): Promise<void>;
}

export interface StagedPlugin {
  name: string;
  version: string;
  description: string;
  digest: string;
  from: string;
  exactly?: string;
  files: Record<string, string>;
  rights: string[];
  skills: string[];
  /** What was wrong and is left out. */
  notes: string[];
  findings: ScanFinding[];
  /** Against the installed version, when there is one. */
  changes?: { version: string; rights: ListChange; files: FileChange };
}

export type PluginState = "on" | "off" | "failed" | "broken";

export interface PluginStatus {
  name: string;
  version: string;
  description: string;
  digest: string;
  from: string;
  state: PluginState;
  why?: string;
  rights: string[];
  servers: string[];
  skills: string[];
  hooks: string[];
  /** What it brings, counted: "2 tools". */
  offers: string[];
  notes: string[];
}

/** What a plugin can be for accounts or providers that the owner connects to it. */
export type PluginRole = "channel" | "model" | "watch" | "memory";

/** A plugin that is in use. */
export interface ActivePlugin {
  name: string;
  root: string;
  locked: LockedPlugin;
  contents: PluginContents;
  config: JsonObject;
}

interface Known {
  locked: LockedPlugin;
  contents: PluginContents | { why: string };
}

export class Plugins {
  readonly #parts: PluginsParts;
  readonly #folders: PluginFolders;
  #lock: PluginLock = { version: 1, plugins: {}, leaving: [] };
  #known = new Map<string, Known>();
  /** Why none can be used, if none can. */
  #broken: string | undefined;
  readonly #staged = new Map<string, StagedPlugin>();
  readonly #failures = new Map<string, { times: number[]; why: string }>();
  #queue: Promise<unknown> = Promise.resolve();
  #listener: () => void = () => {};

  /** What their code is asked, beside its tools. */
  readonly calls: PluginCalls;

  constructor(parts: PluginsParts) {
    this.#parts = parts;
    this.#folders = new PluginFolders(parts.home);
    this.calls = makePluginCalls({
      plugins: this,
      request: (...asked) => parts.servers().request(...asked),
      silent: (server, why) =>
        void parts
          .servers()
          .endSilent(server, why)
          .catch(() => undefined),
    });
  }

  /** Reads what is installed and removes what a killed process left. A home without plugins costs one look. */
  async open(): Promise<void> {
    try {
      this.#lock = await readLock(this.#folders.dir);
    } catch (error) {
      this.#broken = (error as Error).message;
      this.#parts.log.error(this.#broken);
      return;
    }
    await this.#folders.sweep(this.#lock);
    if (this.#lock.leaving.length > 0) await this.#write({ ...this.#lock, leaving: [] });
    for (const [name, locked] of Object.entries(this.#lock.plugins)) await this.#read(name, locked);
  }

  /** Gets a plugin and looks at it. Nothing of it is used. Throws BAD_REQUEST for one that can't be installed. */
  stage(from: string, expect?: { name: string }): Promise<StagedPlugin> {
    return this.#alone(() => this.#stage(from, expect));
  }

  /** A person said yes to this digest. Throws NOT_FOUND when nothing with it is staged. */
  accept(digest: string): Promise<PluginStatus> {
    return this.#alone(() => this.#accept(digest));
  }

  /** The person said no. */
  discard(digest: string): Promise<void> {
    return this.#alone(async () => {
      this.#staged.delete(digest);
      await this.#folders.discard(digest);
    });
  }

  remove(name: string, deletesData: boolean): Promise<void> {
    return this.#alone(async () => {
      const { [name]: leaving, ...plugins } = this.#lock.plugins;
      if (!leaving) throw this.#unknown(name);
      const servers = this.#serverNames(name);
      await this.#write({ ...this.#lock, plugins, leaving: [...this.#lock.leaving, { name, deletesData }] });
      this.#parts.crash.at("plugin.unlocked", () => name);
      this.#known.delete(name);
      this.#failures.delete(name);
      // Its programs end before its files go.
      await this.#tell(servers);
      await this.#folders.sweep(this.#lock, this.#staged.keys());
      await this.#write({ ...this.#lock, leaving: [] });
    });
  }

  setEnabled(name: string, enabled: boolean): Promise<PluginStatus> {
    return this.#alone(async () => {
      const { off: _off, ...locked } = this.#locked(name);
      this.#failures.delete(name);
      await this.#replace(name, { ...locked, enabled });
      await this.#tell([]);
      return this.#shown(name);
    });
  }

  list(): PluginStatus[] {
    return Object.keys(this.#lock.plugins).map((name) => this.#shown(name));
  }

  /** One that is on says what it lacks, if anything: it may do a part of its work without it. */
  #shown(name: string): PluginStatus {
    const status = this.#status(name);
    return status.state === "on"
      ? { ...status, ...defined({ why: this.#lacks(name)[0] ?? this.#failedLately(name) }) }
      : status;
  }

  #failedLately(name: string): string | undefined {
    const { times, why } = this.#failures.get(name) ?? { times: [], why: "" };
    const isLately = times.some((at) => at > this.#parts.clock.now() - WINDOW_MS);
    return isLately ? `It failed lately: ${why.replace(/\.$/, "")}.` : undefined;
  }

  #lacks(name: string): string[] {
    const { locked, contents } = this.#known.get(name) ?? {};
    if (!locked || !contents || "why" in contents) return [];
    const { fit, userHome, hasSecret } = this.#parts;
    const secrets = locked.rights.secrets.filter((secret) => !hasSecret(secret));
    return [
      ...contents.servers.flatMap((one) =>
        one.kind === "program" ? (fit.whyNoProgram(one.command, userHome) ?? []) : [],
      ),
      ...secrets.map((secret) => `It wants the secret ${secret}, which isn't in the vault.`),
    ];
  }

  get(name: string): PluginStatus & { source: LockedPlugin["source"] } {
    return { ...this.#status(name), source: this.#locked(name).source };
  }

  /** In sentences, what of the plugins needs a person. */
  problems(): string[] {
    if (this.#broken !== undefined) return [this.#broken];
    return this.list().flatMap(({ name, state, why }) =>
      state === "failed" || state === "broken" ? [`The plugin ${name} is off: ${why}`] : [],
    );
  }

  /** What is wrong with a plugin, or with all of them, looked at closely. Starts nothing. */
  examine(name?: string): Promise<{ name: string; problems: string[] }[]> {
    const names = name === undefined ? Object.keys(this.#lock.plugins) : [name];
    return Promise.all(names.map(async (one) => ({ name: one, problems: await this.#examine(one) })));
  }

  async #examine(name: string): Promise<string[]> {
    const { contents } = this.#known.get(name) ?? { contents: undefined };
    const locked = this.#locked(name);
    const { state, why } = this.#status(name);
    const found = state === "on" || why === undefined ? [] : [why];
    if (!(await this.#isUnchanged(name, locked))) found.push(changedFiles(name));
    found.push(...this.#lacks(name));
    const lately = state === "on" ? this.#failedLately(name) : undefined;
    if (lately !== undefined && found.length === 0) found.push(lately);
    if (contents && !("why" in contents)) found.push(...contents.problems.map((problem) => `${problem}.`));
    return [...new Set(found)];
  }

  /** Those in use, by name. */
  active(): ActivePlugin[] {
    return [...this.#known].flatMap(([name, { locked, contents }]) => {
      if ("why" in contents || this.#status(name).state !== "on") return [];
      const root = this.#folders.stored({ name, digest: locked.digest });
      return [{ name, root, locked, contents, config: this.#config(name) }];
    });
  }

  /** Where the skills of those in use are. */
  skillFolders(): { plugin: string; root: string }[] {
    return this.active().map(({ name, root }) => ({ plugin: name, root: join(root, "skills") }));
  }

  /** The servers in use. One whose name the owner's own settings have is left out. */
  servers(): { plugin: ActivePlugin; server: PluginServer }[] {
    const taken = new Set(this.#parts.takenServers());
    return this.active().flatMap((plugin) =>
      plugin.contents.servers.filter(({ name }) => !taken.has(name)).map((server) => ({ plugin, server })),
    );
  }

  /** The servers of plugins that Lares doesn't use although their owner didn't switch them off. */
  missing(): { server: string; why: string; inFull: string }[] {
    return this.list().flatMap(({ name, state, why = "" }) => {
      if (state !== "failed" && state !== "broken") return [];
      const how = state === "failed" ? "is switched off, because it failed several times" : "can't be used";
      const sentences = {
        why: `The plugin ${name} ${how}. Its owner sees why with: lares plugins list`,
        inFull: `The plugin ${name} is off: ${why}`,
      };
      const servers = this.#serverNames(name);
      return (servers.length > 0 ? servers : [nameServer(name)]).map((server) => ({ server, ...sentences }));
    });
  }

  /** The hooks of all plugins that aren't disabled, also of those that can't run. */
  hooks(): PluginHooks[] {
    return [...this.#known].flatMap(([name, { locked, contents }]) => {
      const { state, why = "it can't be used" } = this.#status(name);
      if (state === "off" || locked.rights.hooks.length === 0) return [];
      const server =
        "why" in contents ? undefined : contents.servers.find((one) => one.kind === "program" && one.speaksHooks);
      const events = locked.rights.hooks;
      return [state === "on" && server ? { name, events, server: server.name } : { name, events, why }];
    });
  }

  /** The server that does this for a plugin. Throws in words for people when there is none, it is off, or it wasn't granted. */
  serverFor(name: string, right: PluginRole): string {
    const { state, why } = this.#status(name);
    const found = this.active().find((one) => one.name === name);
    if (!found)
      throw new AppError("NOT_READY", {
        message: `The plugin ${name} is ${state}${why ? `: ${why}` : "."}`,
        retry: "later",
      });
    if (!found.locked.rights[right])
      throw new AppError("FORBIDDEN", {
        message: `The plugin ${name} wasn't granted the right "${right}".`,
        hint: `It has to ask for it: rights.${right} in its plugin.json.`,
        retry: "after-change",
      });
    return nameServer(name);
  }

  /** Where a plugin that is a model listens: in its data folder, which is the only place that it and Lares share. */
  modelSocket(name: string): string {
    return join(this.#folders.data(name), "model.sock");
  }

  /** Tells when what the plugins offer has changed. */
  onChange(listener: () => void): void {
    this.#listener = listener;
  }

  /** Settings or the owner's own servers have changed, and with them perhaps what can be used. */
  settingsChanged(): Promise<void> {
    return this.#tell([]);
  }

  /** A plugin is about to be started: its data folder, and one for its way to hosts. Throws when its files aren't those that a person accepted (PLUGINS-8). */
  async prepare({ name, locked }: ActivePlugin, server: string): Promise<{ data: string; way: string }> {
    if (await this.#isUnchanged(name, locked))
      return { data: await this.#folders.makeData(name), way: join(this.#folders.dir, "net", server) };
    throw new AppError("FORBIDDEN", {
      message: changedFiles(name),
      hint: "Install it again, or remove it.",
      retry: "after-change",
    });
  }

  /** Its code ended by itself, or didn't answer (PLUGINS-6). */
  failed(name: string, why: string): void {
    if (this.#status(name).state !== "on") return;
    const now = this.#parts.clock.now();
    const times = countFailure(this.#failures.get(name)?.times ?? [], now);
    this.#failures.set(name, { times, why });
    this.#parts.log.warn("a plugin failed", { name, why, times: times.length });
    if (times.length < MOST_FAILURES) return;
    const minutes = WINDOW_MS / 60_000;
    const reason = `It failed ${MOST_FAILURES} times within ${minutes} minutes, the last time: ${why.replace(/\.$/, "")}.`;
    this.#alone(async () => {
      await this.#replace(name, { ...this.#locked(name), off: { why: reason, at: now } });
      await this.#tell([]);
    }).catch((error: unknown) =>
      this.#parts.log.error("a plugin can't be switched off", { name, error: String(error) }),
    );
  }

  async #stage(from: string, expect: { name: string } | undefined): Promise<StagedPlugin> {
    if (this.#broken !== undefined) throw new AppError("CONFIG_INVALID", { message: this.#broken });
    const { userHome, web, ids } = this.#parts;
    const registry = this.#parts.registry();
    await this.#folders.make();
    const scratch = this.#folders.scratch(ids.next("plugin"));
    const fetched = await fetchPlugin(from, { scratch, userHome, web, registry });
    const files = digestFiles(fetched.files);
    const digest = digestPlugin(files);
    const findings = scanPlugin(fetched.files);
    const bad = findings.find(({ isRefused }) => isRefused);
    if (bad) throw refuse(`${bad.path} ${bad.what}`);
    await this.#folders.writeQuarantine(digest, fetched.files);
    this.#parts.crash.at("plugin.staged", () => from);
    const contents = await readPlugin({ root: this.#folders.quarantine(digest), data: "PLUGIN_DATA" });
    const problem = "why" in contents ? contents.why : this.#whyNot(contents, from, expect);
    if (problem !== undefined || "why" in contents) {
      await this.#folders.discard(digest);
      throw refuse((problem ?? "").replace(/\.$/, ""));
    }
    const { name, version, description } = contents.manifest;
    const staged: StagedPlugin = {
      name,
      version,
      description,
      digest,
      from,
      files,
      findings,
      ...defined({ exactly: fetched.exactly }),
      rights: describeRights(contents),
      skills: contents.skills,
      notes: [...fetched.notes, ...contents.problems],
      ...defined({ changes: this.#changes(name, files, describeRights(contents)) }),
    };
    const facts = { what: "plugin", name, source: from, digest, findings: findings.map((one) => one.what) } as const;
    const { deny } = await this.#parts.judge(digest, facts, AbortSignal.timeout(JUDGE_MS));
    if (deny !== undefined) {
      await this.#folders.discard(digest);
      throw refuse(deny.replace(/\.$/, ""));
    }
    this.#staged.set(digest, staged);
    return staged;
  }

  #whyNot({ manifest }: PluginContents, from: string, expect: { name: string } | undefined): string | undefined {
    const { name, own } = manifest;
    if (expect && expect.name !== name) return `it calls itself "${name}", not "${expect.name}"`;
    const installed = this.#lock.plugins[name];
    if (!expect && installed && installed.source.from !== from)
      return `there is already a plugin "${name}", from ${installed.source.from}; remove that one first`;
    const { hooks, tools, commands, channel, model, watch, memory } = own.rights;
    const unknown = hooks.find((event) => !isEvent(event));
    if (unknown !== undefined) return `it wants to hear "${unknown}", which isn't an event`;
    const denied = this.#denied(own.rights);
    if (denied !== undefined) return `it asks to ${denied}`;
    if (!own.code && (channel || model || watch || memory || hooks.length + tools.length + commands.length > 0))
      return "it asks for rights that only code can use, and has no code";
    return undefined;
  }

  /** A folder that no yes of the owner's could open. */
  #denied({ paths }: PluginRights): string | undefined {
    const all = [...paths.read.map((path) => ["read", path]), ...paths.write.map((path) => ["change", path])];
    for (const [deed, path = ""] of all) {
      const why = this.#parts.fit.whyNotGranted(path, this.#parts);
      if (why !== undefined) return `${deed} ${path}, and no plugin can: ${why}`;
    }
    return undefined;
  }

  #changes(name: string, files: Record<string, string>, rights: string[]): StagedPlugin["changes"] {
    const known = this.#known.get(name);
    if (!known) return undefined;
    const before = "why" in known.contents ? [] : describeRights(known.contents);
    return {
      version: known.locked.version,
      rights: compareLists(before, rights),
      files: compareFiles(known.locked.files, files),
    };
  }

  async #accept(digest: string): Promise<PluginStatus> {
    const staged = this.#staged.get(digest);
    if (!staged) {
      throw new AppError("NOT_FOUND", {
        message: `No plugin with the digest ${digest.slice(0, 16)}… is waiting for a yes.`,
        hint: "Look at it again: lares plugins install SOURCE",
        retry: "after-change",
      });
    }
    const { name, version, from, files, exactly } = staged;
    this.#staged.delete(digest);
    const root = this.#folders.quarantine(digest);
    // Between the look and the yes the files could have been changed by anybody who can write here.
    if ((await this.#folders.digest(root).catch(() => "")) !== digest)
      throw refuse(changedFiles(name).replace(/\.$/, ""));
    const contents = await readPlugin({ root, data: "PLUGIN_DATA" });
    if ("why" in contents) throw refuse(contents.why.replace(/\.$/, ""));
    const replaced = this.#serverNames(name);
    const locked: LockedPlugin = {
      digest,
      version,
      files,
      rights: contents.manifest.own.rights,
      enabled: true,
      source: { from, ...defined({ exactly }) },
      installedAt: this.#parts.clock.now(),
    };
    await this.#folders.store({ name, digest });
    this.#parts.crash.at("plugin.stored", () => name);
    await this.#replace(name, locked);
    this.#parts.crash.at("plugin.locked", () => name);
    this.#failures.delete(name);
    await this.#tell([...new Set([...replaced, ...this.#serverNames(name)])]);
    await this.#folders.sweep(this.#lock, this.#staged.keys());
    return this.#shown(name);
  }

  #status(name: string): PluginStatus {
    const locked = this.#locked(name);
    const contents = this.#known.get(name)?.contents ?? { why: "It can't be read." };
    const base = { name, version: locked.version, digest: locked.digest, from: locked.source.from };
    const hooks = [...locked.rights.hooks];
    if ("why" in contents) {
      const none = { description: "", rights: [], servers: [], skills: [], hooks, offers: [], notes: [] };
      return { ...base, ...none, state: "broken", why: contents.why };
    }
    const { manifest, skills, problems } = contents;
    const about = {
      description: manifest.description,
      rights: describeRights(contents),
      offers: describeOffers(contents),
      skills,
      hooks,
      servers: contents.servers.map((server) => server.name),
      notes: problems,
    };
    return { ...base, ...about, ...this.#judge(name, locked, contents) };
  }

  async #tell(replaced: readonly string[]): Promise<void> {
    await this.#parts.servers().renew(replaced);
    this.#listener();
  }

  #judge(name: string, locked: LockedPlugin, contents: PluginContents): { state: PluginState; why?: string } {
    if (locked.off) return { state: "failed", why: locked.off.why };
    if (!locked.enabled) return { state: "off" };
    const problem = configMisfit(this.#parts.fit.misfit, contents, this.#config(name));
    if (problem !== undefined)
      return { state: "broken", why: `plugins.config.${name} in lares.yaml doesn't fit: ${problem}.` };
    const taken = contents.servers.find((server) => this.#parts.takenServers().includes(server.name));
    const denied = this.#denied(locked.rights);
    if (denied !== undefined) return { state: "broken", why: `It was granted to ${denied}.` };
    if (taken) return { state: "broken", why: `mcp.servers in lares.yaml already has a server "${taken.name}".` };
    return { state: "on" };
  }

  #config(name: string): JsonObject {
    return (this.#parts.settings()[name] ?? {}) as JsonObject;
  }

  async #isUnchanged(name: string, { digest }: LockedPlugin): Promise<boolean> {
    return (await this.#folders.digest(this.#folders.stored({ name, digest })).catch(() => "")) === digest;
  }

  #serverNames(name: string): string[] {
    const contents = this.#known.get(name)?.contents;
    return contents && !("why" in contents) ? contents.servers.map((server) => server.name) : [];
  }

  async #replace(name: string, locked: LockedPlugin): Promise<void> {
    await this.#write({ ...this.#lock, plugins: { ...this.#lock.plugins, [name]: locked } });
    await this.#read(name, locked);
  }

  async #read(name: string, locked: LockedPlugin): Promise<void> {
    const places = { root: this.#folders.stored({ name, digest: locked.digest }), data: this.#folders.data(name) };
    const contents = await readPlugin(places);
    const isOther = !("why" in contents) && contents.manifest.name !== name;
    this.#known.set(name, { locked, contents: isOther ? { why: "Its files belong to another plugin." } : contents });
  }

  async #write(lock: PluginLock): Promise<void> {
    await writeLock(this.#folders.dir, lock);
    this.#lock = lock;
  }

  #locked(name: string): LockedPlugin {
    const locked = this.#lock.plugins[name];
    if (!locked) throw this.#unknown(name);
    return locked;
  }

  #unknown(name: string): AppError {
    // Which plugins there are isn't known then, and nobody may conclude that one is gone.
    if (this.#broken !== undefined) return new AppError("CONFIG_INVALID", { message: this.#broken });
    const near = nearest(name, Object.keys(this.#lock.plugins));
    return new AppError("NOT_FOUND", {
      message: `There is no plugin "${name}".`,
      hint: near ? `Did you mean "${near}"?` : "See what there is: lares plugins list",
    });
  }

  /** One change at a time: each reads and writes the same lock file. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#queue.then(work, work);
    this.#queue = next.catch(() => undefined);
    return next;
  }
}

function changedFiles(name: string): string {
  return `The files of the plugin ${name} were changed after they were accepted, so it doesn't run.`;
}
