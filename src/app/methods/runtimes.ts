/** Handlers of `runtimes.*`. */
import { defined, truthy } from "../../core/kit/index.ts";
import { agentHome, findProblems, listUsers, viewLogin, viewRuntime } from "../../edges/runtimes/index.ts";
import type { Asks, MethodParts, Methods } from "./parts.ts";

export function makeRuntimeMethods(
  parts: Asks<"runtimes"> & Pick<MethodParts, "config" | "home">,
): Methods<"runtimes"> {
  const { config, home } = parts;
  const host = () => parts.instance().runtimes.host();
  const look = async (name: string, signal: AbortSignal) => (await host()).look(name, signal);
  const view = async (name: string, signal: AbortSignal) => {
    const state = await look(name, signal);
    return viewRuntime(state, listUsers(config, state.driver.name));
  };
  return {
    async "runtimes.list"(_given, { signal }) {
      const names = (await host()).drivers().map(({ name }) => name);
      return { runtimes: await Promise.all(names.map((name) => view(name, signal))) };
    },
    async "runtimes.probe"({ name }, { signal }) {
      const seen = await (await host()).tryOut(name);
      return { seen, runtime: await view(name, signal) };
    },
    async "runtimes.install"({ name }) {
      const { script, ...done } = await (await host()).install(name);
      return { ...done, ...truthy({ script }) };
    },
    async "runtimes.login"({ name, agent = "main" }, { signal }) {
      const state = await look(name, signal);
      return viewLogin(state, config.runtimes, agentHome(home, { agent, runtime: state.driver.name }));
    },
    async "runtimes.doctor"({ name }, { signal }) {
      const all = (await host()).drivers().map((one) => one.name);
      const names = name === undefined ? all.filter((one) => listUsers(config, one).length > 0) : [name];
      const views = await Promise.all(names.map((one) => view(one, signal)));
      return { runtimes: views.map((one) => ({ name: one.name, title: one.title, problems: findProblems(one) })) };
    },
    async "runtimes.runs"({ open = false, limit = 50 }) {
      const rows = await parts.instance().runtimes.runs.list({ open, limit });
      return {
        runs: rows.map(({ turn, session, agent, runtime, attempt, at, endedAt, shortfalls }) => ({
          turn,
          session,
          agent,
          runtime,
          attempt,
          at,
          ...defined({ endedAt: endedAt ?? undefined }),
          lacks: [...shortfalls],
        })),
      };
    },
  };
}
