/**
 * Hooks on what happens in Lares: which sources there are, asking those that answer, and noting down what others observe.
 *
 * HOOKED-4: without a source for an event nothing is built, written or awaited for it.
 * HOOKED-5: an answer comes within its time or counts as a failure; sources are asked side by side, so one never adds to another's wait.
 * HOOKED-6: what is observed is written in the transaction of what happened: both hold, or neither does.
 */
import {
  HOOK_EVENTS,
  type HookAnswer,
  type HookEventName,
  type HookFacts,
  type HookLog,
  type HookOutcome,
  type HookPayload,
  type HookRegistry,
  type HookSource,
  type HookSubscription,
  type Records,
  type Tx,
} from "../../core/contracts/index.ts";
import { AppError, hookKeys } from "../../core/domain/index.ts";
import { type Clock, type Crash, deadline, type Log } from "../../core/kit/index.ts";
import { applyShorten, type HookSaid, merge, readAnswer, type Shorten } from "./merge.ts";
import { Observers } from "./observers.ts";
import { insertEvent } from "./store.ts";
import { ignoredFields, tooLate } from "./words.ts";

export interface EventHooksParts {
  records: Records;
  clock: Clock;
  crash: Crash;
  log: Log;
}

/** How one call ended. `passed`: it had nothing to say, or only observed. `answered`: it added or took away something. */
export type HookEnding = "passed" | "answered" | "denied" | "asked" | "timed-out" | "failed";

/** How a source has been doing since the start. Trials don't count. */
export interface HookHealth {
  calls: number;
  denied: number;
  timedOut: number;
  /** Late answers among them. */
  failures: number;
  last?: { event: HookEventName; at: number; ms: number; result: HookEnding };
  /** The newest failure, or field that was ignored. */
  trouble?: string;
  troubleAt?: number;
}

interface HookListener {
  source: HookSource;
  subscription: HookSubscription;
}

const TIMEOUT_MS = 5000;
const MOST_TIMEOUT_MS = 60_000;
/** Of a text in a payload: more than a program needs to judge it. */
const MOST_TEXT = 100_000;

export class EventHooks implements HookRegistry, HookLog {
  readonly observers: Observers;
  readonly #parts: EventHooksParts;
  readonly #sources = new Map<string, HookSource>();
  readonly #health = new Map<string, HookHealth>();
  #answering = new Map<HookEventName, HookListener[]>();
  #observed = new Set<HookEventName>();

  constructor(parts: EventHooksParts) {
    this.#parts = parts;
    this.observers = new Observers({
      ...parts,
      call: (source, subscription, payload, signal) =>
        this.#call({ source, subscription }, { payload, health: this.#findHealth(source.name) }, signal),
    });
  }

  add(source: HookSource): () => void {
    this.#check(source);
    this.#sources.set(source.name, source);
    this.#renew();
    return () => {
      if (this.#sources.get(source.name) !== source) return;
      this.#sources.delete(source.name);
      this.#health.delete(source.name);
      this.#renew();
    };
  }

  list(): readonly HookSource[] {
    return [...this.#sources.values()];
  }

  health(name: string): HookHealth {
    return this.#health.get(name) ?? freshHealth();
  }

  /** Whether anybody answers this event. */
  answers(event: HookEventName): boolean {
    return this.#answering.has(event);
  }

  /** Asks everybody who answers this event. `key` tells it apart from others of its kind. Throws the reason of `signal` only. */
  async ask<E extends HookEventName>(
    event: E,
    key: string,
    facts: HookFacts<E>,
    signal: AbortSignal,
  ): Promise<HookOutcome> {
    const listeners = this.#answering.get(event) ?? [];
    if (listeners.length === 0) return {};
    const payload = this.#payload(event, key, facts);
    const said = await Promise.all(listeners.map((one) => this.#ask(one, payload, signal)));
    return merge(said);
  }

  /** Asks one source as a trial, whatever it listens to. */
  async tryOut(
    name: string,
    payload: HookPayload,
    signal: AbortSignal,
  ): Promise<{ outcome: HookOutcome; ignored: string[]; skipped?: string }> {
    const source = this.#sources.get(name);
    if (!source) {
      const names = [...this.#sources.keys()].join(", ");
      throw new AppError("NOT_FOUND", {
        message: `There is no hook "${name}".`,
        hint: names ? `There are: ${names}.` : "None is set up.",
      });
    }
    const subscription = source.events.find((one) => one.event === payload.event);
    if (!subscription) {
      throw new AppError("BAD_REQUEST", {
        message: `The hook "${name}" doesn't hear ${payload.event}.`,
        hint: `It hears: ${source.events.map(({ event }) => event).join(", ") || "nothing"}.`,
      });
    }
    const skipped = source.skips?.(payload);
    if (skipped !== undefined) return { outcome: {}, ignored: [], skipped };
    const said = await this.#said({ source, subscription }, { payload, health: freshHealth() }, signal);
    return { outcome: merge([said.said]), ignored: said.ignored };
  }

  /** The text with what the hooks left of it. */
  shorten(text: string, how: Shorten): string {
    return applyShorten(text, how);
  }

  /** Writes down what happened for those who observe it (HOOKED-4, HOOKED-6). Idempotent per event and key. */
  record<E extends HookEventName>(tx: Tx, event: E, key: string, facts: () => HookFacts<E>): void {
    if (!this.#observed.has(event)) return;
    const { clock } = this.#parts;
    const { id, at, event: _event, ...rest } = this.#payload(event, key, facts());
    const session = "session" in rest && typeof rest.session === "string" ? rest.session : null;
    insertEvent(tx, { id, event, session, at: at || clock.now(), facts: JSON.stringify(rest) });
    this.observers.wake();
  }

  /** Whether anybody observes this event; for what would have to be looked up first. */
  observes(event: HookEventName): boolean {
    return this.#observed.has(event);
  }

  #check({ name, events }: HookSource): void {
    const refuse = (message: string) => {
      throw new AppError("CONFIG_INVALID", { message, retry: "after-change" });
    };
    if (this.#sources.has(name)) refuse(`There is already a hook named "${name}".`);
    for (const { event, mode } of events) {
      const rule = Object.hasOwn(HOOK_EVENTS, event) ? HOOK_EVENTS[event] : undefined;
      if (!rule) refuse(`Hook "${name}" wants "${event}", which is not an event.`);
      const modes: readonly string[] = rule?.modes ?? [];
      if (mode !== undefined && !modes.includes(mode)) refuse(`Hook "${name}" can't ${mode} ${event}.`);
    }
  }

  #renew(): void {
    this.#answering = new Map();
    this.#observed = new Set();
    const observing: { source: HookSource; subscriptions: HookSubscription[] }[] = [];
    for (const source of this.#sources.values()) {
      const observes = source.events.filter((one) => readMode(one) === "observe");
      for (const subscription of observes) this.#observed.add(subscription.event);
      if (observes.length > 0) observing.push({ source, subscriptions: observes });
      for (const subscription of source.events) {
        if (readMode(subscription) !== "answer") continue;
        const { event } = subscription;
        this.#answering.set(event, [...(this.#answering.get(event) ?? []), { source, subscription }]);
      }
    }
    this.observers.set(observing);
  }

  #payload<E extends HookEventName>(event: E, key: string, facts: HookFacts<E>): HookPayload<E> {
    const bounded = Object.fromEntries(
      Object.entries(facts).map(([name, value]) => [
        name,
        typeof value === "string" && value.length > MOST_TEXT ? value.slice(0, MOST_TEXT) : value,
      ]),
    ) as HookFacts<E>;
    return { event, id: hookKeys.event(event, key), at: this.#parts.clock.now(), ...bounded };
  }

  async #ask(listener: HookListener, payload: HookPayload, signal: AbortSignal): Promise<HookSaid> {
    return (await this.#said(listener, { payload, health: this.#findHealth(listener.source.name) }, signal)).said;
  }

  async #said(
    listener: HookListener,
    { payload, health }: { payload: HookPayload; health: HookHealth },
    signal: AbortSignal,
  ): Promise<{ said: HookSaid; ignored: string[] }> {
    const { event } = payload;
    const { name } = listener.source;
    const onFail = listener.subscription.onFail ?? HOOK_EVENTS[event].onFail;
    try {
      const read = readAnswer(event, await this.#call(listener, { payload, health }, signal));
      if ("failed" in read) {
        this.#failed(health, name, read.failed);
        return { said: { by: name, onFail, failed: read.failed }, ignored: [] };
      }
      if (health.last) health.last.result = readResult(read.answer);
      if (read.answer.deny !== undefined) health.denied++;
      if (read.ignored.length > 0) this.#trouble(health, name, ignoredFields(name, event, read.ignored));
      return { said: { by: name, onFail, answer: read.answer }, ignored: read.ignored };
    } catch (error) {
      // The turn is being stopped: nobody waits for the answer.
      signal.throwIfAborted();
      return { said: { by: name, onFail, failed: describe(error) }, ignored: [] };
    }
  }

  /** One call within its time. A source that doesn't obey its signal isn't waited for (HOOKED-5). */
  async #call(
    { source, subscription }: HookListener,
    { payload, health }: { payload: HookPayload; health: HookHealth },
    signal: AbortSignal,
  ): Promise<unknown> {
    if (source.skips?.(payload) !== undefined) return undefined;
    const ms = Math.min(subscription.timeoutMs ?? TIMEOUT_MS, MOST_TIMEOUT_MS);
    const { event } = payload;
    const begun = performance.now();
    const note = (result: HookEnding) => {
      health.last = { event, at: this.#parts.clock.now(), ms: Math.round(performance.now() - begun), result };
    };
    health.calls++;
    const within = deadline(signal, ms);
    let heard = () => {};
    const aborted = new Promise<never>((_resolve, reject) => {
      heard = () => reject(signal.aborted ? signal.reason : new Error(tooLate(ms)));
      within.signal.addEventListener("abort", heard, { once: true });
    });
    try {
      const answer = await Promise.race([source.call(event, payload, within.signal), aborted]);
      note("passed");
      return answer;
    } catch (error) {
      if (signal.aborted) throw error;
      const isLate = within.signal.aborted;
      const failure = isLate ? new Error(tooLate(ms)) : error;
      note(isLate ? "timed-out" : "failed");
      if (isLate) health.timedOut++;
      this.#failed(health, source.name, describe(failure));
      throw failure;
    } finally {
      within.signal.removeEventListener("abort", heard);
      within.done();
    }
  }

  #failed(health: HookHealth, name: string, why: string): void {
    health.failures++;
    // An answer that came and can't be read is a failure, too.
    if (health.last?.result === "passed") health.last.result = "failed";
    this.#trouble(health, name, why);
  }

  #trouble(health: HookHealth, name: string, trouble: string): void {
    if (health.trouble !== trouble) this.#parts.log.warn("a hook has trouble", { hook: name, trouble });
    health.trouble = trouble;
    health.troubleAt = this.#parts.clock.now();
  }

  #findHealth(name: string): HookHealth {
    const known = this.#health.get(name);
    if (known) return known;
    const fresh = freshHealth();
    this.#health.set(name, fresh);
    return fresh;
  }
}

export function readMode({ event, mode }: HookSubscription): "observe" | "answer" {
  return mode ?? HOOK_EVENTS[event].modes[0];
}

function freshHealth(): HookHealth {
  return { calls: 0, denied: 0, timedOut: 0, failures: 0 };
}

function readResult({ deny, ask, ...rest }: HookAnswer): HookEnding {
  if (deny !== undefined) return "denied";
  if (ask !== undefined) return "asked";
  return Object.keys(rest).length > 0 ? "answered" : "passed";
}

/** As much of a failure as belongs into a sentence. */
const MOST_WHY = 300;

function describe(error: unknown): string {
  const { message } = error instanceof Error ? error : new Error(String(error));
  return message.slice(0, MOST_WHY) || "it failed without a word";
}
