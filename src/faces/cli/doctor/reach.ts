/** Checks of what must be reached: the settings, the port, the model. They work when nothing runs. */

import { AppError } from "../../../core/domain/index.ts";
import { isLoopbackHost } from "../../../core/kit/index.ts";
import { type ConfigProblem, loadConfig } from "../../../ground/config/index.ts";
import { agentFolders } from "../commands/config.ts";
import { PRACTICE, PROVIDERS, providerNamed } from "../providers.ts";
import { bad, type Check, type Finding, type Ground, off, ok, warn } from "./check.ts";

export const config: Check = {
  id: "config",
  what: "settings",
  async run(at) {
    try {
      const loaded = await load(at);
      const advice = (await at.schema()).advise(loaded.config, agentFolders(at.home));
      if (advice.length)
        return advice.map((text): Finding => ({ level: "bad", text, fix: `Fix it in ${loaded.file}` }));
      return ok(loaded.exists ? `${loaded.file} is valid.` : "There is no lares.yaml, so Lares uses the defaults.");
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const problems = (error.details?.problems ?? []) as unknown as ConfigProblem[];
      if (!problems.some((problem) => problem.message)) return bad(error.message, error.hint ?? "lares config check");
      return problems.map(
        ({ message, line, excerpt }): Finding => ({
          level: "bad",
          text: `lares.yaml${line === undefined ? "" : `, line ${line}`}: ${message}`,
          fix: "Fix it, then: lares config check",
          more: excerpt?.split("\n") ?? [],
        }),
      );
    }
  },
};

export const port: Check = {
  id: "port",
  what: "port",
  async run(at) {
    if (at.status) return ok(`Lares answers at ${at.status.url}.`);
    const { host, port: wanted } = await door(at);
    if (wanted === 0) return ok("The next start uses any free port.");
    if (!(await at.machine.canConnect({ host, port: wanted })))
      return ok(`Port ${wanted} is free. Start: lares gateway run`);
    return bad(
      `Another program is using port ${wanted}.`,
      `Stop it (ss -ltnp 'sport = :${wanted}'), or: lares config set gateway.port ${wanted + 1}`,
    );
  },
};

export const model: Check = {
  id: "model",
  what: "model",
  async run(at) {
    if (at.status?.model.practice) return PRACTISING;
    const known = await chosen(at).catch(() => undefined);
    const id = at.status?.model.id ?? known?.id;
    if (!id || id === PRACTICE) return PRACTISING;
    const address = at.status?.model.address;
    const url = address
      ? `http://${address}`
      : known && (known.id === id || !at.status)
        ? known.url
        : providerNamed(id.split("/")[0] ?? "")?.url;
    if (!url) return warn(`The address of ${id} isn't known.`, "Set it: lares onboard --base-url URL");
    const { hostname, port: given, protocol } = new URL(url);
    const to = { host: hostname.replace(/^\[|\]$/g, ""), port: Number(given) || (protocol === "https:" ? 443 : 80) };
    if (await at.machine.canConnect(to)) return ok(`${id} can be reached (${to.host}).`);
    const isHere = isLoopbackHost(to.host);
    return bad(
      `${id} doesn't answer at ${to.host}:${to.port}.`,
      isHere
        ? "Start that server, or choose another model: lares onboard"
        : "Check the network, or choose another model: lares onboard",
    );
  },
};

const MEND_HINT = "Fix the line in HEARTBEAT.md, then: lares heartbeat list";

/** Lines of HEARTBEAT.md that would never come up, as the running Lares reads them. */
export const heartbeat: Check = {
  id: "heartbeat",
  what: "heartbeat",
  async run({ status }) {
    if (!status) return off("HEARTBEAT.md is checked while Lares is running.", "lares gateway run");
    const beats = status.heartbeats ?? [];
    if (!beats.length) return ok("No heartbeat is turned on.");
    const found = beats.flatMap(({ agent, problems }) => problems.map((text) => warn(`${agent}: ${text}`, MEND_HINT)));
    return found.length ? found : ok("Lares understands every line in HEARTBEAT.md.");
  },
};

const PRACTISING = off("Using the practice model: rules, not a language model.", "Connect one: lares onboard");

/** Which model would answer, and where it is, by the settings and the environment alone. */
async function chosen(at: Ground): Promise<{ id: string; url: string | undefined } | undefined> {
  const { config: all } = await load(at);
  const models = (all as { models?: { default?: string; providers?: Record<string, { baseUrl?: string }> } }).models;
  const given = at.env.model ?? models?.default;
  const found = PROVIDERS.find(
    ({ name, keyEnv, urlEnv }) => models?.providers?.[name] || has(at, keyEnv) || has(at, urlEnv),
  );
  const own = Object.keys(models?.providers ?? {})[0];
  const name = given?.split("/")[0] ?? found?.name ?? own;
  if (name === undefined) return undefined;
  const words = providerNamed(name);
  const url = models?.providers?.[name]?.baseUrl ?? value(at, words?.urlEnv) ?? words?.url;
  return { id: given ?? `${name}/${words?.model ?? "its default"}`, url };
}

function value({ env }: Ground, variable: string | undefined): string | undefined {
  return variable === undefined ? undefined : env.variables[variable]?.trim() || undefined;
}

function has(at: Ground, variable: string | undefined): boolean {
  return value(at, variable) !== undefined;
}

async function door(at: Ground): Promise<{ host: string; port: number }> {
  const loaded = await load(at).catch(() => undefined);
  const gateway = (loaded?.config as { gateway?: { port?: number; bind?: string } } | undefined)?.gateway;
  const bind = gateway?.bind ?? "127.0.0.1";
  return { host: bind === "0.0.0.0" ? "127.0.0.1" : bind === "::" ? "::1" : bind, port: gateway?.port ?? 7717 };
}

async function load(at: Ground) {
  return loadConfig({ home: at.home, schema: await at.schema(), env: at.env.variables });
}
