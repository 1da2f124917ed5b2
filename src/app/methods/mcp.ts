/** Handlers of `mcp.*`. */
import type { Crash } from "../../core/kit/index.ts";
import { soundsSecret } from "../../ground/config/index.ts";
import type { Vault } from "../../ground/vault/index.ts";
import type { LaresSettings } from "../config.ts";
import type { Asks, MethodParts, Methods } from "./parts.ts";

export interface McpMethodParts extends Pick<MethodParts, "redact">, Asks<"mcp"> {
  settings: Pick<LaresSettings, "change" | "view" | "refersTo">;
  vault: Pick<Vault, "get" | "set" | "list" | "remove">;
  crash: Crash;
}

export function makeMcpMethods({ settings, vault, crash, redact, instance }: McpMethodParts): Methods<"mcp"> {
  const manager = () =>
    instance().mcp.manage({
      soundsSecret,
      crash,
      redact,
      known: () => settings.view.mcp.servers,
      vault,
      isNamed: (secret) => settings.refersTo(secret),
      save: (server, definition) => settings.change([[["mcp", "servers", server], definition]]),
    });
  const servers = () => instance().mcp.servers;
  return {
    "mcp.list": async () => ({ servers: manager().list() }),
    "mcp.tools": (given) => manager().tools(given),
    "mcp.test": ({ name }) => servers().test(name),
    "mcp.add": (given) => manager().add(given),
    "mcp.import": (given) => manager().import(given),
    "mcp.login": ({ name, ended }) => servers().login(name, ended),
    "mcp.accept": async ({ name, tools }) => ({ accepted: await servers().accept(name, tools) }),
    "mcp.logs": async ({ name, limit }) => servers().logs(name, limit),
    "mcp.remove": ({ name }) => manager().remove(name),
  };
}
