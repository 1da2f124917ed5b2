/** Handlers of `plugins.*`. */
import { AppError } from "../../core/domain/index.ts";
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
      const { ok, name: sandbox, why } = await parts.instance().sandbox.state();
      return {
        ...staged,
        files: Object.keys(staged.files).length,
        findings: staged.findings.map(({ path, what }) => ({ path, what })),
        confined: ok ? `in a sandbox (${sandbox})` : `not at all: ${why ?? "there is no sandbox here"}`,
      };
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
    async "plugins.doctor"({ name }) {
      const names =
        name === undefined
          ? plugins()
              .list()
              .map((one) => one.name)
          : [name];
      return {
        plugins: await Promise.all(names.map(async (one) => ({ name: one, problems: await plugins().examine(one) }))),
      };
    },
  };
}
