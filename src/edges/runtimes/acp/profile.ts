/**
 * What differs between agents that speak ACP, as data. The driver has no branch on a runtime's name: what a runtime needs is a field here,
 * and a person can write the same fields in `lares.yaml` for an agent that isn't listed.
 */
import type { ModelApi } from "../../../core/contracts/index.ts";
import type { NpmProgram } from "../driver.ts";

/** How a runtime reports tokens. `turn`: with each prompt's answer, for that prompt. `total`: there too, but added up since it started. */
export type TokenReport = "turn" | "total" | "gemini" | "qwen" | "none";

export interface AcpProfile {
  /** As in `agents.<id>.runtime`. */
  name: string;
  /** As people know it. */
  title: string;
  /** The program, found on the PATH unless it is an absolute path. */
  command: string;
  /** Its arguments for speaking ACP. */
  args: readonly string[];
  /** Its arguments for printing its version. */
  version: readonly string[];
  /** How it gets onto a machine, for a person who reads that it is missing. */
  install: string;
  /** Where npm has it, and the script that its package needs. */
  npm: NpmProgram | null;
  /** Added to the run's environment. `{home}`, `{tmp}`, `{url}`, `{token}` and `{model}` stand for the run's own. */
  env: Readonly<Record<string, string>>;
  /** Files in its home, written before each run, with the same places in them: what it changed there itself doesn't hold. */
  files: Readonly<Record<string, string>>;
  /** Formats in which its model calls can go through our proxy. */
  apis: readonly ModelApi[];
  /** The login method to choose after `initialize`, where it wants one. */
  auth: string | null;
  /** The mode to set in every session, where its own default would decide about permissions by itself. */
  mode: string | null;
  /** Whether every tool call asks, or only those it finds dangerous. */
  asks: "every-call" | "some" | "never";
  /** What a denial does to the turn. */
  denied: "goes-on" | "ends-turn";
  /** Answers that it would keep for good, by option id: never chosen. */
  neverChoose: readonly string[];
  /** How it takes up a conversation in a new process. `load` replays the history first. */
  resume: "resume" | "load" | "none";
  tokens: TokenReport;
  /** Whether it reports money, which ACP adds up over the session. */
  money: boolean;
  /** It takes MCP servers over HTTP, also where it doesn't say so. */
  takesHttp: boolean;
  /** Starts of messages by which it says that its model failed, where it ends the turn as if nothing had happened. */
  failures: readonly string[];
  /** It ends when its input does. Otherwise it is ended. */
  endsWithInput: boolean;
  /** Starts of messages that are warnings, not part of the answer. */
  warnings: readonly string[];
}

/** What is true of an agent about which nobody said more. */
export const PLAIN: Omit<AcpProfile, "name" | "title" | "command" | "install"> = {
  args: ["acp"],
  npm: null,
  version: ["--version"],
  env: {},
  files: {},
  apis: [],
  auth: null,
  mode: null,
  asks: "some",
  denied: "goes-on",
  neverChoose: [],
  resume: "none",
  tokens: "none",
  money: false,
  takesHttp: false,
  failures: [],
  endsWithInput: true,
  warnings: [],
};

/** Its own settings and data below the run's home, where XDG is respected. */
const XDG = {
  XDG_CONFIG_HOME: "{home}/config",
  XDG_DATA_HOME: "{home}/data",
  XDG_STATE_HOME: "{home}/state",
  XDG_CACHE_HOME: "{home}/cache",
};

const OPENCODE_SETTINGS = {
  autoupdate: false,
  share: "disabled",
  model: "lares/{model}",
  small_model: "lares/{model}",
  enabled_providers: ["lares"],
  permission: { edit: "ask", bash: "ask", webfetch: "ask" },
  provider: {
    lares: {
      npm: "@ai-sdk/openai-compatible",
      options: { baseURL: "{url}/v1", apiKey: "{token}" },
      models: { "{model}": {} },
    },
  },
};

/** JSON is YAML, too. Approvals: an agent once turned its own off in this file. */
const HERMES_SETTINGS = {
  model: { provider: "custom", base_url: "{url}/v1", default: "{model}", api_key: "{token}" },
  approvals: { mode: "manual" },
};

export const ACP_PROFILES: readonly AcpProfile[] = [
  {
    ...PLAIN,
    name: "opencode",
    title: "OpenCode",
    command: "opencode",
    install: "lares runtimes install opencode",
    npm: { package: "opencode-ai", script: "postinstall.mjs" },
    env: {
      ...XDG,
      OPENCODE_CONFIG_CONTENT: JSON.stringify(OPENCODE_SETTINGS),
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
    },
    apis: ["openai-chat"],
    denied: "ends-turn",
    resume: "load",
    tokens: "turn",
    money: true,
  },
  {
    ...PLAIN,
    name: "hermes",
    title: "Hermes",
    command: "hermes",
    install: "pip install 'hermes-agent[acp]'",
    // Only the servers that a run is given: its own are configured for other work.
    env: { HERMES_HOME: "{home}", HERMES_ACP_SKIP_CONFIGURED_MCP: "1" },
    files: { "config.yaml": JSON.stringify(HERMES_SETTINGS) },
    apis: ["openai-chat"],
    // Both write a list that outlives the run.
    neverChoose: ["allow_always", "allow_session"],
    takesHttp: true,
    failures: ["HTTP 4", "HTTP 5", "API call failed"],
    resume: "load",
    tokens: "turn",
  },
  {
    ...PLAIN,
    name: "gemini",
    title: "Gemini CLI",
    command: "gemini",
    args: ["--acp"],
    install: "lares runtimes install gemini",
    npm: { package: "@google/gemini-cli", script: null },
    env: {
      GEMINI_API_KEY: "{token}",
      GOOGLE_GEMINI_BASE_URL: "{url}",
      GEMINI_CLI_TRUST_WORKSPACE: "true",
    },
    apis: ["google"],
    auth: "gemini-api-key",
    tokens: "gemini",
  },
  {
    ...PLAIN,
    name: "qwen",
    title: "Qwen Code",
    command: "qwen",
    args: ["--acp"],
    install: "lares runtimes install qwen",
    npm: { package: "@qwen-code/qwen-code", script: null },
    env: { OPENAI_API_KEY: "{token}", OPENAI_BASE_URL: "{url}/v1", OPENAI_MODEL: "{model}" },
    apis: ["openai-chat"],
    auth: "openai",
    // It starts in a mode where a model answers its permission requests.
    mode: "default",
    denied: "ends-turn",
    resume: "load",
    tokens: "qwen",
    endsWithInput: false,
  },
  {
    ...PLAIN,
    name: "copilot",
    title: "GitHub Copilot CLI",
    command: "copilot",
    args: ["--acp"],
    install: "lares runtimes install copilot",
    npm: { package: "@github/copilot", script: null },
    env: {
      ...XDG,
      COPILOT_PROVIDER_BASE_URL: "{url}/v1",
      COPILOT_PROVIDER_TYPE: "openai",
      COPILOT_PROVIDER_API_KEY: "{token}",
      COPILOT_MODEL: "{model}",
      COPILOT_OFFLINE: "true",
    },
    apis: ["openai-chat"],
    denied: "ends-turn",
    resume: "load",
    tokens: "total",
  },
  {
    ...PLAIN,
    name: "goose",
    title: "Goose",
    command: "goose",
    install: "see https://block.github.io/goose",
    env: { ...XDG, GOOSE_PROVIDER: "openai", OPENAI_HOST: "{url}", OPENAI_API_KEY: "{token}", GOOSE_MODEL: "{model}" },
    apis: ["openai-chat"],
    resume: "load",
  },
];

export interface RunPlaces {
  home: string;
  tmp: string;
  url: string;
  token: string;
  model: string;
}

/** The profile's variables with the run's own places in them. One that needs a place which the run doesn't have is left out. */
export function fillEnvironment({ env }: Pick<AcpProfile, "env">, places: Partial<RunPlaces>): Record<string, string> {
  return fillAll(env, places);
}

/** The same for its files. */
export function fillFiles({ files }: Pick<AcpProfile, "files">, places: Partial<RunPlaces>): Record<string, string> {
  return fillAll(files, places);
}

function fillAll(templates: Readonly<Record<string, string>>, places: Partial<RunPlaces>): Record<string, string> {
  const filled: Record<string, string> = {};
  for (const [name, template] of Object.entries(templates)) {
    const isMissing = PLACES.some((place) => template.includes(`{${place}}`) && places[place] === undefined);
    if (isMissing) continue;
    const isJson = template.startsWith('{"');
    // In one pass: a place's own text may have braces in it, too.
    filled[name] = template.replace(/\{(home|tmp|url|token|model)\}/g, (_, place: keyof RunPlaces) =>
      isJson ? JSON.stringify(places[place]).slice(1, -1) : places[place]!,
    );
  }
  return filled;
}

const PLACES: readonly (keyof RunPlaces)[] = ["home", "tmp", "url", "token", "model"];
