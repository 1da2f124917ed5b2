/** Handlers of `hooks.*`. */
import { listHooks, tryHook } from "../../flow/event-hooks/index.ts";
import type { Asks, Methods } from "./parts.ts";

/** Longer than any hook may take. */
const PATIENCE_MS = 70_000;

export function makeHookMethods(parts: Asks<"eventHooks" | "hookSources">): Methods<"hooks"> {
  return {
    async "hooks.list"() {
      const { eventHooks, hookSources } = parts.instance();
      return { hooks: await listHooks(eventHooks), problems: hookSources.problems() };
    },
    "hooks.test": (p) => tryHook(parts.instance().eventHooks, p, AbortSignal.timeout(PATIENCE_MS)),
  };
}
