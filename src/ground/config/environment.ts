/**
 * The one place that reads the process environment. Everything else receives what it needs as a value, so a test can hand
 * in any environment and a reader can see what a room depends on.
 */

import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { AppError } from "../../core/domain/index.ts";
import { trimEndCharacters } from "../../core/kit/index.ts";

export interface ModelEnvironment {
  readonly anthropicApiKey: string | undefined;
  readonly anthropicBaseUrl: string | undefined;
  readonly openaiApiKey: string | undefined;
  readonly openaiBaseUrl: string | undefined;
  readonly geminiApiKey: string | undefined;
  readonly openrouterApiKey: string | undefined;
  readonly ollamaBaseUrl: string | undefined;
}

export interface Environment {
  /** LARES_HOME as an absolute path, else `~/.lares`. */
  readonly home: string;
  /** LARES_TOKEN: the gateway's token; without it one is made at first start. */
  readonly token: string | undefined;
  /** LARES_MODEL as `provider/model`. */
  readonly model: string | undefined;
  /** LARES_COMMAND: how this program is called, where a wrapper or a container hides it. Hints use it. */
  readonly command: string | undefined;
  /** LARES_CRASH_AT as `<point>[:n][~text]`; tests only. */
  readonly crashAt: string | undefined;
  /** LARES_BLOCK_AT, the same: blocks the event loop there instead. */
  readonly blockAt: string | undefined;
  /** Keys and addresses of model providers under the names their own tools use. */
  readonly models: ModelEnvironment;
  /** NO_COLOR is set, or the terminal cannot show colour. */
  readonly noColor: boolean;
  /** The few variables a child process may inherit. Secrets and start-up hooks (BASH_ENV, NODE_OPTIONS …) are not among them. */
  readonly inherit: Readonly<Record<string, string>>;
  /** Values that must never be printed: hand them to the log's redactor. */
  readonly secrets: readonly string[];
  /** Everything as it was given; only for `${VAR}` in lares.yaml. */
  readonly variables: Readonly<Record<string, string>>;
}

/** Variables a child may see besides the locale's `LC_*`. */
const INHERITED = ["PATH", "HOME", "USER", "LOGNAME", "LANG", "TERM", "TZ", "TMPDIR"];

const SECRET_VARIABLES = [
  "LARES_TOKEN",
  "ANTHROPIC_API_KEY",
  "OPENAI_API_KEY",
  "GEMINI_API_KEY",
  "OPENROUTER_API_KEY",
] as const;

/** Reads and checks the environment once. Throws CONFIG_INVALID for a value that cannot be meant. */
export function readEnvironment(source: Readonly<Record<string, string | undefined>> = process.env): Environment {
  const variables: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(source)) if (value !== undefined) variables[name] = value;
  // A variable set to nothing is how shells and container files spell "not set".
  const read = (name: string) => variables[name]?.trim() || undefined;

  return Object.freeze({
    home: homeFrom(read("LARES_HOME"), read("HOME")),
    token: read("LARES_TOKEN"),
    model: read("LARES_MODEL"),
    command: read("LARES_COMMAND"),
    crashAt: read("LARES_CRASH_AT"),
    blockAt: read("LARES_BLOCK_AT"),
    models: Object.freeze({
      anthropicApiKey: read("ANTHROPIC_API_KEY"),
      anthropicBaseUrl: address("ANTHROPIC_BASE_URL", read("ANTHROPIC_BASE_URL")),
      openaiApiKey: read("OPENAI_API_KEY"),
      openaiBaseUrl: address("OPENAI_BASE_URL", read("OPENAI_BASE_URL")),
      geminiApiKey: read("GEMINI_API_KEY"),
      openrouterApiKey: read("OPENROUTER_API_KEY"),
      ollamaBaseUrl: address("OLLAMA_BASE_URL", read("OLLAMA_BASE_URL")),
    }),
    noColor: read("NO_COLOR") !== undefined || read("TERM") === "dumb",
    inherit: Object.freeze(
      Object.fromEntries(
        Object.entries(variables).filter(([name]) => INHERITED.includes(name) || /^LC_[A-Z]+$/.test(name)),
      ),
    ),
    secrets: Object.freeze(SECRET_VARIABLES.map(read).filter((value) => value !== undefined)),
    variables: Object.freeze(variables),
  });
}

/** The models' part of it, under the variables' own names. */
export function modelVariables({ models: m, model }: Environment): Readonly<Record<string, string | undefined>> {
  return {
    ANTHROPIC_API_KEY: m.anthropicApiKey,
    ANTHROPIC_BASE_URL: m.anthropicBaseUrl,
    OPENAI_API_KEY: m.openaiApiKey,
    OPENAI_BASE_URL: m.openaiBaseUrl,
    GEMINI_API_KEY: m.geminiApiKey,
    OPENROUTER_API_KEY: m.openrouterApiKey,
    OLLAMA_BASE_URL: m.ollamaBaseUrl,
    LARES_MODEL: model,
  };
}

/** The home where LARES_HOME is not set, as for a crontab. */
export function usualHome({ variables }: Pick<Environment, "variables">): string {
  return homeFrom(undefined, variables.HOME?.trim() || undefined);
}

function homeFrom(given: string | undefined, userHome: string | undefined): string {
  const user = userHome ?? homedir();
  if (given === undefined) return join(user, ".lares");
  // Files that set variables (systemd, .env) do not expand the tilde; a folder named "~" is never what was meant.
  return given === "~" || given.startsWith("~/") ? join(user, given.slice(1)) : resolve(given);
}

function address(name: string, value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return trimEndCharacters(value, "/");
  throw new AppError("CONFIG_INVALID", {
    message: `The variable ${name} is not an http or https address.`,
    hint: `Set ${name} to an address such as http://127.0.0.1:11434, or unset it.`,
    retry: "after-change",
    details: { problems: [{ path: name, message: "not an http or https address" }] },
  });
}
