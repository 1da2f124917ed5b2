/**
 * Where runs live on this machine: which runtimes there are, what they can do, and what a run is lent (a home, a boundary, a door to
 * models). What a run does and says is for the one who opened it.
 *
 * HOST-1: a run is planned before anything is started; what the plan doesn't allow isn't started.
 * HOST-2: what a run was lent ends with it: its door to models, its folders, its way out of the sandbox.
 */
import { join } from "node:path";
import type {
  ModelRelay,
  RunCommand,
  RunPorts,
  RunRequest,
  RunSession,
  RunToken,
  RunTools,
  RuntimeAdapter,
  RuntimeCapabilities,
  RuntimeProbe,
} from "../../core/contracts/index.ts";
import { AppError, readRuntimeName, type SessionKey, type TurnId } from "../../core/domain/index.ts";
import type { Log } from "../../core/kit/index.ts";
import { listNames, type RuntimesConfig, readProfile } from "./config.ts";
import type { DriverParts, RuntimeDriver } from "./driver.ts";
import { DRIVERS, driveAcp } from "./drivers.ts";
import { makeFolders, removeFolders } from "./folders.ts";
import { plan, type RunPlan } from "./plan/plan.ts";
import { ModelProxy, type ProxyParts, type ServeTools, TOOLS_PATH } from "./proxy/door.ts";
import type { ProxyListener } from "./proxy/ports.ts";
import { unknownRuntime } from "./words.ts";

export interface RunRoom {
  /** Names the run's processes. */
  key: string;
  writable: readonly string[];
  /** Its only way out: this port of ours, through a socket in this folder. Null: none. */
  way: { folder: string; port: number } | null;
}

export interface HostParts extends DriverParts {
  /** Of Lares. */
  home: string;
  config: () => RuntimesConfig;
  models: { relay: ModelRelay; list: ProxyParts["listModels"] };
  ledger: ProxyParts["ledger"];
  /** Whether this machine can put a sandbox around a child. */
  hasSandbox(): Promise<boolean>;
  /** The command inside a sandbox, and what has to be closed after it. */
  confine(room: RunRoom, command: RunCommand): Promise<{ command: RunCommand; close(): void }>;
  /** The variables of every child, with this folder as its home. */
  environment(home: string): Record<string, string>;
  log: Log;
  serveTools: ServeTools;
}

export interface OpenRun extends Omit<RunRequest, "workspace"> {
  runtime: string;
  turn: TurnId;
  session: SessionKey;
  workspace: string;
  trust: "own" | "outside";
  listener: ProxyListener;
  tools: RunTools;
  isServing(): boolean;
}

export interface OpenedRun {
  session: RunSession;
  plan: RunPlan;
  /** Whether its model calls are in the ledger already, from the proxy. */
  isMetered: boolean;
  /** Ends everything of it. Idempotent, never throws. */
  release(): Promise<void>;
}

export interface RuntimeState {
  name: string;
  title: string;
  probe: RuntimeProbe;
  /** Null: it isn't here. */
  can: RuntimeCapabilities | null;
  /** How a run would be driven here; `refused`: why there would be none. */
  plan: RunPlan | null;
  refused: string | null;
}

interface KnownProbe {
  at: number;
  probe: RuntimeProbe;
}

/** How long a probe that found everything in order is believed. */
const PROBE_MS = 300_000;
/** As runtimes name the server of our tools. */
const OWN_SERVER = "lares";
/** A lease outlives any turn; it ends with its run. */
const LEASE_MS = 30 * 86_400_000;

export class RuntimeHost {
  private readonly parts: HostParts;
  private readonly adapters = new Map<string, Promise<RuntimeAdapter>>();
  private readonly probes = new Map<string, KnownProbe>();
  private readonly opened = new Set<OpenedRun>();
  private proxy: ModelProxy | undefined;

  constructor(parts: HostParts) {
    this.parts = parts;
  }

  /** Everything that is known or described in the settings. */
  drivers(): RuntimeDriver[] {
    const own = Object.entries(this.parts.config()).map(([name, given]) => driveAcp(readProfile(name, given)));
    const names = new Set(own.map(({ name }) => name));
    return [...DRIVERS.filter(({ name }) => !names.has(name)), ...own];
  }

  /** Looks whether one is here, and how its runs would be driven. */
  async look(name: string, signal: AbortSignal): Promise<RuntimeState> {
    const driver = this.find(name);
    const adapter = await this.adapter(driver);
    const probe = await adapter.probe(signal);
    this.probes.set(driver.name, { at: this.parts.clock.now(), probe });
    const known = { name: driver.name, title: driver.title, probe };
    if (probe.state !== "ready") return { ...known, can: null, plan: null, refused: null };
    const can = adapter.capabilities(probe.version);
    const planned = plan(can, { ...TASK, machine: await this.machine() });
    return planned.ok
      ? { ...known, can, plan: planned.plan, refused: null }
      : { ...known, can, plan: null, refused: planned.reasons.map(({ text }) => text).join(" ") };
  }

  /** Throws an AppError when it surely did not start. */
  async open(of: OpenRun, signal: AbortSignal): Promise<OpenedRun> {
    const opened = await this.start(of, (adapter, request, ports) => adapter.open(request, ports, signal), signal);
    return opened!;
  }

  /** Takes up a run that outlived the process that opened it. Null: there is nothing to take up. */
  takeUp(of: OpenRun, token: RunToken, signal: AbortSignal): Promise<OpenedRun | null> {
    return this.start(of, (adapter, request, ports) => adapter.reattach(token, request, ports, signal), signal);
  }

  private async start(
    of: OpenRun,
    begin: (adapter: RuntimeAdapter, request: RunRequest, ports: RunPorts) => Promise<RunSession | null>,
    signal: AbortSignal,
  ): Promise<OpenedRun | null> {
    const { clock, home, tag } = this.parts;
    const driver = this.find(of.runtime);
    const adapter = await this.adapter(driver);
    const version = await this.ready(driver, adapter, signal);
    const can = adapter.capabilities(version);
    const planned = plan(can, { ...TASK, trust: of.trust, machine: await this.machine() });
    if (!planned.ok) throw new AppError("NOT_READY", { message: planned.reasons.map(({ text }) => text).join(" ") });
    const folders = makeFolders(home, { agent: of.agent, runtime: driver.name, run: of.run });
    const closing: (() => void)[] = [() => removeFolders(folders)];
    const { run, turn, session, agent, listener } = of;
    const model = can.proxy.proof === "absent" ? null : of.model;
    try {
      const lend = async (tools?: RunTools) => {
        const until = clock.now() + LEASE_MS;
        const who = { run, turn, session, agent, listener, runtime: driver.name, model, until };
        const lease = await this.door().grant(tools ? { ...who, tools } : who);
        closing.unshift(() => lease.revoke());
        return lease;
      };
      const lease = can.proxy.proof === "absent" ? null : await lend();
      const tools = can.mcp.proof === "absent" || of.tools.specs.length === 0 ? null : await lend(of.tools);
      const way = lease ?? tools;
      const isConfined = planned.plan.boundary === "sandbox";
      const room: RunRoom = {
        key: run,
        writable: [folders.tmp, folders.home, of.workspace],
        way: way && { folder: folders.way, port: Number(new URL(way.baseUrl).port) },
      };
      const request: RunRequest = {
        ...of,
        model,
        workspace: { path: of.workspace, boundary: planned.plan.boundary, writable: true },
      };
      const ports = {
        models: lease && { baseUrl: lease.baseUrl, token: lease.token },
        mcp: tools ? [{ name: OWN_SERVER, url: `${tools.baseUrl}${TOOLS_PATH}`, token: tools.token }] : [],
        isServing: () => of.isServing(),
        home: planned.plan.home === "kept" ? folders.home : null,
        tmp: folders.tmp,
        env: { ...this.parts.environment(folders.home), TMPDIR: folders.tmp, [tag]: run },
        confine: async (command: RunCommand) => {
          if (!isConfined) return command;
          const confined = await this.parts.confine(room, command);
          closing.unshift(() => confined.close());
          return confined.command;
        },
      };
      const opened = await begin(adapter, request, ports);
      if (opened) return this.hold({ session: opened, plan: planned.plan, isMetered: lease !== null }, closing);
      for (const close of closing) close();
      return null;
    } catch (error) {
      for (const close of closing) close();
      throw error;
    }
  }

  /** Ends what processes of these runs are left, e.g. of an earlier life. */
  async endLeft(runs: readonly string[]): Promise<void> {
    for (const key of runs) await this.parts.endRun({ key });
  }

  /** Ends everything. */
  async close(): Promise<void> {
    await Promise.all([...this.opened].map((one) => one.release()));
    await this.proxy?.close();
  }

  private hold(run: Omit<OpenedRun, "release">, closing: readonly (() => void)[]): OpenedRun {
    let released: Promise<void> | undefined;
    const end = async () => {
      await run.session.close();
      for (const close of closing) close();
      this.opened.delete(held);
    };
    const held: OpenedRun = {
      ...run,
      release: () => {
        released ??= end();
        return released;
      },
    };
    this.opened.add(held);
    return held;
  }

  private door(): ModelProxy {
    const { models, ledger, clock, log, serveTools } = this.parts;
    this.proxy ??= new ModelProxy({ relay: models.relay, listModels: models.list, ledger, clock, log, serveTools });
    return this.proxy;
  }

  private find(given: string): RuntimeDriver {
    const { name } = readRuntimeName(given);
    const found = this.drivers().find((one) => one.name === name);
    if (found) return found;
    throw new AppError("NOT_FOUND", { message: unknownRuntime(given, listNames(this.parts.config())) });
  }

  private adapter(driver: RuntimeDriver): Promise<RuntimeAdapter> {
    // What a person described may change while Lares runs, so the settings are part of its identity.
    const key = JSON.stringify([driver.name, this.parts.config()[driver.name] ?? null]);
    let made = this.adapters.get(key);
    if (!made) {
      made = driver.make({ ...this.parts, kept: join(this.parts.home, "runtimes") });
      this.adapters.set(key, made);
    }
    return made;
  }

  /** Its version, once it is known to be usable. */
  private async ready(driver: RuntimeDriver, adapter: RuntimeAdapter, signal: AbortSignal): Promise<string> {
    const now = this.parts.clock.now();
    const known = this.probes.get(driver.name);
    const isFresh = known !== undefined && known.probe.state === "ready" && now - known.at < PROBE_MS;
    const probe = isFresh ? known.probe : await adapter.probe(signal);
    this.probes.set(driver.name, { at: isFresh ? known.at : now, probe });
    if (probe.state === "ready") return probe.version;
    throw new AppError("NOT_READY", { message: probe.fix, retry: "after-change" });
  }

  private async machine(): Promise<"sandbox"[]> {
    return (await this.parts.hasSandbox()) ? ["sandbox"] : [];
  }
}

/** A turn of a conversation: it may change files of the workspace. */
const TASK = { writes: true, repository: false, trust: "own" as const };
