/** The browsers of all agents of this process: one per agent, launched once however many ask, closed when idle. */
import { join } from "node:path";
import type { BrowserType } from "playwright-core";
import { AppError } from "../../../core/domain/index.ts";
import { type Clock, systemClock } from "../../../core/kit/index.ts";
import { createReach, type Reach, type ReachRules } from "../web/index.ts";
import { loadDriver, requireChromium } from "./find.ts";
import { launch } from "./launch.ts";
import { startProxy, type Unreached } from "./proxy.ts";
import { BrowserSession } from "./session.ts";

/** Long enough for a person's answer to "may I?", short enough not to keep 300 MB for nothing. */
const IDLE_MS = 5 * 60_000;

export interface BrowserDeps extends ReachRules {
  clock?: Clock;
  idleMs?: number;
  /** Default: the Chromium of this machine. */
  executable?: string;
  /** Default: playwright-core, loaded at the first use. */
  driver?: () => BrowserType;
}

interface Entry {
  session: Promise<BrowserSession>;
  /** Cancels the idle timer. */
  keep: () => void;
  users: number;
}

export class Pool {
  readonly reach: Reach;
  private readonly deps: BrowserDeps;
  private readonly entries = new Map<string, Entry>();
  /** Sessions that are open, for those who only look. */
  private readonly open = new Map<string, BrowserSession>();
  private closed = false;

  constructor(deps: BrowserDeps) {
    this.deps = deps;
    this.reach = createReach(deps);
  }

  /** The agent's session when it is open already. */
  peek(agentDir: string): BrowserSession | undefined {
    return this.open.get(agentDir);
  }

  /** Runs with the agent's session, launching it when needed. The session is not closed meanwhile. */
  async use<T>(agentDir: string, act: (session: BrowserSession) => Promise<T>): Promise<T> {
    const entry = this.entries.get(agentDir) ?? this.start(agentDir);
    entry.keep();
    entry.users++;
    try {
      const session = await entry.session;
      return await session.inTurn(() => act(session));
    } finally {
      entry.users--;
      if (entry.users === 0 && this.entries.get(agentDir) === entry) this.closeWhenIdle(agentDir, entry);
    }
  }

  /** Closes one agent's browser; its profile stays. */
  async close(agentDir: string): Promise<void> {
    const entry = this.entries.get(agentDir);
    if (!entry) return;
    this.forget(agentDir, entry);
    const session = await entry.session.catch(() => undefined);
    await session?.close();
  }

  async closeAll(): Promise<void> {
    this.closed = true;
    await Promise.all([...this.entries.keys()].map((agentDir) => this.close(agentDir)));
  }

  private start(agentDir: string): Entry {
    if (this.closed)
      throw new AppError("NOT_READY", { message: "Lares is stopping; no browser is started.", retry: "later" });
    const entry: Entry = {
      session: this.launch(agentDir, () => this.forget(agentDir, entry)),
      keep: () => {},
      users: 0,
    };
    this.entries.set(agentDir, entry);
    entry.session.then(
      (session) => {
        if (this.entries.get(agentDir) === entry) this.open.set(agentDir, session);
      },
      () => this.forget(agentDir, entry),
    );
    return entry;
  }

  private async launch(agentDir: string, onGone: () => void): Promise<BrowserSession> {
    const { executable = requireChromium(), driver = loadDriver } = this.deps;
    let tell: (unreached: Unreached) => void = () => {};
    const chromium = driver();
    const proxy = await startProxy(this.reach, (unreached) => tell(unreached));
    try {
      const context = await launch({ driver: chromium, executable, profile: join(agentDir, "browser"), proxy });
      const session = new BrowserSession(context, proxy);
      tell = (unreached) => session.notReached(unreached);
      // It may crash or be killed; the next action starts a new one.
      context.once("close", () => {
        onGone();
        void proxy.close();
      });
      return session;
    } catch (error) {
      await proxy.close();
      throw error;
    }
  }

  private closeWhenIdle(agentDir: string, entry: Entry): void {
    const { clock = systemClock, idleMs = IDLE_MS } = this.deps;
    entry.keep = clock.after(idleMs, () => void this.close(agentDir));
  }

  private forget(agentDir: string, entry: Entry): void {
    entry.keep();
    if (this.entries.get(agentDir) !== entry) return;
    this.entries.delete(agentDir);
    this.open.delete(agentDir);
  }
}
