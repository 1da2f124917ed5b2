/** Hooks as people look at them, and a trial of one. */
import { HOOK_EVENTS, type HookEventName, type HookOutcome } from "../../core/contracts/index.ts";
import { defined } from "../../core/kit/index.ts";
import { type EventHooks, readMode } from "./event-hooks.ts";
import { makeSample } from "./sample.ts";
import { describeOutcome } from "./words.ts";

export function listHooks(hooks: EventHooks) {
  return Promise.all(
    hooks.list().map(async (source) => {
      const { calls, failures, trouble } = hooks.health(source.name);
      return {
        name: source.name,
        events: source.events.map((one) => ({
          event: one.event,
          mode: readMode(one),
          onFail: one.onFail ?? HOOK_EVENTS[one.event].onFail,
        })),
        calls,
        failures,
        waiting: await hooks.observers.waiting(source.name),
        ...defined({ trouble }),
      };
    }),
  );
}

export interface HookTrial {
  event: HookEventName;
  ms: number;
  ok: boolean;
  said: string;
  ignored: string[];
}

export async function tryHook(
  hooks: EventHooks,
  { name, event }: { name: string; event?: HookEventName | undefined },
  signal: AbortSignal,
): Promise<HookTrial> {
  const begun = performance.now();
  const used = event ?? hooks.list().find((one) => one.name === name)?.events[0]?.event ?? "turn.ended";
  const { outcome, ignored } = await hooks.tryOut(name, makeSample(used, Date.now()), signal);
  const said: HookOutcome = outcome;
  return {
    event: used,
    ms: Math.round(performance.now() - begun),
    ok: said.failed === undefined,
    said: describeOutcome(said),
    ignored,
  };
}
