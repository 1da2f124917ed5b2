/**
 * Setting a model up from a page or a program: try it, connect it, take it away.
 *
 * PROVIDERS-1: a key goes to the vault and nowhere else; lares.yaml gets `vault:NAME`. No answer has it.
 * PROVIDERS-2: a key that is kept is never sent to an address that was not kept with it.
 */

import type { Models } from "../../core/contracts/index.ts";
import { AppError, type Json } from "../../core/domain/index.ts";
import { type Clock, trimEndCharacters, truthy } from "../../core/kit/index.ts";
import {
  DEFAULT_MODEL,
  describeProviders,
  KNOWN_MODELS,
  type ModelEnv,
  type ModelsConfig,
  type ProviderView,
} from "../../edges/models/index.ts";
import type { Handlers } from "../../faces/gateway/index.ts";
import type { Vault } from "../../ground/vault/index.ts";
import type { LaresSettings } from "../config.ts";

export interface ModelMethodParts {
  settings: LaresSettings;
  vault: Vault;
  models: Models;
  /** The models' part of the environment. */
  modelEnv: ModelEnv;
  /** Models of a configuration that is only tried. */
  tryModels: (config: ModelsConfig, env: ModelEnv) => Models;
  clock: Clock;
  /** From now on this value must not be printed. */
  addSecret: (value: string) => void;
  redact: (text: string) => string;
}

type Given = { provider: string; key?: string; baseUrl?: string; api?: ProviderView["api"]; model?: string };

/** A person waits and looks: longer than this is "it does not work". */
const TEST_MS = 15_000;
/** Models that think first need some room before the word comes. */
const TEST_TOKENS = 512;

export function makeModelMethods(parts: ModelMethodParts): Pick<Handlers, `models.${string}` & keyof Handlers> {
  const { settings, vault, models, modelEnv } = parts;
  const config = () => settings.view.models;
  const viewOf = (name: string) => describeProviders(config(), modelEnv).find((one) => one.name === name);

  /** Whether the kept key must not be used: the address is another one than it was kept with. */
  const isMoved = ({ provider, baseUrl }: Given) =>
    baseUrl !== undefined && trimmed(baseUrl) !== trimmed(viewOf(provider)?.baseUrl ?? "");

  const keyPlace = (view: ProviderView) => {
    if (!view.ready) return undefined;
    const { keys = [], profiles = [] } = config().providers[view.name] ?? {};
    const own = [...keys, ...profiles.map((one) => one.key)].filter((key) => key !== NO_KEY);
    if (own.includes(vault.get(secretName(view.name))?.reveal() ?? NO_KEY)) return "vault";
    if (own.length) return "file";
    if (keys.length === 0 && view.needsKey) return "environment";
    return "none";
  };

  return {
    "models.list": async () => ({ models: models.list(), primary: models.primary().id }),

    async "models.providers"() {
      const pinned = modelEnv.LARES_MODEL?.trim();
      return {
        ...truthy({ pinned }),
        providers: describeProviders(config(), modelEnv).map(({ name, ...view }) => {
          const own = Object.keys(config().providers[name]?.models ?? {});
          const known = view.builtIn ? [...(KNOWN_MODELS[name] ?? [])] : [];
          const suggested = own.length ? own : known;
          const model = suggested[0] ?? DEFAULT_MODEL[name];
          const key = keyPlace({ name, ...view });
          return {
            provider: name,
            ...view,
            ...truthy({ key, model }),
            models: suggested,
          };
        }),
      };
    },

    async "models.test"(given) {
      if (given.key) parts.addSecret(given.key);
      const moved = isMoved(given);
      const before = config().providers[given.provider];
      const provider = {
        ...before,
        ...(moved && !given.key ? { keys: [NO_KEY], profiles: [] } : {}),
        ...(given.key ? { keys: [given.key], profiles: [] } : {}),
        ...truthy({ baseUrl: given.baseUrl, api: given.api }),
      };
      // An entry that says nothing would hide what the environment says.
      const providers = Object.keys(provider).length ? { [given.provider]: provider } : {};
      const id = modelOf(given, before);
      if (!id) throw noModel(given.provider);
      const trial = parts.tryModels(
        { ...config(), providers, fallbacks: [], patienceMs: 0, firstByteTimeoutMs: TEST_MS },
        modelEnv,
      );
      const model = `${given.provider}/${id}`;
      const began = parts.clock.now();
      const reply = await trial
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
      const ms = parts.clock.now() - began;
      if (reply.ok) return { ok: true, ms, model };
      const message = ms >= TEST_MS ? `${given.provider} did not answer within ${TEST_MS / 1000} s.` : reply.message;
      return { ok: false, ms, model, message: parts.redact(message), ...truthy({ hint: reply.hint }) };
    },

    async "models.connect"(given) {
      const name = given.provider;
      const before = config().providers[name];
      const id = modelOf(given, before);
      if (!id) throw noModel(name);
      const builtIn = viewOf(name)?.builtIn ?? false;
      if (!builtIn && !given.baseUrl && !before?.baseUrl) {
        throw new AppError("BAD_REQUEST", {
          message: `The address of "${name}" is not known.`,
          hint: "Give its base URL, e.g. http://127.0.0.1:8080/v1.",
          details: { field: "baseUrl" },
        });
      }
      const moved = isMoved(given);
      const at = (...rest: string[]) => ["models", "providers", name, ...rest];
      const edits: [path: string[], value: Json | undefined][] = [];
      if (given.key) {
        await vault.set(secretName(name), given.key);
        edits.push([at("keys"), [`vault:${secretName(name)}`]], [at("profiles"), undefined]);
      } else if (moved && builtIn) {
        edits.push([at("keys"), [NO_KEY]], [at("profiles"), undefined]);
      }
      if (given.baseUrl) edits.push([at("baseUrl"), given.baseUrl]);
      if (given.api) edits.push([at("api"), given.api]);
      // What stands behind an address of one's own is not known, so its model is written down.
      if ((given.baseUrl || !builtIn) && !before?.models?.[id]) edits.push([at("models", id), {}]);
      edits.push([["models", "default"], `${name}/${id}`]);
      await settings.change(edits);
      return {
        provider: name,
        primary: models.primary().id,
        kept: given.key ? "vault" : "none",
        where: given.key ? vault.where() : "There is no key to keep.",
      };
    },

    async "models.disconnect"({ provider: name }) {
      if (!config().providers[name]) {
        const view = viewOf(name);
        throw view?.ready
          ? new AppError("CONFLICT", {
              message: `"${name}" was found in the environment, so it cannot be removed here.`,
              hint: "Unset its variable and start Lares again.",
            })
          : new AppError("NOT_FOUND", { message: `There is no provider "${name}" in lares.yaml.` });
      }
      const edits: [path: string[], value: Json | undefined][] = [[["models", "providers", name], undefined]];
      const of = (id: string | undefined) => id?.startsWith(`${name}/`) ?? false;
      if (of(config().default)) edits.push([["models", "default"], undefined]);
      const left = config().fallbacks.filter((id) => !of(id));
      if (left.length < config().fallbacks.length) {
        edits.push([["models", "fallbacks"], left.length ? [...left] : undefined]);
      }
      await settings.change(edits);
      await vault.remove(secretName(name));
      return { provider: name, primary: models.primary().id };
    },
  };
}

/** Local servers ask for no key. The same word as in edges/models. */
const NO_KEY = "none";

/** A name of its own: an agent that was granted OPENAI_API_KEY does not get the instance's key with it. */
function secretName(provider: string): string {
  return `MODEL_KEY_${provider.toUpperCase().replace(/[^A-Z0-9]/g, "_")}`;
}

function modelOf({ provider, model }: Given, config: ModelsConfig["providers"][string] | undefined) {
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

function trimmed(url: string): string {
  return trimEndCharacters(url, "/").replace(/\/v1(beta)?$/, "");
}

function said(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
