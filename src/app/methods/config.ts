/** Handlers of `config.*`. */
import type { Json } from "../../core/domain/index.ts";
import type { LaresSettings } from "../config.ts";
import type { Instance } from "../instance.ts";
import type { Asks, Methods } from "./parts.ts";

export function makeConfigMethods(
  parts: Asks<"agents" | "schedules"> & { settings: LaresSettings },
): Methods<"config"> {
  const { settings, instance } = parts;
  return {
    async "config.get"({ path }) {
      // A file that was just saved is read first: the answer is what holds from now on.
      await settings.look();
      return settings.get(path);
    },
    "config.set": async ({ path, value }) =>
      settings.set(path, value as Json | undefined, await listKnownNames(instance())),
    "config.check": async ({ text }) => settings.check(text, await listKnownNames(instance())),
    "config.schema": () => settings.schema(),
  };
}

/** What settings may refer to beside the file. */
export async function listKnownNames({ agents, schedules }: Pick<Instance, "agents" | "schedules">) {
  return { folders: agents.names(), jobs: await schedules.names() };
}
