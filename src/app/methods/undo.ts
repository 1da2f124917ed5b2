/** Handlers of `undo.*`: an agent's work on files. */
import type { Asks, Methods } from "./parts.ts";

export function makeUndoMethods(parts: Asks<"approvals" | "checkpoints">): Methods<"undo"> {
  const checkpoints = () => parts.instance().checkpoints;
  return {
    "undo.list": async ({ session, limit = 20 }) => ({ turns: await checkpoints().list({ session, limit }) }),
    "undo.before": async ({ turn, call }) =>
      checkpoints().before(turn, call, await parts.instance().approvals.list({ pendingOnly: true, turn, limit: 100 })),
    // Recorded with its own id, so the undo can be undone.
    "undo.turn": ({ turn, dryRun }, { principal }) => checkpoints().undo(turn, { by: principal.name, dryRun }),
  };
}
