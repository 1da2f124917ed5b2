/**
 * How Codex is started for a run. Pure.
 *
 * CODEX-1: its home is never inside its temporary folder: there it makes no helpers, and every sandboxed command fails.
 * CODEX-2: a folder's own settings don't count. Codex trusts a folder as soon as it may write there, and then starts the servers that the
 *     folder's settings name, without asking: so every folder is marked as untrusted.
 * CODEX-3: commands get the run's tag and none of its tokens.
 * CODEX-4: everything that acts without asking is off: searching the web at the provider, other agents, pictures, plugins, hooks.
 */
import { isAbsolute, join, relative } from "node:path";
import type { RunPorts, RunRequest } from "../../../core/contracts/index.ts";
import { defined } from "../../../core/kit/index.ts";
import { ATTEMPT_TAG } from "../driver.ts";

export interface CodexPlaces {
  /** CODEX_HOME. */
  home: string;
  tmp: string;
  cwd: string;
}

/** Its own folders inside those that the run was given. */
export function choosePlaces({ workspace }: Pick<RunRequest, "workspace">, ports: RunPorts): CodexPlaces {
  return {
    home: ports.home === null ? join(ports.tmp, "home") : join(ports.home, "codex"),
    tmp: join(ports.tmp, "tmp"),
    cwd: workspace?.path ?? ports.tmp,
  };
}

/** CODEX-1. */
export function isHomeInTemp({ home, tmp }: Pick<CodexPlaces, "home" | "tmp">): boolean {
  const path = relative(tmp, home);
  return path === "" || (!path.startsWith("..") && !isAbsolute(path));
}

/** What earlier runs could have left in the home to loosen the rules of this one. */
export const LOOSENERS: readonly string[] = [
  "config.toml",
  "managed_config.toml",
  "requirements.toml",
  "hooks.json",
  "hooks",
  "rules",
  "plugins",
];

const PROVIDER = "lares";
const MODEL_TOKEN = "LARES_MODEL_TOKEN";
const MCP_TOKEN = "LARES_MCP_TOKEN_";
/** As long as a person may take. */
const MCP_PATIENCE_S = 7 * 86_400;
/** CODEX-4. Connections that fail are tried again a few times, not forever. */
const OFF: readonly string[] = [
  "apps",
  "browser_use",
  "computer_use",
  "goals",
  "hooks",
  "image_generation",
  "multi_agent",
  "plugins",
  "unbounded_connection_retries",
  "view_image",
];
/** Lares' own relay has tried already; what Codex retries silently would only look like silence. */
const RETRIES = { request_max_retries: 0, stream_max_retries: 3 };

export interface CodexRun {
  request: RunRequest;
  ports: RunPorts;
  places: CodexPlaces;
  /** The variable by which processes of a run are found again. */
  tag: string;
  /** It can ask before it acts. */
  asks: boolean;
}

/** The environment, from nothing but what the run was given. */
export function listEnvironment({ ports, places }: CodexRun): Record<string, string> {
  const tokens = ports.mcp.map(({ token }, i) => [`${MCP_TOKEN}${i}`, token] as const);
  return {
    HOME: places.home,
    ...ports.env,
    CODEX_HOME: places.home,
    TMPDIR: places.tmp,
    ...defined({ [MODEL_TOKEN]: ports.models?.token }),
    ...Object.fromEntries(tokens),
  };
}

/** As `-c` takes them: those win over every file. */
export function listSettings({ request, ports, places, tag, asks }: CodexRun): string[] {
  const key = ports.env[tag] ?? request.run;
  const servers = ports.mcp.map(({ name, url }, i) => [
    name.replace(/[^\w-]/g, "_"),
    {
      url,
      bearer_token_env_var: `${MCP_TOKEN}${i}`,
      // The gate judges them where they are run, and may ask a person.
      default_tools_approval_mode: "approve",
      tool_timeout_sec: MCP_PATIENCE_S,
    },
  ]);
  const settings: Record<string, TomlValue> = {
    ...describeProvider(ports.models),
    // In an untrusted folder it would ask, and refuse by itself where nobody can be asked.
    ...defined({ approval_policy: asks ? undefined : "never" }),
    projects: { [places.cwd]: { trust_level: "untrusted" } },
    shell_environment_policy: { inherit: "core", set: { [tag]: key, [ATTEMPT_TAG]: String(request.attempt) } },
    sandbox_workspace_write: { exclude_slash_tmp: true, network_access: false },
    analytics: { enabled: false },
    check_for_update_on_startup: false,
    web_search: "disabled",
    mcp_servers: Object.fromEntries(servers),
    ...Object.fromEntries(OFF.map((feature) => [`features.${feature}`, false])),
  };
  return Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${writeToml(value)}`]);
}

/** The token isn't among them: a command line can be read by everyone on the machine. */
function describeProvider(models: RunPorts["models"]): Record<string, TomlValue> {
  if (!models) return {};
  const provider = { name: "Lares", base_url: `${models.baseUrl}/v1`, env_key: MODEL_TOKEN, wire_api: "responses" };
  return { model_provider: PROVIDER, model_providers: { [PROVIDER]: { ...provider, ...RETRIES } } };
}

export type CodexSandbox = "read-only" | "workspace-write" | "danger-full-access";

/** Inside a boundary of ours it doesn't make another one, which would fail. */
export function chooseSandbox(workspace: RunRequest["workspace"]): CodexSandbox {
  if (workspace?.boundary === "sandbox" || workspace?.boundary === "container") return "danger-full-access";
  return workspace?.writable ? "workspace-write" : "read-only";
}

/** As Codex knows it: with its provider in front it would know nothing about it. The proxy finds the whole name again. */
export function nameForIt(model: string | null): string | undefined {
  return model?.slice(model.lastIndexOf("/") + 1);
}

/** What a thread is opened with, new or taken up again. */
export function describeThread({ request, ports, places }: CodexRun): Record<string, unknown> {
  const { instructions } = request.prompt;
  return {
    cwd: places.cwd,
    // Every command, every change of a file and every MCP call asks. The settings file refuses this word; a thread takes it.
    approvalPolicy: "untrusted",
    sandbox: chooseSandbox(request.workspace),
    ...defined({
      model: nameForIt(request.model),
      modelProvider: ports.models ? PROVIDER : undefined,
      developerInstructions: instructions === "" ? undefined : instructions,
    }),
  };
}

type TomlValue = string | number | boolean | { readonly [name: string]: TomlValue };

function writeToml(value: TomlValue): string {
  if (typeof value !== "object") return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}=${writeToml(one)}`);
  return `{${fields.join(",")}}`;
}
