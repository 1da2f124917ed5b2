/**
 * The tokens that children get instead of a provider's key.
 *
 * LEASE-1: only a token's hash is kept, in memory: a restart of Lares revokes all of them, as it ends all children.
 * LEASE-2: a token is good for one run, until a time, for a number of calls at once.
 * LEASE-3: a token that is revoked or out of time is refused from that moment, and calls under way are cut off.
 */
import { randomBytes } from "node:crypto";
import type { RunTools } from "../../../core/contracts/index.ts";
import type { SessionKey, TurnId } from "../../../core/domain/index.ts";
import { type Clock, sha256 } from "../../../core/kit/index.ts";
import type { ProxyListener } from "./ports.ts";

export interface LeaseRequest {
  run: string;
  /** Who pays. */
  turn: TurnId;
  session: SessionKey;
  agent: string;
  runtime: string;
  /** `provider/model` that the run was given; its runtime may know it by a shorter name. */
  model?: string | null;
  /** Good until then, in milliseconds since 1970. */
  until: number;
  listener?: ProxyListener;
  /** It opens these, and no models. */
  tools?: RunTools;
}

export interface Lease extends LeaseRequest {
  /** Names it, and opens nothing. */
  id: string;
  /** Aborts when the lease ends. */
  signal: AbortSignal;
  /** Calls under way. */
  calls: number;
}

/** Runtimes ask for a title or a summary beside the answer; more than this at once is a fault. */
export const MOST_CALLS_AT_ONCE = 16;
/** More runs than any machine drives. */
const MOST_LEASES = 1000;
const TOKEN_BYTES = 32;

interface HeldLease {
  lease: Lease;
  end: () => void;
}

export class Leases {
  private readonly clock: Clock;
  private readonly held = new Map<string, HeldLease>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Makes a token. The caller keeps it for the child and nowhere else. */
  grant(request: LeaseRequest): { token: string; revoke(): void } {
    if (this.held.size >= MOST_LEASES) throw new Error(`there are ${MOST_LEASES} leases already`);
    const token = `lares-run-${randomBytes(TOKEN_BYTES).toString("base64url")}`;
    const key = sha256(token);
    const controller = new AbortController();
    let stopTimer = () => {};
    const revoke = () => {
      stopTimer();
      this.held.delete(key);
      controller.abort();
    };
    // A timer may ring early: none is longer than some weeks.
    const arm = () => {
      const left = request.until - this.clock.now();
      if (left <= 0) revoke();
      else stopTimer = this.clock.after(left, arm);
    };
    arm();
    this.held.set(key, { lease: { ...request, id: key, signal: controller.signal, calls: 0 }, end: revoke });
    return { token, revoke };
  }

  /** The lease of this token; undefined when it isn't, or is no longer, one. The look-up is by hash, so its time says nothing. */
  find(token: string): Lease | undefined {
    const found = this.held.get(sha256(token))?.lease;
    return found && found.until > this.clock.now() ? found : undefined;
  }

  /** Ends all of them. */
  revokeAll(): void {
    for (const { end } of [...this.held.values()]) end();
  }
}
