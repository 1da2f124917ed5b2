/** Handlers of `commands.*`. */
import { COMMANDS } from "../../flow/commands/index.ts";
import type { Methods } from "./parts.ts";

export function makeCommandMethods(): Methods<"commands"> {
  return {
    // The table that the chat commands themselves run from, so help can't promise what doesn't exist.
    "commands.list": async () => ({
      commands: Object.entries(COMMANDS).map(([name, { usage, doc }]) => ({ name, usage, doc })),
    }),
  };
}
