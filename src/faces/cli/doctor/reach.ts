/** Checks of what must be reached: the settings, the port, the model. They work when nothing runs. */

import { AppError, fromJson } from "../../../core/domain/index.ts";
import { BOUND_EVERYWHERE, isLoopbackHost, readAddress } from "../../../core/kit/index.ts";
import { type ConfigProblem, loadConfig } from "../../../ground/config/index.ts";
import { PRACTICE, PROVIDERS, providerNamed } from "../providers.ts";
import { doctorWords as words } from "../words/doctor.ts";
import { bad, type Check, type DoctorGround, type Finding, off, ok, warn } from "./check.ts";

export const config: Check = {
  id: "config",
  what: "settings",
  needsHome: true,
  async run(at) {
    try {
      const loaded = await load(at);
      const advice = await at.advice(loaded.config);
      if (advice.length)
        return advice.map(
          ({ path, message, weight }): Finding => ({
            level: weight === "note" ? "warn" : "bad",
            text: `${path}: ${message}`,
            fix: words.fixIn(loaded.file),
          }),
        );
      return ok(loaded.exists ? words.configFine(loaded.file) : words.noConfig);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const problems = fromJson<ConfigProblem[]>(error.details?.problems ?? []);
      if (!problems.some((problem) => problem.message)) return bad(error.message, error.hint ?? words.checkConfig);
      return problems.map(
        ({ message, line, excerpt }): Finding => ({
          level: "bad",
          text: words.configLine(line === undefined, line, message),
          fix: words.fixThenCheck,
          more: excerpt?.split("\n") ?? [],
        }),
      );
    }
  },
};

export const port: Check = {
  id: "port",
  what: "port",
  needsHome: true,
  async run(at) {
    const url = at.status?.url ?? at.answersAt;
    if (url !== undefined) return ok(words.answersAt(url));
    if (!(await isReadable(at))) return off(words.portUnread, words.fixThenCheck);
    const { host, port: wanted } = await door(at);
    if (wanted === 0) return ok(words.anyPort);
    if (!(await at.machine.canConnect({ host, port: wanted }))) return ok(words.portFree(wanted));
    return bad(words.portUsed(wanted), words.portUsedHint(wanted));
  },
};

export const model: Check = {
  id: "model",
  what: "model",
  needsHome: true,
  async run(at) {
    // A model that a broken file names is not the practice model.
    if (!at.status && !(await isReadable(at))) return off(words.modelUnread, words.fixThenCheck);
    const known = await chosen(at).catch(() => undefined);
    const id = at.status?.model.id ?? known?.id;
    const why = await unusable(at);
    if (why && (id === why.id || !id || id === PRACTICE)) return why.finding;
    if (!id || id === PRACTICE || at.status?.model.practice) return PRACTISING;
    const url = findAddress(at, id, known);
    if (!url) return warn(words.noAddress(id), words.noAddressHint);
    const to = readAddress(url);
    if (await at.machine.canConnect(to)) return ok(words.reached(id, to.host));
    const isHere = isLoopbackHost(to.host);
    return bad(words.notReached(id, to.host, to.port), isHere ? words.startServer : words.checkNetwork);
  },
};

/** A model without a key doesn't answer either, and that isn't the network's fault. */
async function unusable(at: DoctorGround): Promise<{ id: string; finding: Finding } | undefined> {
  const loaded = await load(at).catch(() => undefined);
  const id = (loaded?.config as { models?: { default?: string } } | undefined)?.models?.default;
  if (!loaded || id === undefined || (at.env.model !== undefined && at.env.model !== id)) return undefined;
  const found = (await at.advice(loaded.config)).find(({ path }) => path === "models.default");
  if (!found) return undefined;
  return { id, finding: (found.weight === "note" ? warn : bad)(found.message, words.otherModel) };
}

/** Where the model is: the running Lares knows best, then the settings, then what the provider is known by. */
function findAddress(
  { status }: DoctorGround,
  id: string,
  known: Awaited<ReturnType<typeof chosen>>,
): string | undefined {
  const address = status?.model.address;
  if (address) return `http://${address}`;
  if (known && (known.id === id || !status)) return known.url;
  return providerNamed(id.split("/")[0] ?? "")?.url;
}

const MEND_HINT = words.fixHeartbeat;

/** Lines of HEARTBEAT.md that would never come up, as the running Lares reads them. */
export const heartbeat: Check = {
  id: "heartbeat",
  what: "heartbeat",
  needsHome: true,
  async run(at) {
    const { status, answersAt } = at;
    // It runs, but its disk is full or it isn't ready: another line says so.
    if (!status && answersAt !== undefined) return off(words.heartbeatUnknown, words.asksAgain);
    if (!status) return (await hasHeartbeat(at)) ? off(words.heartbeatLater, words.run) : ok(words.noHeartbeat);
    const beats = status.heartbeats ?? [];
    if (!beats.length) return ok(words.noHeartbeat);
    const found = beats.flatMap(({ agent, problems }) => problems.map((text) => warn(`${agent}: ${text}`, MEND_HINT)));
    return found.length ? found : ok(words.heartbeatFine);
  },
};

/** Whether an agent of the settings has one. */
async function hasHeartbeat(at: DoctorGround): Promise<boolean> {
  const { config } = await load(at);
  const { agents = {} } = config as { agents?: Record<string, { heartbeat?: unknown }> };
  return Object.values(agents).some(({ heartbeat }) => heartbeat !== undefined);
}

const PRACTISING = off(words.practice, words.connectOne);

/** Which model would answer, and where it is, by the settings and the environment alone. */
async function chosen(at: DoctorGround): Promise<{ id: string; url: string | undefined } | undefined> {
  const { config: all } = await load(at);
  const models = (all as { models?: { default?: string; providers?: Record<string, { baseUrl?: string }> } }).models;
  const given = at.env.model ?? models?.default;
  const found = PROVIDERS.find(
    ({ name, keyEnv, urlEnv }) => models?.providers?.[name] || has(at, keyEnv) || has(at, urlEnv),
  );
  const own = Object.keys(models?.providers ?? {})[0];
  const name = given?.split("/")[0] ?? found?.name ?? own;
  if (name === undefined) return undefined;
  const known = providerNamed(name);
  const url = models?.providers?.[name]?.baseUrl ?? value(at, known?.urlEnv) ?? known?.url;
  return { id: given ?? `${name}/${known?.model ?? words.itsDefault}`, url };
}

function value({ env }: DoctorGround, variable: string | undefined): string | undefined {
  return variable === undefined ? undefined : env.variables[variable]?.trim() || undefined;
}

function has(at: DoctorGround, variable: string | undefined): boolean {
  return value(at, variable) !== undefined;
}

async function door(at: DoctorGround): Promise<{ host: string; port: number }> {
  const loaded = await load(at).catch(() => undefined);
  const gateway = (loaded?.config as { gateway?: { port?: number; bind?: string } } | undefined)?.gateway;
  const bind = gateway?.bind ?? "127.0.0.1";
  return { host: BOUND_EVERYWHERE[bind] ?? bind, port: gateway?.port ?? 7717 };
}

async function isReadable(at: DoctorGround): Promise<boolean> {
  try {
    await load(at);
    return true;
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}

async function load(at: DoctorGround) {
  return loadConfig({ home: at.home, schema: await at.schema(), env: at.env.variables });
}
