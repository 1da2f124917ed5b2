/** Handlers of `mcp.*`. */
import type { Json } from "../../core/domain/index.ts";
import { defined } from "../../core/kit/index.ts";
import { addServers, describeTool, type ServerConfig } from "../../edges/tools/index.ts";
import { soundsSecret } from "../../ground/config/index.ts";
import type { Vault } from "../../ground/vault/index.ts";
import type { LaresSettings } from "../config.ts";
import type { Asks, MethodParts, Methods } from "./parts.ts";

export interface McpMethodParts extends Pick<MethodParts, "redact">, Asks<"mcp"> {
  settings: Pick<LaresSettings, "change" | "view">;
  vault: Pick<Vault, "set">;
}

export function makeMcpMethods(parts: McpMethodParts): Methods<"mcp"> {
  const { settings, vault } = parts;
  const servers = () => parts.instance().mcp.servers;
  // Commands and addresses may contain tokens that nobody moved to the vault.
  const target = (config: ServerConfig) => parts.redact(config.url ?? [config.command, ...config.args].join(" "));
  return {
    // From the settings, not from what is running: a server that never started is listed too.
    async "mcp.list"() {
      const all = Object.entries(settings.view.mcp.servers).map(([name, config]) => {
        const { state, tools, held, quarantined, isUnknown } = servers().status(name);
        return {
          ...{ name, target: target(config), state: state.kind, listed: !isUnknown, tools },
          ...{ held: held.length, quarantined: quarantined.length },
          ...defined({ why: "why" in state ? state.why : undefined }),
        };
      });
      return { servers: all };
    },
    async "mcp.tools"({ name, fresh }) {
      if (fresh) await servers().refresh(name);
      const { offered, held, quarantined } = servers().describe(name);
      return {
        tools: offered.map((tool) => ({ name: tool.name, modelName: tool.modelName, about: describeTool(tool) })),
        held: held.map(({ tool, why, before }) => ({
          name: tool.name,
          why,
          now: describeTool(tool),
          ...defined({ before }),
        })),
        quarantined,
      };
    },
    "mcp.test": ({ name }) => servers().test(name),
    async "mcp.add"({ text, name, replace }) {
      // Values that look like keys go to the vault, and lares.yaml gets a reference instead.
      const port = {
        known: settings.view.mcp.servers,
        soundsSecret,
        putSecret: (secret: string, value: string) => vault.set(secret, value),
        save: (server: string, definition: Json) => settings.change([[["mcp", "servers", server], definition]]),
      };
      const { added, refused, notes } = await addServers(port, { text, name, replace });
      return { added: added.map((one) => ({ name: one.name, target: target(one.config) })), refused, notes };
    },
    "mcp.login": ({ name, ended }) => servers().login(name, ended),
    "mcp.accept": async ({ name, tools }) => ({ accepted: await servers().accept(name, tools) }),
    "mcp.logs": async ({ name, limit }) => ({ lines: servers().complaints(name, limit) }),
    async "mcp.remove"({ name }) {
      if (!(name in settings.view.mcp.servers)) return { removed: false };
      await settings.change([[["mcp", "servers", name], undefined]]);
      // After the settings, so that a crash in between leaves pins of an unknown server, which harm nobody.
      await servers().forget(name);
      return { removed: true };
    },
  };
}
