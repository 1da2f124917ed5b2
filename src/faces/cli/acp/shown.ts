/** What an editor shows of a session besides the conversation: modes, models, commands. */
import type { Client, Result } from "../../../core/protocol/index.ts";
import { acpWords as words } from "../words/acp.ts";
import type { AvailableCommand, ConfigOption, SessionModes } from "./wire.ts";

type Opened = Result<"editor.open">;

export function toModes({ mode, modes }: Opened): SessionModes {
  return { currentModeId: mode, availableModes: modes.map((id) => ({ id, ...words.modes[id] })) };
}

export const OWN_MODEL = "default";

/** `model`: the agent's own when none was chosen for this session. */
export function toOptions({ model, chosen }: Opened, models: Result<"models.list">["models"]): ConfigOption[] {
  const own = { value: OWN_MODEL, name: chosen ? words.agentsModel : words.ownModel(model) };
  const options = [own, ...models.map(({ id }) => ({ value: id, name: id }))];
  const currentValue = chosen ? model : OWN_MODEL;
  return [{ id: "model", name: words.model, category: "model", type: "select", currentValue, options }];
}

/** Slash commands, then skills; a command of the same name wins, as it does when it is typed. */
export async function listCommands(rpc: Client, agent: string): Promise<AvailableCommand[]> {
  const [{ commands }, { skills }] = await Promise.all([
    rpc.call("commands.list", { agent }),
    rpc.call("skills.list", { agent }),
  ]);
  const names = new Set(commands.map(({ name }) => name));
  return [
    ...commands.map(({ name, usage, doc }) => {
      const hint = usage.replace(/^\S+\s*/, "");
      return { name, description: doc, ...(hint ? { input: { hint } } : {}) };
    }),
    ...skills
      .filter(({ name, state }) => state === "ready" && !names.has(name))
      .map(({ name, description }) => ({
        name,
        description: words.skill(description),
        input: { hint: words.whatFor },
      })),
  ];
}
