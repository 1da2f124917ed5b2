/** Hooks as people look at them, and a trial of one. */
import { HOOK_EVENTS, type HookEventName, type HookOutcome } from "../../core/contracts/index.ts";
import { defined } from "../../core/kit/index.ts";
import { type EventHooks, readMode } from "./event-hooks.ts";
import { makeSample } from "./sample.ts";
import { describeOutcome, notRun } from "./words.ts";

export function listHooks(hooks: EventHooks) {
  return Promise.all(
    hooks.list().map(async (source) => {
      const { calls, denied, timedOut, failures, last, trouble } = hooks.health(source.name);
      return {
        name: source.name,
        ...defined({ shown: source.shown }),
        events: source.events.map((one) => ({
          event: one.event,
          mode: readMode(one),
          onFail: one.onFail ?? HOOK_EVENTS[one.event].onFail,
        })),
        calls,
        denied,
        timedOut,
        failures,
        ...defined({ last }),
        waiting: await hooks.observers.waiting(source.name),
        ...defined({ trouble }),
      };
    }),
  );
}

export interface HookTrial {
  event: HookEventName;
  ms: number;
  /** False: the event doesn't concern it. */
  ran: boolean;
  ok: boolean;
  said: string;
  ignored: string[];
}

/** `facts`: what the made-up event says instead. Throws BAD_REQUEST for facts that the event can't have. */
export async function tryHook(
  hooks: EventHooks,
  {
    name,
    event,
    facts,
  }: { name: string; event?: HookEventName | undefined; facts?: Readonly<Record<string, unknown>> | undefined },
  signal: AbortSignal,
): Promise<HookTrial> {
  const begun = performance.now();
  const used = event ?? hooks.list().find((one) => one.name === name)?.events[0]?.event ?? "turn.ended";
  const payload = makeSample(used, Date.now(), facts);
  const { outcome, ignored, skipped } = await hooks.tryOut(name, payload, signal);
  const said: HookOutcome = outcome;
  return {
    event: used,
    ms: Math.round(performance.now() - begun),
    ran: skipped === undefined,
    ok: said.failed === undefined,
    said: skipped === undefined ? describeOutcome(said) : notRun(skipped),
    ignored,
  };
}
