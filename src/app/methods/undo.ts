/** Handlers of `undo.*`: an agent's work on files. */
import { truthy } from "../../core/kit/index.ts";
import type { Asks, Methods } from "./parts.ts";

export function makeUndoMethods(parts: Asks<"checkpoints">): Methods<"undo"> {
  return {
    "undo.list": async ({ session, limit }) => ({
      turns: await parts.instance().checkpoints.list({ limit: limit ?? 20, ...truthy({ session }) }),
    }),
    // Recorded with its own id, so the undo can be undone.
    "undo.turn": ({ turn, dryRun }, caller) =>
      parts.instance().checkpoints.undo(turn, { by: caller.principal.name, dryRun: dryRun ?? false }),
  };
}
