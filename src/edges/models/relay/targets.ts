/** Which provider a runtime's call goes to: one that speaks the call's wire format, chosen as for our own calls. */
import type { ModelApi } from "../../../core/contracts/index.ts";
import { KNOWN_MODELS } from "../catalogue.ts";
import type { Provider } from "../providers.ts";

export interface RelayTarget {
  provider: Provider;
  modelId: string;
}

export interface TargetParts {
  providers: ReadonlyMap<string, Provider>;
  fallbacks: readonly string[];
}

/** The model that was asked for, then the fallbacks that speak the same format. Empty when nobody speaks it. */
export function targetsFor({ providers, fallbacks }: TargetParts, api: ModelApi, model: string): RelayTarget[] {
  const speaking = [...providers.values()].filter((provider) => speaks(provider, api));
  const first = findNamed(speaking, model) ?? findKnowing(speaking, model);
  if (!first) return [];
  const others = fallbacks.flatMap((id) => findNamed(speaking, id) ?? []);
  const isFirst = (one: RelayTarget) => one.provider === first.provider && one.modelId === first.modelId;
  return [first, ...others.filter((one) => !isFirst(one))];
}

/** OpenAI itself answers in both of its formats at the same address; of others only the configured one is known. */
function speaks({ name, api, official }: Provider, asked: ModelApi): boolean {
  if (api === asked) return true;
  return official && name === "openai" && asked.startsWith("openai-");
}

/** `provider/model`, where there is such a provider. */
function findNamed(speaking: readonly Provider[], model: string): RelayTarget | undefined {
  const slash = model.indexOf("/");
  const provider = slash > 0 ? speaking.find(({ name }) => name === model.slice(0, slash)) : undefined;
  return provider && slash + 1 < model.length ? { provider, modelId: model.slice(slash + 1) } : undefined;
}

/** A plain name goes to the provider that lists it, else to the first that speaks the format. */
function findKnowing(speaking: readonly Provider[], model: string): RelayTarget | undefined {
  const knows = ({ name, models, official }: Provider) =>
    model in models || (official && KNOWN_MODELS[name]?.includes(model));
  const provider = speaking.find(knows) ?? speaking[0];
  return provider && model !== "" ? { provider, modelId: model } : undefined;
}
