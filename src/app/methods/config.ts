/** Handlers of `config.*`. */
import type { Json } from "../../core/domain/index.ts";
import type { LaresSettings } from "../config.ts";
import type { Asks, Methods } from "./parts.ts";

export function makeConfigMethods(parts: Asks<"agents"> & { settings: LaresSettings }): Methods<"config"> {
  const { settings, instance } = parts;
  return {
    async "config.get"({ path }) {
      // A file that was just saved is read first: the answer is what holds from now on.
      await settings.look();
      return settings.get(path);
    },
    "config.set": ({ path, value }) => settings.set(path, value as Json | undefined, instance().agents.names()),
    "config.check": ({ text }) => settings.check(text, instance().agents.names()),
    "config.schema": () => settings.schema(),
  };
}
