/** In which state a server is, and what is remembered of it over restarts. */
import type { PriorDiscovery } from "@modelcontextprotocol/client";
import { type Backoff, backoffMs, type Clock } from "../../../../core/kit/index.ts";
import type { Manifest } from "../listed/manifest.ts";
import type { McpPrompt } from "../listed/prompts.ts";

export type PeerState =
  | { kind: "off" }
  /** Not running; it starts with the next call. */
  | { kind: "idle" }
  | { kind: "connecting" }
  | { kind: "ready"; since: number }
  /** A person has to log in first. */
  | { kind: "needs-login"; why: string }
  /** It couldn't be started or reached the last time, or ended by itself. The next call tries again. */
  | { kind: "failed"; at: number; why: string }
  /** It failed several times in a row. */
  | { kind: "paused"; until: number; why: string };

/** What went wrong last. `isContained`: Lares ended it, because of what it did. `isOurs`: Lares couldn't start it, and says why in its own words. */
interface LastFailure {
  at: number;
  why: string;
  isContained?: true;
  isOurs?: true;
}

/** How it went wrong. */
interface PeerFailing {
  why: string;
  isContained: boolean;
  isOurs?: boolean;
}

/** What is remembered of a server over restarts. */
export interface PeerMemory {
  /** Since when a person has to log in, until a call succeeds: they get one notice of it. */
  lostLogin?: number;
  /** What it said when it refused us for want of a login, until it is connected again. */
  needsLogin?: string;
  /** Until it is connected again. */
  failure?: LastFailure;
  prior?: PriorDiscovery;
  manifest?: Manifest;
  prompts?: McpPrompt[];
  /** The definition that a person lets have a model write for it. */
  samples?: string;
}

/** After so many failures in a row it is left alone for a while. */
const MOST_FAILURES = 3;
const PAUSE: Backoff = { firstMs: 30_000, mostMs: 15 * 60_000, jitter: 0.2 };

interface KeptMemory {
  read(): PeerMemory;
  keep(memory: PeerMemory): void;
}

/** How a server that isn't connected is doing. What is said about it is true after a restart, too; only the pause is forgotten. */
export class PeerHealth {
  readonly #clock: Clock;
  readonly #memory: KeptMemory;
  #failures = 0;
  #pausedUntil = 0;

  constructor(clock: Clock, memory: KeptMemory) {
    this.#clock = clock;
    this.#memory = memory;
  }

  state(): PeerState {
    const { needsLogin, failure } = this.#memory.read();
    if (needsLogin !== undefined) return { kind: "needs-login", why: needsLogin };
    if (failure === undefined) return { kind: "idle" };
    const { at, why } = failure;
    return this.#isPaused() ? { kind: "paused", until: this.#pausedUntil, why } : { kind: "failed", at, why };
  }

  /** Why Lares had to end it the last time, if it did. */
  whyContained(): string | undefined {
    const { failure } = this.#memory.read();
    return failure?.isContained ? failure.why : undefined;
  }

  /** Why it isn't there. `isOurs`: the words are Lares', not the server's. */
  trouble(): { why: string; isOurs: boolean } | undefined {
    const { failure } = this.#memory.read();
    return failure && { why: failure.why, isOurs: failure.isOurs ?? failure.isContained ?? false };
  }

  /** Why it isn't tried now. */
  whyNotNow(): string | undefined {
    if (!this.#isPaused()) return undefined;
    return `it failed ${this.#failures} times and is left alone for now: ${this.#memory.read().failure?.why ?? ""}`;
  }

  /** It was connected, and isn't any more. */
  ended({ why, isContained, isOurs }: PeerFailing): void {
    const of = { ...(isContained ? { isContained: true as const } : {}), ...(isOurs ? { isOurs: true as const } : {}) };
    const failure = { at: this.#clock.now(), why, ...of };
    this.#memory.keep({ ...this.#memory.read(), failure });
  }

  /** It couldn't be connected. */
  failed(how: PeerFailing): void {
    this.ended(how);
    this.#failures++;
    // A server that just restarts fails once or twice. Only a broken one keeps failing.
    if (this.#failures < MOST_FAILURES) return;
    this.#pausedUntil = this.#clock.now() + backoffMs(PAUSE, this.#failures - MOST_FAILURES + 1);
  }

  refused(why: string): void {
    const memory = this.#memory.read();
    if (memory.needsLogin !== why) this.#memory.keep({ ...memory, needsLogin: why });
  }

  connected(): void {
    const { needsLogin, failure, ...memory } = this.#memory.read();
    if (needsLogin !== undefined || failure !== undefined) this.#memory.keep(memory);
  }

  #isPaused(): boolean {
    return this.#pausedUntil > this.#clock.now();
  }

  /** Only work that succeeded shows that it is well; a connection alone does not. */
  worked(): void {
    this.#failures = 0;
  }
}
