/** The program that speaks for the account, while there is one, and everybody who waits for it. */
import type { Peer } from "../../../core/contracts/index.ts";
import type { Clock, Log } from "../../../core/kit/index.ts";
import type { AdapterParts, AskPluginChannel } from "../account.ts";
import { refused } from "../sending.ts";
import type { ExternalAccount } from "./config.ts";

export interface ExternalState {
  account: string;
  config: ExternalAccount;
  clock: Clock;
  log: Log;
  peer: Peer | undefined;
  /** By id, what was sent and isn't acknowledged yet. */
  acks: Map<string, Waiter>;
  /** Messages that wait for a program to connect. */
  arrivals: Set<Waiter>;
  /** Ends `run` when the program leaves, which shows in the account's status. */
  left(error: Error): void;
  askPlugin: AskPluginChannel | undefined;
}

export interface Waiter {
  done(): void;
  /** It will not come. */
  lost(): void;
}

export function makeState({ account, config, clock, log, askPlugin }: AdapterParts<ExternalAccount>): ExternalState {
  return {
    account,
    config,
    clock,
    log,
    askPlugin,
    peer: undefined,
    acks: new Map(),
    arrivals: new Set(),
    left: () => {},
  };
}

/** A new program takes the place of the one before it (EXTERNAL-3). */
export function arrive(state: ExternalState, peer: Peer): void {
  state.peer?.close("another program took its place");
  loseAcks(state);
  state.peer = peer;
  for (const { done } of [...state.arrivals]) done();
}

export function leave(state: ExternalState, peer: Peer): void {
  if (state.peer !== peer) return;
  state.peer = undefined;
  loseAcks(state);
  state.left(nobodyThere());
}

/** What wasn't acknowledged by the program that has gone may or may not have arrived. */
function loseAcks({ acks }: ExternalState): void {
  for (const { lost } of [...acks.values()]) lost();
}

export function nobodyThere(): Error {
  return refused("No program speaks for this account right now.", "later");
}

/**
 * Waits for a callback that `register` hands out, and throws what `late` makes if it doesn't come in time, is lost, or the signal
 * aborts. `forget` undoes the registration in any case.
 */
export function waitFor(
  clock: Clock,
  wait: { ms: number; late(): Error; register(waiter: Waiter): void; forget(waiter: Waiter): void },
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      cancel();
      wait.forget(waiter);
      signal.removeEventListener("abort", waiter.lost);
      settle();
    };
    const waiter = { done: () => end(resolve), lost: () => end(() => reject(wait.late())) };
    const cancel = clock.after(wait.ms, waiter.lost);
    signal.addEventListener("abort", waiter.lost, { once: true });
    wait.register(waiter);
  });
}
