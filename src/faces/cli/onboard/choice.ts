/** Which model shall answer: as flags say it, as a person says it, or what is best when nobody says anything. */
import { nearest, trimEndCharacters, truthy } from "../../../core/kit/index.ts";
import type { Context, Options } from "../context.ts";
import { usage } from "../exit.ts";
import { PROVIDERS, providerNamed } from "../providers.ts";
import { readAll } from "../read-all.ts";
import { commonWords } from "../words/common.ts";
import { onboardWords as words } from "../words/onboard.ts";
import type { Asker, Choice } from "./ask.ts";

export type ModelChoice =
  | { kind: "keep" }
  | { kind: "practice" }
  | { kind: "model"; model: string }
  | {
      kind: "provider";
      provider: string;
      key?: { from: "env"; variable: string } | { from: "typed"; text: string };
      baseUrl?: string;
      model: string;
    };

export interface Before {
  /** models.default of the file. */
  model: string | undefined;
  /** Names under models.providers. */
  providers: readonly string[];
}

/** A server on this machine is asked for its models; longer, and it is not there. */
const LIST_MS = 2000;

/** What the flags say; undefined when they say nothing about it. Throws usage for what cannot be meant. */
export async function fromFlags(ctx: Context): Promise<ModelChoice | undefined> {
  const { options: o, ports } = ctx;
  if (o.practice) return { kind: "practice" };
  if (o.key !== undefined && o.key !== "-") {
    throw usage(words.keyOnCommandLine, words.keyOnCommandLineHint);
  }
  if (o.key === undefined && !o.keyEnv && !o.baseUrl && !o.provider) {
    return o.model === undefined ? undefined : { kind: "model", model: fullName(o.model) };
  }
  const provider = readProvider(o);
  const known = providerNamed(provider);
  // A server of one's own counts as set up when its address is written down.
  const own = known && !known.keyEnv && !(known.urlEnv && ports.env.variables[known.urlEnv]) ? known.url : undefined;
  const baseUrl = o.baseUrl === undefined ? own : address(o.baseUrl);
  const key = o.key === "-" ? typedKey(await readAll(ports.stdin)) : envKey(ctx, provider);
  if (!key && !baseUrl && providerNamed(provider)?.keyEnv !== undefined) {
    const variable = providerNamed(provider)?.keyEnv;
    throw usage(words.noKey(provider), words.noKeyHint(variable));
  }
  const model = o.model ?? providerNamed(provider)?.model ?? (baseUrl && (await listed(baseUrl))[0]);
  if (!model) throw usage(words.whichModelOf(provider), words.giveModel);
  return {
    kind: "provider",
    provider,
    model: named(provider, model),
    ...truthy({ key, baseUrl }),
  };
}

/** The best that can be had without a question. */
export function standard(ctx: Context, before: Before): ModelChoice {
  return (keep(before) ?? found(ctx)[0])?.value ?? { kind: "practice" };
}

export async function askModel(ctx: Context, ask: Asker, before: Before): Promise<ModelChoice> {
  const kept = keep(before);
  type Way = ModelChoice | { kind: "paste" } | { kind: "server" };
  const ways: Choice<Way>[] = [
    ...(kept ? [kept] : []),
    ...found(ctx),
    { text: words.ways.practice, value: { kind: "practice" } },
    { text: words.ways.paste, value: { kind: "paste" } },
    { text: words.ways.server, value: { kind: "server" } },
  ];
  const way = await ask.choose(words.whichModel, ways);
  if (way.kind === "paste") return pasted(ask);
  return way.kind === "server" ? server(ask) : way;
}

function keep({ model, providers }: Before): Choice<ModelChoice> | undefined {
  const what = model ?? (providers.length ? words.currentSetup(providers.join(", ")) : undefined);
  return what === undefined ? undefined : { text: words.keep(what), value: { kind: "keep" } };
}

/** Keys and servers that the environment names. */
function found(ctx: Context): Choice<ModelChoice>[] {
  const has = (variable: string | undefined) => variable && ctx.ports.env.variables[variable]?.trim();
  return PROVIDERS.flatMap(({ name, keyEnv, urlEnv, model }): Choice<ModelChoice>[] => {
    const choice = { kind: "provider", provider: name, model: named(name, model) } as const;
    if (keyEnv && has(keyEnv)) {
      return [
        {
          text: words.withKeyIn(name, keyEnv),
          value: { ...choice, key: { from: "env", variable: keyEnv } },
        },
      ];
    }
    // A key elsewhere and a server of one's own are another matter.
    if (keyEnv || !urlEnv || !has(urlEnv)) return [];
    return [{ text: words.atAddressIn(name, urlEnv), value: choice }];
  });
}

async function pasted(ask: Asker): Promise<ModelChoice> {
  const names = PROVIDERS.filter(({ keyEnv }) => keyEnv).map(({ name }) => name);
  const provider = await ask.choose(
    words.whichProvider,
    names.map((name) => ({ text: name, value: name })),
  );
  const text = await ask.secret(words.keyHidden);
  const model = await ask.line("Model:", providerNamed(provider)?.model);
  return { kind: "provider", provider, key: typedKey(text), model: named(provider, model) };
}

async function server(ask: Asker): Promise<ModelChoice> {
  const baseUrl = address(await ask.line("Address:", providerNamed("ollama")?.url));
  const [first] = await listed(baseUrl);
  const provider = serverName(baseUrl);
  const model = await ask.line("Model:", first ?? providerNamed(provider)?.model);
  if (!model) throw usage(words.nameModel, words.nameModelHint);
  return { kind: "provider", provider, baseUrl, model: named(provider, model) };
}

function readProvider(o: Options): string {
  const byKey = PROVIDERS.find(({ keyEnv }) => keyEnv !== undefined && keyEnv === o.keyEnv)?.name;
  const name = o.provider ?? byKey ?? (o.baseUrl === undefined ? undefined : serverName(o.baseUrl));
  if (name === undefined) throw usage(words.whichProvider, words.giveProvider);
  if (!/^[a-z0-9][a-z0-9_.-]*$/.test(name)) throw usage(words.badProvider(name), words.badProviderHint);
  if (!providerNamed(name) && o.baseUrl === undefined) {
    const near = nearest(
      name,
      PROVIDERS.map((one) => one.name),
    );
    throw usage(words.noAddress(name), near ? words.noAddressHint(near) : words.giveAddress);
  }
  return name;
}

/** The variable that was named, else the provider's own when it is set. */
function envKey({ options, ports }: Context, provider: string): { from: "env"; variable: string } | undefined {
  const isSet = (variable: string) => ports.env.variables[variable]?.trim();
  if (options.keyEnv !== undefined) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(options.keyEnv)) throw usage(words.badVariable(options.keyEnv));
    if (!isSet(options.keyEnv)) throw usage(words.variableUnset(options.keyEnv), words.variableUnsetHint);
    return { from: "env", variable: options.keyEnv };
  }
  const own = providerNamed(provider)?.keyEnv;
  return own && isSet(own) ? { from: "env", variable: own } : undefined;
}

function typedKey(given: string): { from: "typed"; text: string } {
  const text = given.trim();
  if (!text || /\s/.test(text)) throw usage(text ? words.keyWithSpaces : words.emptyKey, words.onlyTheKey);
  return { from: "typed", text };
}

function serverName(url: string): string {
  return URL.canParse(url) && new URL(url).port === "11434" ? "ollama" : "local";
}

function named(provider: string, model: string): string {
  return model.startsWith(`${provider}/`) && providerNamed(provider)?.model !== model ? model : `${provider}/${model}`;
}

function fullName(model: string): string {
  if (/^[^/]+\/.+/.test(model)) return model;
  throw usage(words.noProvider(model), words.noProviderHint);
}

function address(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return trimEndCharacters(given, "/");
  throw usage(commonWords.notAnAddress(given), words.notAnAddressHint);
}

/** What a server of one's own offers; nothing when it does not answer in time. */
async function listed(baseUrl: string): Promise<string[]> {
  try {
    const base = trimEndCharacters(new URL(baseUrl).pathname, "/") ? baseUrl : `${baseUrl}/v1`;
    const response = await fetch(`${base}/models`, { signal: AbortSignal.timeout(LIST_MS) });
    const { data } = (await response.json()) as { data?: { id?: unknown }[] };
    return (data ?? []).map(({ id }) => id).filter((id): id is string => typeof id === "string");
  } catch {
    return [];
  }
}
