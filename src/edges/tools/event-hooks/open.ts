/** The commands and webhooks of the configuration as hook sources, kept in step with it. */
import {
  FailedHook,
  HOOK_EVENTS,
  type HookPayload,
  type HookRegistry,
  type HookSource,
} from "../../../core/contracts/index.ts";
import { hookNames } from "../../../core/domain/index.ts";
import { type Clock, defined, type Log } from "../../../core/kit/index.ts";
import { findEvent, matches } from "./claude.ts";
import { type HookRunParts, runHook } from "./command.ts";
import type { EventHooksConfig } from "./config.ts";
import { type ImportHooksPort, importHooks } from "./import.ts";
import { makeWebhook } from "./webhook.ts";

export interface OpenHooksParts extends HookRunParts {
  registry: HookRegistry;
  clock: Clock;
  log: Log;
  config: () => EventHooksConfig;
}

export interface OpenedHooks {
  /** Follows the configuration. Starts nothing. */
  apply(): void;
  /** What of the configuration is not used, in sentences. */
  problems(): string[];
  /** Hooks of a settings file of Claude Code's; adds those that the owner named. Starts nothing. */
  import(given: Parameters<typeof importHooks>[1], save: ImportHooksPort["save"]): ReturnType<typeof importHooks>;
}

export function openEventHooks(parts: OpenHooksParts): OpenedHooks {
  let removers: (() => void)[] = [];
  let applied = "";
  let problems: string[] = [];
  return {
    apply() {
      const config = parts.config();
      const text = JSON.stringify(config);
      if (text === applied) return;
      applied = text;
      for (const remove of removers) remove();
      const made = makeSources(parts, config);
      ({ problems } = made);
      removers = made.sources.map((source) => parts.registry.add(source));
      for (const problem of problems) parts.log.warn(problem);
    },
    problems: () => problems,
    import: (given, save) =>
      importHooks(
        { known: () => parts.config().commands, save, userHome: parts.userHome, writable: parts.writable },
        given,
      ),
  };
}

/** What a configuration stands for. */
function makeSources(
  parts: OpenHooksParts,
  { commands, webhooks }: EventHooksConfig,
): { sources: HookSource[]; problems: string[] } {
  const problems: string[] = [];
  const sources: HookSource[] = [];
  for (const [name, groups] of Object.entries(commands)) {
    const meant = findEvent(name);
    if (!meant) {
      problems.push(`eventHooks.commands.${name} is not used: nothing in Lares corresponds to that event.`);
      continue;
    }
    let n = 0;
    for (const { matcher, hooks } of groups) {
      for (const run of hooks) {
        n++;
        if (run.type !== "command" || run.command === "") {
          problems.push(`eventHooks.commands.${name}: a hook of type "${run.type}" is not used; only commands are.`);
          continue;
        }
        sources.push(commandSource(parts, { name, n, matcher, run }));
      }
    }
  }
  for (const [name, hook] of Object.entries(webhooks)) {
    const send = makeWebhook(hook, parts.clock);
    const more = defined({ onFail: hook.onFail, timeoutMs: hook.timeout && hook.timeout * 1000 });
    const events = [...new Set(hook.events)].map((event) => ({ event, ...more }));
    const shown = new URL(hook.url).origin;
    sources.push({
      name: hookNames.webhook(name),
      shown,
      events,
      call: (_event, payload, signal) => send(payload, signal),
    });
  }
  return { sources, problems };
}

type ConfiguredCommand = {
  name: string;
  n: number;
  matcher: string;
  run: EventHooksConfig["commands"][string][number]["hooks"][number];
};

function commandSource(parts: OpenHooksParts, { name, n, matcher, run }: ConfiguredCommand): HookSource {
  const { event, mode, isMeant } = findEvent(name)!;
  const isObserved = (mode ?? HOOK_EVENTS[event].modes[0]) === "observe";
  return {
    name: hookNames.command(name, n),
    shown: matcher === "" ? run.command : `${matcher}: ${run.command}`,
    events: [{ event, ...defined({ mode, onFail: run.onFail, timeoutMs: run.timeout && run.timeout * 1000 }) }],
    skips(payload: HookPayload) {
      const facts: Readonly<Record<string, unknown>> = payload;
      if (isMeant && !isMeant(facts)) return `it is a hook for ${name}, and this is something else`;
      return matches(matcher, facts.tool)
        ? undefined
        : `its matcher "${matcher}" doesn't include ${String(facts.tool)}`;
    },
    async call(_event, payload, signal) {
      try {
        return await runHook(parts, { name, event, run }, payload, signal);
      } catch (error) {
        // It ran, and a program that always fails would hear the same event forever: it is reported and counts as heard.
        if (!isObserved || signal.aborted) throw error;
        throw new FailedHook((error as Error).message, { cause: error });
      }
    },
  };
}
