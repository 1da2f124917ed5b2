/** The models of this installation, behind the contract: chains are built here, calls are made in chain/. */
import type {
  ModelDelta,
  ModelInfo,
  ModelRelay,
  ModelReply,
  ModelRequest,
  Models,
} from "../../core/contracts/index.ts";
import { AppError, NO_USAGE } from "../../core/domain/index.ts";
import { type Clock, defined, type Log, nearest, pause, truthy } from "../../core/kit/index.ts";
import { DEFAULT_MODEL, findFacts, KNOWN_MODELS, type ModelFacts } from "./catalogue.ts";
import { callChain, type Route } from "./chain/call.ts";
import { HealthBook } from "./chain/health.ts";
import { type Candidate, type Next, next } from "./chain/next.ts";
import type { ModelsConfig } from "./config.ts";
import { callPractice, PRACTICE_INFO, PRACTICE_MODEL, renderPractice } from "./practice/index.ts";
import { findPrice, type Price } from "./prices.ts";
import { findProviders, keyHint, type ModelEnv, type Provider } from "./providers.ts";
import { makeRelay } from "./relay/relay.ts";
import { ProviderLine } from "./wire/attempt.ts";
import { makePost, type PostRaw } from "./wire/http.ts";
import type { LoadAttachment } from "./wire/images.ts";
import { rehearse } from "./wire/rehearse.ts";

export interface ModelsDeps {
  /** The environment's values, read by the caller. */
  env: ModelEnv;
  clock: Clock;
  log: Log;
  /** Where the bytes of attached pictures are; without it none is shown. */
  loadAttachment?: LoadAttachment;
  /** Where a plugin listens that is a model. Throws when it can't be one now. */
  pluginSocket?: (plugin: string, signal: AbortSignal) => Promise<string>;
}

/** The models, and calls to them that others wrote. */
export type RelayingModels = Models & { relay: ModelRelay };

/** The models behind one object that stays, so that new settings need no new instance. A call under way ends with the old ones. */
export function changingModels(make: () => RelayingModels): RelayingModels & { renew(): void } {
  let now = make();
  return {
    call: (request, onDelta, signal) => now.call(request, onDelta, signal),
    render: (request) => now.render(request),
    list: () => now.list(),
    primary: () => now.primary(),
    info: (id) => now.info(id),
    warm: () => now.warm(),
    relay: {
      choose: (api, model) => now.relay.choose(api, model),
      send: (call, onWait, signal) => now.relay.send(call, onWait, signal),
    },
    renew() {
      now = make();
      void now.warm();
    },
  };
}

/** A client that connects as soon as Lares is ready gets the processor to itself: its own call is the better rehearsal. */
const REHEARSAL_AFTER_MS = 150;

export function createModels(config: ModelsConfig, deps: ModelsDeps): RelayingModels {
  const providers = findProviders(config, deps.env);
  const health = new HealthBook();
  const primary = choosePrimary(config, deps.env, providers);
  const postTo = reachProviders(deps);
  const routes = new Routes(config, deps, { providers, postTo });
  const { patienceMs, firstByteTimeoutMs: firstByteMs, idleTimeoutMs: idleMs, fallbacks } = config;
  let isUsed = false;

  const routesFor = ({ model }: ModelRequest): Route[] => {
    const chain = model ? [model] : [primary, ...config.fallbacks.filter((id) => id !== primary)];
    return chain.length === 1 ? routes.to(chain[0]!) : chain.flatMap((id) => routes.to(id));
  };

  return {
    async call(request: ModelRequest, onDelta: (delta: ModelDelta) => void, signal: AbortSignal) {
      isUsed = true;
      const first = request.model ?? primary;
      if (first === PRACTICE_MODEL) return callPractice(request, onDelta, signal);
      const candidates = routesFor(request);
      if (candidates.length === 0) return notSetUp(first, providers);
      const { clock, log } = deps;
      const plan = { first, routes: candidates, health, patienceMs: config.patienceMs, clock, log };
      return callChain(plan, request, onDelta, signal);
    },

    async render(request) {
      const first = request.model ?? primary;
      if (first === PRACTICE_MODEL) return renderPractice(request);
      const candidates = routesFor(request);
      const chosen = chosenBy(next(candidates, health.entries, null, deps.clock.now()));
      const route = candidates.find((one) => one.id === chosen?.id) ?? candidates[0];
      if (route) return route.line.render(route.key, request);
      const { message, hint } = notSetUp(first, providers);
      throw new AppError("BAD_REQUEST", { message, ...truthy({ hint }) });
    },

    list: () => listed(primary, config, providers).flatMap((id) => describeModel(id, providers) ?? []),
    primary: () => describeModel(primary, providers) ?? missingInfo(primary),
    info: (id) => describeModel(id, providers),

    relay: makeRelay({
      providers,
      fallbacks,
      describe: (provider, modelId) => ({
        contextWindow: factsFor(provider, modelId).contextWindow,
        price: priceFor(provider, modelId),
      }),
      health,
      limits: { firstByteMs, idleMs, patienceMs },
      postTo,
      clock: deps.clock,
      log: deps.log,
    }),

    async warm() {
      try {
        const used = [primary, ...config.fallbacks].flatMap((id) => routes.to(id));
        await Promise.all(used.map((route) => route.line.prepare(route.key)));
        await pause(deps.clock, REHEARSAL_AFTER_MS, new AbortController().signal);
        // Only the primary: a fallback's first call is rare, and a rehearsal costs some milliseconds. Not when somebody is
        // waiting for a real call already: it would only wait longer.
        const { provider, modelId } = split(primary, providers);
        if (provider && !isUsed) await rehearse(provider, modelId, deps.clock);
      } catch (error) {
        deps.log.warn("a model library could not be loaded", { message: String(error) });
      }
    },
  };
}

/** A provider is reached over the network, or at the socket of the plugin that it is. */
function reachProviders({ pluginSocket }: ModelsDeps): (provider: Provider) => PostRaw {
  const overNetwork = makePost();
  return ({ plugin }) => {
    if (plugin === undefined) return overNetwork;
    return makePost(async (signal) => {
      if (!pluginSocket) throw new Error("plugins aren't asked here");
      return pluginSocket(plugin, signal);
    });
  };
}

/** The ways to each model, made when it is first asked: one per credential. */
class Routes {
  private readonly config: ModelsConfig;
  private readonly deps: ModelsDeps;
  private readonly providers: Map<string, Provider>;
  private readonly postTo: (provider: Provider) => PostRaw;
  private readonly byModel = new Map<string, Route[]>();

  constructor(
    config: ModelsConfig,
    deps: ModelsDeps,
    { providers, postTo }: { providers: Map<string, Provider>; postTo: (provider: Provider) => PostRaw },
  ) {
    this.config = config;
    this.deps = deps;
    this.providers = providers;
    this.postTo = postTo;
  }

  /** Empty when the model's provider is not set up. */
  to(model: string): Route[] {
    let routes = this.byModel.get(model);
    if (!routes) {
      const { provider, modelId } = split(model, this.providers);
      routes = provider ? this.make(provider, modelId) : [];
      this.byModel.set(model, routes);
    }
    return routes;
  }

  private make(provider: Provider, modelId: string): Route[] {
    const model = `${provider.name}/${modelId}`;
    const facts = factsFor(provider, modelId);
    const { firstByteTimeoutMs: firstByteMs, idleTimeoutMs: idleMs, maxOutputTokens } = this.config;
    const line = new ProviderLine({
      provider,
      modelId,
      facts,
      limits: { firstByteMs, idleMs, maxOutputTokens },
      clock: this.deps.clock,
      post: this.postTo(provider),
      ...defined({ loadAttachment: this.deps.loadAttachment }),
    });
    return provider.credentials.map((key) => ({
      id: `${model}@${key.name}`,
      provider: provider.name,
      model,
      credential: key.name,
      contextWindow: facts.contextWindow,
      line,
      key,
      price: priceFor(provider, modelId),
    }));
  }
}

/** Who would be asked now, or after a pause. */
function chosenBy(step: Next): Candidate | undefined {
  if ("use" in step) return step.use;
  return "wait" in step ? step.candidate : undefined;
}

function listed(primary: string, config: ModelsConfig, providers: Map<string, Provider>): string[] {
  const ids = new Set([primary, ...config.fallbacks]);
  for (const provider of providers.values()) {
    for (const id of Object.keys(provider.models)) ids.add(`${provider.name}/${id}`);
    // What is behind another base URL is not known.
    if (provider.official) for (const id of KNOWN_MODELS[provider.name] ?? []) ids.add(`${provider.name}/${id}`);
  }
  return [...ids.add(PRACTICE_MODEL)];
}

function choosePrimary(config: ModelsConfig, env: ModelEnv, providers: Map<string, Provider>): string {
  const chosen = env.LARES_MODEL?.trim() || config.default;
  if (chosen) return chosen;
  for (const provider of providers.values()) {
    const id = Object.keys(provider.models)[0] ?? DEFAULT_MODEL[provider.name];
    if (id) return `${provider.name}/${id}`;
  }
  return PRACTICE_MODEL;
}

function split(model: string, providers: Map<string, Provider>): { provider: Provider | undefined; modelId: string } {
  const slash = model.indexOf("/");
  return { provider: providers.get(model.slice(0, slash)), modelId: model.slice(slash + 1) };
}

function factsFor(provider: Provider, modelId: string): ModelFacts {
  const { contextWindow, maxOutput } = provider.models[modelId] ?? {};
  const known = findFacts(modelId);
  return {
    contextWindow: contextWindow ?? known.contextWindow,
    maxOutput: maxOutput ?? known.maxOutput,
    thinksUnasked: known.thinksUnasked,
    images: provider.models[modelId]?.images ?? true,
  };
}

function priceFor(provider: Provider, modelId: string): Price | null {
  const own = provider.models[modelId]?.price;
  if (own) return { ...own, cacheRead: own.cacheRead ?? own.input, cacheWrite: own.cacheWrite ?? own.input };
  return findPrice(provider.name, modelId);
}

function describeModel(id: string, providers: Map<string, Provider>): ModelInfo | undefined {
  if (id === PRACTICE_MODEL) return PRACTICE_INFO;
  const { provider, modelId } = split(id, providers);
  if (!provider || modelId === "") return undefined;
  const { contextWindow, maxOutput } = factsFor(provider, modelId);
  const price = priceFor(provider, modelId);
  return {
    id,
    provider: provider.name,
    contextWindow,
    maxOutput,
    price: price && {
      input: price.input,
      output: price.output,
      cacheRead: price.cacheRead,
      cacheWrite: price.cacheWrite,
    },
    practice: false,
    because: provider.because,
    address: toAddress(provider.baseUrl),
  };
}

function toAddress(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  return `${hostname}:${port || (protocol === "https:" ? 443 : 80)}`;
}

/** The chosen model's provider has no key: that is shown, not papered over with another model. */
function missingInfo(id: string): ModelInfo {
  const { contextWindow, maxOutput } = findFacts(id);
  const provider = id.slice(0, id.indexOf("/"));
  const because = `chosen, but its provider is not set up. ${keyHint(provider)}`;
  return { id, provider, contextWindow, maxOutput, price: null, practice: false, because };
}

function notSetUp(model: string, providers: Map<string, Provider>): Extract<ModelReply, { ok: false }> {
  const slash = model.indexOf("/");
  const name = slash < 0 ? model : model.slice(0, slash);
  const known = [...providers.keys(), "practice"];
  const meant = nearest(name, known);
  return {
    ok: false,
    failure: name in DEFAULT_MODEL ? "auth" : "not-found",
    message: `The model ${model} cannot be asked: its provider "${name}" is not set up.`,
    hint: meant && meant !== name ? `Did you mean ${meant}? Known: ${known.join(", ")}.` : keyHint(name),
    usage: NO_USAGE,
  };
}
