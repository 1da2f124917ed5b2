/**
 * Setting a model up while Lares runs: try it, connect it, take it away.
 *
 * PROVIDERS-1: a key goes to the vault and nowhere else; lares.yaml gets `vault:NAME`. No answer has it.
 * PROVIDERS-2: a key that is kept is never sent to an address that was not kept with it.
 */
import type { Models } from "../../core/contracts/index.ts";
import { AppError, type Json, secretReference } from "../../core/domain/index.ts";
import { type Clock, ownSecretName, trimEndCharacters, truthy } from "../../core/kit/index.ts";
import { DEFAULT_MODEL, KNOWN_MODELS } from "./catalogue.ts";
import type { ModelsConfig } from "./config.ts";
import { describeProviders, type ModelEnv, NO_KEY, type ProviderView } from "./providers.ts";

export interface ProviderSetupParts {
  /** The models' part of the settings as it is now. */
  config: () => ModelsConfig;
  /** Changes lares.yaml in one step; `undefined` removes a key. Throws when the result would not hold. */
  change: (edits: readonly Edit[]) => Promise<unknown>;
  vault: KeyStore;
  models: Pick<Models, "primary">;
  /** The models' part of the environment. */
  env: ModelEnv;
  /** Models of a configuration that is only tried. */
  tryModels: (config: ModelsConfig, env: ModelEnv) => Models;
  clock: Clock;
  /** From now on this value must not be printed. */
  addSecret: (value: string) => void;
  redact: (text: string) => string;
}

/** Where keys are kept. */
interface KeyStore {
  get(name: string): { reveal(): string } | undefined;
  /** Durable when it resolves. */
  set(name: string, value: string): Promise<void>;
  /** False when there was none of this name. */
  remove(name: string): Promise<boolean>;
  /** In plain words. */
  where(): string;
}

type Edit = readonly [path: readonly string[], value: Json | undefined];
type GivenProvider = {
  provider: string;
  key?: string;
  baseUrl?: string;
  api?: ProviderView["api"];
  model?: string;
};

/** A person waits and looks: longer than this is "it does not work". */
const TEST_MS = 15_000;
/** Models that think first need some room before the word comes. */
const TEST_TOKENS = 512;

export class ProviderSetup {
  private readonly parts: ProviderSetupParts;

  constructor(parts: ProviderSetupParts) {
    this.parts = parts;
  }

  /** The providers Lares knows by itself or from the settings, and whether each is set up. Never a key. */
  list() {
    const { config, env } = this.parts;
    const pinned = env.LARES_MODEL?.trim();
    const providers = describeProviders(config(), env).map(({ name, ...view }) => {
      const own = Object.keys(config().providers[name]?.models ?? {});
      const known = view.builtIn ? [...(KNOWN_MODELS[name] ?? [])] : [];
      const models = own.length ? own : known;
      const model = models[0] ?? DEFAULT_MODEL[name];
      return { provider: name, ...view, ...truthy({ key: this.keyPlace({ name, ...view }), model }), models };
    });
    return { ...truthy({ pinned }), providers };
  }

  /** One tiny real request. Nothing is kept. */
  async test(given: GivenProvider) {
    const { clock, config } = this.parts;
    if (given.key) this.parts.addSecret(given.key);
    const id = chooseModel(given, config().providers[given.provider]);
    if (!id) throw noModel(given.provider);
    const model = `${given.provider}/${id}`;
    const began = clock.now();
    const reply = await this.ask(this.trial(given), model);
    const ms = clock.now() - began;
    if (reply.ok) return { ok: true, ms, model };
    const message = ms >= TEST_MS ? `${given.provider} did not answer within ${TEST_MS / 1000} s.` : reply.message;
    return { ok: false, ms, model, message: this.parts.redact(message), ...truthy({ hint: reply.hint }) };
  }

  /** The key goes to the vault, the rest to lares.yaml. The next message uses it. */
  async connect(
    given: GivenProvider,
  ): Promise<{ provider: string; primary: string; kept: "vault" | "none"; where: string }> {
    const { vault, config, models } = this.parts;
    const name = given.provider;
    const before = config().providers[name];
    const id = chooseModel(given, before);
    if (!id) throw noModel(name);
    const builtIn = this.view(name)?.builtIn ?? false;
    if (!builtIn && !given.baseUrl && !before?.baseUrl) throw noAddress(name);
    const at = (...rest: string[]) => ["models", "providers", name, ...rest];
    const edits: Edit[] = [];
    if (given.key) {
      await vault.set(secretName(name), given.key);
      edits.push([at("keys"), [secretReference(secretName(name))]], [at("profiles"), undefined]);
    } else if (this.isMoved(given) && builtIn) {
      edits.push([at("keys"), [NO_KEY.key]], [at("profiles"), undefined]);
    }
    if (given.baseUrl) edits.push([at("baseUrl"), given.baseUrl]);
    if (given.api) edits.push([at("api"), given.api]);
    // What stands behind an address of one's own is not known, so its model is written down.
    if ((given.baseUrl || !builtIn) && !before?.models?.[id]) edits.push([at("models", id), {}]);
    edits.push([["models", "default"], `${name}/${id}`]);
    await this.parts.change(edits);
    return {
      provider: name,
      primary: models.primary().id,
      kept: given.key ? "vault" : "none",
      where: given.key ? vault.where() : "There is no key to keep.",
    };
  }

  async disconnect(name: string): Promise<{ provider: string; primary: string }> {
    const { config, vault, models } = this.parts;
    if (!config().providers[name]) throw this.notInFile(name);
    const edits: Edit[] = [[["models", "providers", name], undefined]];
    const of = (id: string | undefined) => id?.startsWith(`${name}/`) ?? false;
    if (of(config().default)) edits.push([["models", "default"], undefined]);
    const left = config().fallbacks.filter((id) => !of(id));
    if (left.length < config().fallbacks.length) {
      edits.push([["models", "fallbacks"], left.length ? [...left] : undefined]);
    }
    await this.parts.change(edits);
    await vault.remove(secretName(name));
    return { provider: name, primary: models.primary().id };
  }

  private view(name: string): ProviderView | undefined {
    return describeProviders(this.parts.config(), this.parts.env).find((one) => one.name === name);
  }

  /** Whether the kept key must not be used: the address is another one than it was kept with. */
  private isMoved({ provider, baseUrl }: GivenProvider): boolean {
    return baseUrl !== undefined && trimmed(baseUrl) !== trimmed(this.view(provider)?.baseUrl ?? "");
  }

  private keyPlace(view: ProviderView) {
    if (!view.ready) return undefined;
    const { keys = [], profiles = [] } = this.parts.config().providers[view.name] ?? {};
    const own = [...keys, ...profiles.map((one) => one.key)].filter((key) => key !== NO_KEY.key);
    if (own.includes(this.parts.vault.get(secretName(view.name))?.reveal() ?? NO_KEY.key)) return "vault";
    if (own.length) return "file";
    if (keys.length === 0 && view.needsKey) return "environment";
    return "none";
  }

  /** Models with this provider alone, as it was given. */
  private trial(given: GivenProvider): Models {
    const { config, env, tryModels } = this.parts;
    const provider = {
      ...config().providers[given.provider],
      ...(this.isMoved(given) && !given.key ? { keys: [NO_KEY.key], profiles: [] } : {}),
      ...(given.key ? { keys: [given.key], profiles: [] } : {}),
      ...truthy({ baseUrl: given.baseUrl, api: given.api }),
    };
    // An entry that says nothing would hide what the environment says.
    const providers = Object.keys(provider).length ? { [given.provider]: provider } : {};
    return tryModels({ ...config(), providers, fallbacks: [], patienceMs: 0, firstByteTimeoutMs: TEST_MS }, env);
  }

  private ask(trial: Models, model: string) {
    return trial
      .call(
        {
          model,
          system: "Answer with one word.",
          tools: [],
          messages: [{ role: "user", content: [{ type: "text", text: "Say: ok" }] }],
          maxOutputTokens: TEST_TOKENS,
          cacheKey: "models.test",
        } as Parameters<Models["call"]>[0],
        () => {},
        AbortSignal.timeout(TEST_MS),
      )
      .catch((error: unknown) => ({ ok: false as const, message: said(error), hint: null }));
  }

  private notInFile(name: string): AppError {
    if (!this.view(name)?.ready)
      return new AppError("NOT_FOUND", { message: `There is no provider "${name}" in lares.yaml.` });
    return new AppError("CONFLICT", {
      message: `"${name}" was found in the environment, so it cannot be removed here.`,
      hint: "Unset its variable and start Lares again.",
    });
  }
}

/** A separate name: an agent that was granted OPENAI_API_KEY does not get the instance's key with it. */
function secretName(provider: string): string {
  return ownSecretName("MODEL_KEY", provider);
}

function chooseModel({ provider, model }: GivenProvider, config: ModelsConfig["providers"][string] | undefined) {
  const named =
    model?.startsWith(`${provider}/`) && provider !== "openrouter" ? model.slice(provider.length + 1) : model;
  return named ?? Object.keys(config?.models ?? {})[0] ?? DEFAULT_MODEL[provider];
}

function noModel(provider: string): AppError {
  return new AppError("BAD_REQUEST", {
    message: `Which model of "${provider}"?`,
    hint: "Give the name the provider calls it by, e.g. llama3.2.",
    details: { field: "model" },
  });
}

function noAddress(provider: string): AppError {
  return new AppError("BAD_REQUEST", {
    message: `The address of "${provider}" is not known.`,
    hint: "Give its base URL, e.g. http://127.0.0.1:8080/v1.",
    details: { field: "baseUrl" },
  });
}

function trimmed(url: string): string {
  return trimEndCharacters(url, "/").replace(/\/v1(beta)?$/, "");
}

function said(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
