/** Handlers of the methods about an agent's work on files. */
import { truthy } from "../../core/kit/index.ts";
import type { Handlers } from "../../faces/gateway/index.ts";
import type { Asks } from "./parts.ts";

type Methods = Pick<Handlers, `undo.${string}` & keyof Handlers>;

export function makeUndoMethods(parts: Asks<"checkpoints">): Methods {
  return {
    "undo.list": async ({ session, limit }) => ({
      turns: await parts.instance().checkpoints.list({ limit: limit ?? 20, ...truthy({ session }) }),
    }),
    "undo.turn": ({ turn, dryRun }, caller) =>
      parts.instance().checkpoints.undo(turn, { by: caller.principal.name, dryRun: dryRun ?? false }),
  };
}
