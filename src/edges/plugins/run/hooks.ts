/**
 * The hooks of plugins as hook sources. Their code is asked over MCP: `hooks/call` with the event and its payload.
 *
 * PLUGINS-9: a plugin hears only the events it was granted. One that Lares switched off or that can't be used stays a source and fails, so
 *     that what it should have judged is denied; only the owner takes it out, by disabling or removing it.
 */
import {
  FailedHook,
  HOOK_EVENTS,
  type HookEventName,
  type HookRegistry,
  type HookSource,
} from "../../../core/contracts/index.ts";
import { isObject } from "../../../core/domain/index.ts";
import type { Plugins } from "../plugins.ts";

export interface PluginHooksParts {
  plugins: Pick<Plugins, "hooks" | "onChange">;
  registry: Pick<HookRegistry, "add">;
  /** Asks a plugin's server. Throws when it can't be reached. */
  request(server: string, method: string, params: object, signal: AbortSignal): Promise<unknown>;
  /** It was asked and didn't answer in time. */
  silent(server: string, why: string): void;
}

/** An answer takes a millisecond; the first one waits for the program to start. */
const MOST_MS = 10_000;

const NO_ANSWER = 'it answered hooks/call without "answer"';

/** Keeps the registry the same as the plugins. Call it once they are open. */
export function followHooks({ plugins, registry, request, silent }: PluginHooksParts): void {
  const added = new Map<string, { key: string; remove: () => void }>();
  const follow = () => {
    const wanted = plugins.hooks();
    for (const [name, { key, remove }] of added) {
      if (wanted.some((one) => one.name === name && keyFor(one) === key)) continue;
      remove();
      added.delete(name);
    }
    for (const one of wanted) {
      if (added.has(one.name)) continue;
      const source = makeSource(one, { request, silent });
      added.set(one.name, { key: keyFor(one), remove: registry.add(source) });
    }
  };
  plugins.onChange(follow);
  follow();
}

/** What a plugin's hooks need: the events it was granted, and the server that answers, or why none does. */
export interface PluginHooks {
  name: string;
  events: readonly string[];
  server?: string;
  why?: string;
}

function keyFor({ events, server, why }: PluginHooks): string {
  return JSON.stringify([events, server, why]);
}

function makeSource(
  { name, events, server, why }: PluginHooks,
  { request, silent }: Pick<PluginHooksParts, "request" | "silent">,
): HookSource {
  return {
    name: `plugin:${name}`,
    events: events.filter((event) => isEvent(event)).map((event) => ({ event, timeoutMs: MOST_MS })),
    async call(event, payload, signal) {
      if (server === undefined) throw new Error(why ?? "the plugin is off");
      try {
        const result = await request(server, "hooks/call", { event, payload }, signal);
        // An answer beside its place would count as no objection.
        if (!isObject(result) || !Object.hasOwn(result, "answer")) throw new FailedHook(NO_ANSWER);
        return result.answer;
      } catch (error) {
        // Whether it loops or only thinks too long, nobody can tell; a fresh one answers the next time.
        if (signal.aborted && isTimeout(signal.reason)) silent(server, `it didn't answer ${event} in time`);
        throw error;
      }
    },
  };
}

export function isEvent(name: string): name is HookEventName {
  return Object.hasOwn(HOOK_EVENTS, name);
}

/** A turn that is stopped isn't the plugin's fault. */
function isTimeout(reason: unknown): boolean {
  return reason instanceof Error && reason.name === "TimeoutError";
}
