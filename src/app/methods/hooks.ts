/** Handlers of `hooks.*`. */
import { listHooks, tryHook } from "../../flow/event-hooks/index.ts";
import type { LaresSettings } from "../config.ts";
import type { Asks, Methods } from "./parts.ts";

/** Longer than any hook may take. */
const PATIENCE_MS = 70_000;

export interface HookMethodParts extends Asks<"eventHooks" | "hookSources"> {
  settings: Pick<LaresSettings, "change">;
}

export function makeHookMethods({ instance, settings }: HookMethodParts): Methods<"hooks"> {
  return {
    async "hooks.list"() {
      const { eventHooks, hookSources } = instance();
      return { hooks: await listHooks(eventHooks), problems: hookSources.problems() };
    },
    "hooks.test": (p) => tryHook(instance().eventHooks, p, AbortSignal.timeout(PATIENCE_MS)),
    "hooks.import": (p) => instance().hookSources.import(p, (edits) => settings.change(edits)),
  };
}
