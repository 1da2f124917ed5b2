/** Handlers of `commands.*`. */
import { listCommands } from "../../flow/commands/index.ts";
import type { Asks, MethodParts, Methods } from "./parts.ts";

export function makeCommandMethods(parts: Asks<"mcp"> & Pick<MethodParts, "config">): Methods<"commands"> {
  return {
    "commands.list": async ({ agent = parts.config.routing.defaultAgent }, { principal: { scopes } }) => ({
      commands: listCommands(scopes.has("approvals") ? parts.instance().mcp.servers.prompts(agent) : []),
    }),
  };
}
