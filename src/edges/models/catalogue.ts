/** What is known of models without asking anyone: how much they hold, how much they write, whether they think unasked. */

export interface ModelFacts {
  contextWindow: number;
  maxOutput: number;
  /** Thinks even when nobody asked, within the limit of the answer; the limit must leave room for it. */
  thinksUnasked: boolean;
  /** False where the configuration says that it sees no pictures. */
  images?: boolean;
}

/** First match counts. Windows and limits as the providers publish them (November 2026). */
const FACTS: readonly (ModelFacts & { match: RegExp })[] = [
  { match: /^claude-(fable|opus|sonnet|haiku)-5/, contextWindow: 1_000_000, maxOutput: 128_000, thinksUnasked: true },
  { match: /^claude-(opus|sonnet)-4-[678]/, contextWindow: 200_000, maxOutput: 128_000, thinksUnasked: false },
  { match: /^claude-(opus-4-5|sonnet-4|haiku-4)/, contextWindow: 200_000, maxOutput: 64_000, thinksUnasked: false },
  { match: /^claude-opus-4/, contextWindow: 200_000, maxOutput: 32_000, thinksUnasked: false },
  { match: /^claude-/, contextWindow: 200_000, maxOutput: 4_096, thinksUnasked: false },
  { match: /^gpt-[5-9]/, contextWindow: 400_000, maxOutput: 128_000, thinksUnasked: true },
  { match: /^gpt-4\.1/, contextWindow: 1_047_576, maxOutput: 32_768, thinksUnasked: false },
  { match: /^gpt-4o/, contextWindow: 128_000, maxOutput: 16_384, thinksUnasked: false },
  { match: /^o\d/, contextWindow: 200_000, maxOutput: 100_000, thinksUnasked: true },
  { match: /^gemini-(2\.5|[3-9])/, contextWindow: 1_048_576, maxOutput: 65_536, thinksUnasked: true },
  { match: /^gemini-/, contextWindow: 1_048_576, maxOutput: 8_192, thinksUnasked: false },
];

/** For models nobody told us about: small enough that a local model of today is not overrun. */
const UNKNOWN: ModelFacts = { contextWindow: 32_768, maxOutput: 8_192, thinksUnasked: false };

export function findFacts(model: string): ModelFacts {
  // OpenRouter and friends put the maker before the name and write versions with a dot.
  const name = model.slice(model.lastIndexOf("/") + 1).replace(/^(claude-\w+-\d)\.(\d)/, "$1-$2");
  return FACTS.find((facts) => facts.match.test(name)) ?? UNKNOWN;
}

/** The model a provider answers with when only its key was found. */
export const DEFAULT_MODEL: Record<string, string> = {
  anthropic: "claude-sonnet-5-5",
  openai: "gpt-6.1-sol",
  google: "gemini-3.8-flash",
  openrouter: "openrouter/auto",
  ollama: "llama3.2",
};

/** Shown by `list()` for a provider that is reachable; any other id of the provider works as well. */
export const KNOWN_MODELS: Record<string, readonly string[]> = {
  anthropic: ["claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5", "claude-haiku-4-5"],
  openai: ["gpt-6.1-sol", "gpt-6-luna", "gpt-5.2", "gpt-5-mini"],
  google: ["gemini-3.8-flash", "gemini-3.1-pro-preview", "gemini-2.5-flash"],
  openrouter: ["openrouter/auto"],
  ollama: ["llama3.2"],
};
