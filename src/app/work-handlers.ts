/** Handlers of the methods about an agent's work on files. */
import type { Handlers } from "../faces/gateway/index.ts";
import type { HandlerParts } from "./handlers.ts";

type WorkHandlers = Pick<Handlers, `undo.${string}` & keyof Handlers>;

export function makeWorkHandlers(parts: Pick<HandlerParts, "house">): WorkHandlers {
  return {
    "undo.list": async ({ session, limit }) => ({
      turns: await parts.house().checkpoints.list({ limit: limit ?? 20, ...(session ? { session } : {}) }),
    }),
    "undo.turn": ({ turn, dryRun }, caller) =>
      parts.house().checkpoints.undo(turn, { by: caller.principal.name, dryRun: dryRun ?? false }),
  };
}
