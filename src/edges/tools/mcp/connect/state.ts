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
  /** It failed several times in a row. */
  | { kind: "paused"; until: number; why: string };

/** What is remembered of a server over restarts. */
export interface PeerMemory {
  /** Since when a person has to log in, until a call succeeds: they get one notice of it. */
  lostLogin?: number;
  prior?: PriorDiscovery;
  manifest?: Manifest;
  prompts?: McpPrompt[];
  /** The definition that a person lets have a model write for it. */
  samples?: string;
}

/** After so many failures in a row it is left alone for a while. */
const MOST_FAILURES = 3;
const PAUSE: Backoff = { firstMs: 30_000, mostMs: 15 * 60_000, jitter: 0.2 };

/** How a server that isn't connected is doing. */
export class PeerHealth {
  readonly #clock: Clock;
  #failures = 0;
  #pausedUntil = 0;
  #why = "";
  /** What it said when it refused us for want of a login. */
  #needsLogin: string | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  state(): PeerState {
    if (this.#needsLogin !== undefined) return { kind: "needs-login", why: this.#needsLogin };
    if (this.#pausedUntil > this.#clock.now()) return { kind: "paused", until: this.#pausedUntil, why: this.#why };
    return { kind: "idle" };
  }

  /** Why it isn't tried now. */
  whyNotNow(): string | undefined {
    if (this.#pausedUntil <= this.#clock.now()) return undefined;
    return `it failed ${this.#failures} times and is left alone for now: ${this.#why}`;
  }

  failed(why: string): void {
    this.#failures++;
    this.#why = why;
    // A server that just restarts fails once or twice. Only a broken one keeps failing.
    if (this.#failures < MOST_FAILURES) return;
    this.#pausedUntil = this.#clock.now() + backoffMs(PAUSE, this.#failures - MOST_FAILURES + 1);
  }

  refused(why: string): void {
    this.#needsLogin = why;
  }

  connected(): void {
    this.#needsLogin = undefined;
  }

  /** Only work that succeeded shows that it is well; a connection alone does not. */
  worked(): void {
    this.#failures = 0;
  }
}
