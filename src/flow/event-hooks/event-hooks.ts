/**
 * Hooks on what happens in Lares: which sources there are, asking those that answer, and noting down what others observe.
 *
 * HOOKED-4: without a source for an event nothing is built, written or awaited for it.
 * HOOKED-5: an answer comes within its time or counts as a failure; sources are asked side by side, so one never adds to another's wait.
 * HOOKED-6: what is observed is written in the transaction of what happened: both hold, or neither does.
 */
import {
  HOOK_EVENTS,
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

/** How a source has been doing since the start. */
export interface HookHealth {
  calls: number;
  failures: number;
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
      call: (source, subscription, payload, signal) => this.#call({ source, subscription }, payload, signal),
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
    return this.#health.get(name) ?? { calls: 0, failures: 0 };
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
  ): Promise<{ outcome: HookOutcome; ignored: string[] }> {
    const source = this.#sources.get(name);
    if (!source) {
      const names = [...this.#sources.keys()].join(", ");
      throw new AppError("NOT_FOUND", {
        message: `There is no hook "${name}".`,
        hint: names ? `There are: ${names}.` : "None is set up.",
      });
    }
    const subscription = source.events.find((one) => one.event === payload.event) ?? { event: payload.event };
    const said = await this.#said({ source, subscription }, payload, signal);
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
    return (await this.#said(listener, payload, signal)).said;
  }

  async #said(
    listener: HookListener,
    payload: HookPayload,
    signal: AbortSignal,
  ): Promise<{ said: HookSaid; ignored: string[] }> {
    const { event } = payload;
    const { name } = listener.source;
    const onFail = listener.subscription.onFail ?? HOOK_EVENTS[event].onFail;
    try {
      const read = readAnswer(event, await this.#call(listener, payload, signal));
      if ("failed" in read) {
        this.#failed(name, read.failed);
        return { said: { by: name, onFail, failed: read.failed }, ignored: [] };
      }
      if (read.ignored.length > 0) this.#trouble(name, ignoredFields(name, event, read.ignored));
      return { said: { by: name, onFail, answer: read.answer }, ignored: read.ignored };
    } catch (error) {
      // The turn is being stopped: nobody waits for the answer.
      signal.throwIfAborted();
      return { said: { by: name, onFail, failed: describe(error) }, ignored: [] };
    }
  }

  /** One call within its time. A source that doesn't obey its signal isn't waited for (HOOKED-5). */
  async #call({ source, subscription }: HookListener, payload: HookPayload, signal: AbortSignal): Promise<unknown> {
    const ms = Math.min(subscription.timeoutMs ?? TIMEOUT_MS, MOST_TIMEOUT_MS);
    const health = this.#findHealth(source.name);
    health.calls++;
    const within = deadline(signal, ms);
    let heard = () => {};
    const aborted = new Promise<never>((_resolve, reject) => {
      heard = () => reject(signal.aborted ? signal.reason : new Error(tooLate(ms)));
      within.signal.addEventListener("abort", heard, { once: true });
    });
    try {
      return await Promise.race([source.call(payload.event, payload, within.signal), aborted]);
    } catch (error) {
      const late = within.signal.aborted && !signal.aborted ? new Error(tooLate(ms)) : error;
      if (!signal.aborted) this.#failed(source.name, describe(late));
      throw late;
    } finally {
      within.signal.removeEventListener("abort", heard);
      within.done();
    }
  }

  #failed(name: string, why: string): void {
    this.#findHealth(name).failures++;
    this.#trouble(name, why);
  }

  #trouble(name: string, trouble: string): void {
    const health = this.#findHealth(name);
    if (health.trouble !== trouble) this.#parts.log.warn("a hook has trouble", { hook: name, trouble });
    health.trouble = trouble;
    health.troubleAt = this.#parts.clock.now();
  }

  #findHealth(name: string): HookHealth {
    const known = this.#health.get(name);
    if (known) return known;
    const fresh: HookHealth = { calls: 0, failures: 0 };
    this.#health.set(name, fresh);
    return fresh;
  }
}

export function readMode({ event, mode }: HookSubscription): "observe" | "answer" {
  return mode ?? HOOK_EVENTS[event].modes[0];
}

/** As much of a failure as belongs into a sentence. */
const MOST_WHY = 300;

function describe(error: unknown): string {
  const { message } = error instanceof Error ? error : new Error(String(error));
  return message.slice(0, MOST_WHY) || "it failed without a word";
}
