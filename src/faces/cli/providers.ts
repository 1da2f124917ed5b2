/**
 * The model providers a person may name, as far as setting up and looking need to know them. The models room has the whole
 * truth and a test compares the two: a face may not import it.
 */
export interface ProviderWords {
  name: string;
  /** The variable its own tools use for the key; a local server needs none. */
  keyEnv?: string;
  urlEnv?: string;
  url: string;
  /** Answers when nobody chose another. */
  model: string;
}

export const PROVIDERS: readonly ProviderWords[] = [
  {
    name: "anthropic",
    keyEnv: "ANTHROPIC_API_KEY",
    urlEnv: "ANTHROPIC_BASE_URL",
    url: "https://api.anthropic.com/v1",
    model: "claude-sonnet-5-5",
  },
  {
    name: "openai",
    keyEnv: "OPENAI_API_KEY",
    urlEnv: "OPENAI_BASE_URL",
    url: "https://api.openai.com/v1",
    model: "gpt-6.1-sol",
  },
  {
    name: "google",
    keyEnv: "GEMINI_API_KEY",
    url: "https://generativelanguage.googleapis.com/v1beta",
    model: "gemini-3.8-flash",
  },
  { name: "openrouter", keyEnv: "OPENROUTER_API_KEY", url: "https://openrouter.ai/api/v1", model: "openrouter/auto" },
  { name: "ollama", urlEnv: "OLLAMA_BASE_URL", url: "http://127.0.0.1:11434/v1", model: "llama3.2" },
];

export const PRACTICE = "practice/practice";

export function providerNamed(name: string): ProviderWords | undefined {
  return PROVIDERS.find((one) => one.name === name);
}
