/**
 * Where runs live on this machine: which runtimes there are, what they can do, and what a run is lent (a home, a boundary, a door to
 * models). What a run does and says is for the one who opened it.
 *
 * HOST-1: a run is planned before anything is started; what the plan doesn't allow isn't started.
 * HOST-2: what a run was lent ends with it: its door to models, its folders, its way out of the sandbox.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type {
  MakeScriptedRelay,
  ModelRelay,
  Records,
  RunCommand,
  RunRequest,
  RunSession,
  RunToken,
  RunTools,
  RuntimeAdapter,
  RuntimeCapabilities,
  RuntimeProbe,
} from "../../core/contracts/index.ts";
import { AppError, readRuntimeName, type SessionKey, type TurnId } from "../../core/domain/index.ts";
import { type Crash, type Log, sha256 } from "../../core/kit/index.ts";
import { listNames, type RuntimesConfig, readProfile } from "./config.ts";
import type { DriverParts, RuntimeDriver } from "./driver.ts";
import { DRIVERS, driveAcp } from "./drivers.ts";
import { makeFolders, removeTrial } from "./folders.ts";
import { type InstalledProgram, RuntimeTools } from "./install/tools.ts";
import { installWords } from "./install/words.ts";
import { type BeginRun, lend } from "./lend.ts";
import { plan, type RunPlan } from "./plan/plan.ts";
import { withProofs } from "./plan/proofs.ts";
import { findProgram, UNKNOWN_VERSION } from "./program.ts";
import { ModelProxy, type ProxyParts, type ServeTools } from "./proxy/door.ts";
import type { ProxyListener } from "./proxy/ports.ts";
import { holdTrial } from "./trial/hold.ts";
import { dropTrials, keepProofs, noteTrial, type ProofKey, readProofs } from "./trial/store.ts";
import type { SeenInTrial } from "./trial/trial.ts";
import { trialWords } from "./trial/words.ts";
import { unknownRuntime } from "./words.ts";

export interface RunRoom {
  /** Names the run's processes. */
  key: string;
  writable: readonly string[];
  readable: readonly string[];
  /** Its only way out: this port of ours, through a socket in this folder, under the port `inside` there. Null: none. */
  way: { folder: string; port: number; inside: number } | null;
}

export interface HostParts extends DriverParts {
  /** Of Lares. */
  home: string;
  config: () => RuntimesConfig;
  models: { relay: ModelRelay; list: ProxyParts["listModels"]; scripted: MakeScriptedRelay };
  ledger: ProxyParts["ledger"];
  /** For what runtimes were seen to do. */
  records: Records;
  crash: Crash;
  /** Names this machine: what was seen on another one is no proof. */
  machine: string;
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
  /** For work on a repository: makes the worktree that takes the workspace's place. */
  worktree?: () => Promise<{ path: string; gitDir: string; instructions: string }>;
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
  driver: RuntimeDriver;
  probe: RuntimeProbe;
  /** Where its program is. */
  program: string | null;
  /** Lares installed it. */
  isOurs: boolean;
  /** Null: it isn't here. */
  can: RuntimeCapabilities | null;
  /** When this version was tried out on this machine. */
  triedAt: number | null;
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
/** For a program that starts slowly, on a busy machine. */
const VERSION_MS = 30_000;

export class RuntimeHost {
  private readonly parts: HostParts;
  private readonly adapters = new Map<string, Promise<RuntimeAdapter>>();
  private readonly probes = new Map<string, KnownProbe>();
  private readonly opened = new Set<Pick<OpenedRun, "release">>();
  private readonly trials = new Map<string, Promise<SeenInTrial[]>>();
  private readonly tools: RuntimeTools;
  /** With the programs that Lares installed, before those of the machine. */
  private readonly driverParts: DriverParts;
  private readonly closing = new AbortController();
  private proxy: ModelProxy | undefined;

  constructor(parts: HostParts) {
    this.parts = parts;
    this.tools = new RuntimeTools(parts);
    this.driverParts = {
      ...parts,
      kept: join(parts.home, "runtimes"),
      searchPath: () => [...this.tools.folders(this.drivers()), ...parts.searchPath()],
    };
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
    const found = await adapter.probe(signal);
    const known = this.probes.get(driver.name)?.probe;
    const isSlow = found.state === "ready" && found.version === UNKNOWN_VERSION && known?.state === "ready";
    const probe = isSlow ? known : found;
    this.probes.set(driver.name, { at: this.parts.clock.now(), probe });
    const program = await findProgram(driver.program, this.driverParts.searchPath());
    const isOurs = program !== undefined && this.tools.has(program);
    const about = { driver, probe, program: program ?? null, isOurs };
    if (probe.state !== "ready") return { ...about, can: null, plan: null, refused: null, triedAt: null };
    const { can, triedAt } = await this.capabilities(driver, adapter, probe.version);
    const planned = plan(can, { ...TASK, machine: await this.machine() });
    return planned.ok
      ? { ...about, can, triedAt, plan: planned.plan, refused: null }
      : { ...about, can, triedAt, plan: null, refused: planned.reasons.map(({ text }) => text).join(" ") };
  }

  /** Throws an AppError when it surely did not start. */
  async open(of: OpenRun, signal: AbortSignal): Promise<OpenedRun> {
    const opened = await this.start(of, (adapter, request, ports) => adapter.open(request, ports, signal), signal);
    return opened!;
  }

  /** Takes up a run that outlived the process that opened it. Null: there is nothing to take up. */
  takeUp(of: OpenRun, token: RunToken, signal: AbortSignal): Promise<OpenedRun | null> {
    // Nothing is said to it now, and when it was opened it was given the owner's words only.
    const own = { ...of, trust: "own" as const };
    return this.start(own, (adapter, request, ports) => adapter.reattach(token, request, ports, signal), signal);
  }

  private async start(given: OpenRun, begin: BeginRun, signal: AbortSignal): Promise<OpenedRun | null> {
    const { home } = this.parts;
    const driver = this.find(given.runtime);
    const adapter = await this.adapter(driver);
    const version = await this.ready(driver, adapter, signal);
    const { can } = await this.capabilities(driver, adapter, version);
    const planned = plan(can, {
      ...TASK,
      repository: given.worktree !== undefined,
      trust: given.trust,
      machine: await this.machine(),
    });
    if (!planned.ok) throw new AppError("NOT_READY", { message: planned.reasons.map(({ text }) => text).join(" ") });
    const tree = planned.plan.worktree ? await given.worktree!() : null;
    const of = tree ? inWorktree(given, tree) : given;
    const folders = makeFolders(home, { agent: of.agent, runtime: driver.name, run: of.run });
    const lent = await lend(this.parts, {
      of,
      adapter,
      can,
      plan: planned.plan,
      folders,
      readable: tree ? [tree.gitDir] : [],
      door: () => this.door(),
      begin,
    });
    if (!lent) return null;
    const { closing, ...run } = lent;
    return this.hold({ ...run, plan: planned.plan }, closing);
  }

  /** Tries one out and records what was seen. Throws when it can't be started, or didn't work at all; then nothing is recorded. */
  async tryOut(name: string): Promise<SeenInTrial[]> {
    const driver = this.find(name);
    const running = this.trials.get(driver.name);
    if (running) return running;
    const made = this.runTrial(driver, this.closing.signal).finally(() => this.trials.delete(driver.name));
    this.trials.set(driver.name, made);
    return made;
  }

  /** Installs its program into the home. */
  async install(name: string): Promise<InstalledProgram> {
    const { title, npm, program, name: known } = this.find(name);
    if (!npm) throw new AppError("BAD_REQUEST", { message: installWords.notOnNpm(title), retry: "after-change" });
    const done = await this.tools.install({ name: known, program, npm }, () => this.opened.size > 0);
    this.probes.delete(known);
    return done;
  }

  /** Ends what processes of these runs are left, e.g. of an earlier life. */
  async endLeft(runs: readonly string[]): Promise<void> {
    for (const key of runs) await this.parts.endRun({ key });
  }

  /** Ends what a crash left of trials. */
  async sweepTrials(left: readonly { run: string; runtime: string }[]): Promise<void> {
    await this.endLeft(left.map(({ run }) => run));
    for (const { runtime } of left) removeTrial(this.parts.home, runtime);
    await dropTrials(
      this.parts.records,
      left.map(({ run }) => run),
    );
  }

  /** Ends everything. */
  async close(): Promise<void> {
    this.closing.abort();
    await Promise.all([...this.opened].map((one) => one.release()));
    // A trial ends with its run, and says so to those who wait for it.
    await Promise.allSettled(this.trials.values());
    await this.proxy?.close();
  }

  private hold(run: Omit<OpenedRun, "release">, closing: readonly (() => void)[]): OpenedRun {
    return { ...run, ...this.keepOpen(run.session, closing) };
  }

  /** Until it is released, or everything is closed. */
  private keepOpen(session: RunSession, closing: readonly (() => void)[]): Pick<OpenedRun, "release"> {
    let released: Promise<void> | undefined;
    const end = async () => {
      await session.close();
      for (const close of closing) close();
      this.opened.delete(held);
    };
    const held = {
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
      made = driver.make(this.driverParts);
      this.adapters.set(key, made);
    }
    return made;
  }

  /** Its version, once it is known to be usable. */
  private async ready(driver: RuntimeDriver, adapter: RuntimeAdapter, signal: AbortSignal): Promise<string> {
    const now = this.parts.clock.now();
    const known = this.probes.get(driver.name);
    const isFresh = known !== undefined && known.probe.state === "ready" && now - known.at < PROBE_MS;
    const found = isFresh ? known.probe : await adapter.probe(signal);
    // What was seen of a version counts for that one only, so here it is worth waiting for.
    const isUnknown = found.state === "ready" && found.version === UNKNOWN_VERSION;
    const probe = isUnknown ? await adapter.probe(signal, VERSION_MS) : found;
    this.probes.set(driver.name, { at: isFresh ? known.at : now, probe });
    if (probe.state === "ready") return probe.version;
    throw new AppError("NOT_READY", { message: probe.fix, retry: "after-change" });
  }

  private async machine(): Promise<"sandbox"[]> {
    return (await this.parts.hasSandbox()) ? ["sandbox"] : [];
  }

  /** A proof holds where it was seen: on another machine, without the sandbox, or described in another way, it is another program. */
  private async proofKey(runtime: string, version: string): Promise<ProofKey> {
    const place = [this.parts.machine, await this.machine(), this.parts.config()[runtime] ?? null];
    return { runtime, version, machine: sha256(JSON.stringify(place)) };
  }

  /** With what was seen of it here. */
  private async capabilities(driver: RuntimeDriver, adapter: RuntimeAdapter, version: string) {
    const { seen, at } = await readProofs(this.parts.records, await this.proofKey(driver.name, version));
    return { can: withProofs(adapter.capabilities(version), version, seen), triedAt: at };
  }

  private async runTrial(driver: RuntimeDriver, signal: AbortSignal): Promise<SeenInTrial[]> {
    const { records, clock, crash } = this.parts;
    const adapter = await this.adapter(driver);
    this.probes.delete(driver.name);
    const version = await this.ready(driver, adapter, signal).catch((error: unknown) => {
      // Lares itself is ready.
      if (!(error instanceof AppError)) throw error;
      throw new AppError("CONFLICT", { message: error.message, retry: "after-change" });
    });
    if (version === UNKNOWN_VERSION)
      throw new AppError("CONFLICT", { message: trialWords.noVersion(driver.title), retry: "later" });
    const can = adapter.capabilities(version);
    if (can.proxy.proof === "absent")
      throw new AppError("CONFLICT", { message: trialWords.ownModels(driver.title), retry: "after-change" });
    const key = await this.proofKey(driver.name, version);
    const run = `trial-${randomBytes(8).toString("hex")}`;
    await noteTrial(records, { run, runtime: driver.name, at: clock.now() });
    try {
      crash.at("probe.noted", () => driver.name);
      const boundary = (await this.parts.hasSandbox()) ? ("sandbox" as const) : ("none" as const);
      const seen = await holdTrial(
        this.parts,
        { driver, adapter, can, boundary, run, keepOpen: (session, closing) => this.keepOpen(session, closing) },
        signal,
      );
      crash.at("probe.seen", () => driver.name);
      await keepProofs(records, key, { run, seen, at: clock.now() });
      return seen;
    } catch (error) {
      await dropTrials(records, [run]);
      throw error;
    }
  }
}

function inWorktree(of: OpenRun, { path, instructions }: { path: string; instructions: string }): OpenRun {
  const { prompt } = of;
  const all = [prompt.instructions, instructions].filter(Boolean).join("\n\n");
  return { ...of, workspace: path, prompt: { ...prompt, instructions: all } };
}

/** A turn of a conversation: it may change files of the workspace. */
const TASK = { writes: true, repository: false, trust: "own" as const };
