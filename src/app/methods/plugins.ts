/** Handlers of `plugins.*`. */
import { AppError } from "../../core/domain/index.ts";
import { showStaged } from "../../edges/plugins/index.ts";
import type { Asks, Methods } from "./parts.ts";

export function makePluginMethods(parts: Asks<"plugins" | "sandbox">): Methods<"plugins"> {
  const plugins = () => parts.instance().plugins;
  return {
    "plugins.list": async () => ({ plugins: plugins().list() }),
    async "plugins.stage"({ from, name }) {
      if ((from === undefined) === (name === undefined))
        throw new AppError("BAD_REQUEST", { message: "Give either `from` or `name`." });
      const known = name === undefined ? undefined : plugins().get(name);
      const staged = await plugins().stage(from ?? known!.source.from, known);
      return showStaged(staged, await parts.instance().sandbox.state());
    },
    "plugins.accept": ({ digest }) => plugins().accept(digest),
    async "plugins.discard"({ digest }) {
      await plugins().discard(digest);
      return { discarded: true };
    },
    "plugins.enable": ({ name }) => plugins().setEnabled(name, true),
    "plugins.disable": ({ name }) => plugins().setEnabled(name, false),
    async "plugins.remove"({ name, deleteData }) {
      await plugins().remove(name, deleteData === true);
      return { removed: true };
    },
    "plugins.doctor": async ({ name }) => ({ plugins: await plugins().examine(name) }),
  };
}
