/** Keys of the sandbox, the web and MCP servers whose values can't work, or don't on this machine as it is. */
import { statSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";
import type { Advice, AdviceContext, AdviceTable } from "../../core/contracts/index.ts";
import { AppError } from "../../core/domain/index.ts";
import { isProgram } from "../../core/files/index.ts";
import { nearest, silenceAt } from "../../core/kit/index.ts";
import {
  createConfinement,
  readNetwork,
  type SandboxConfig,
  safeBind,
  safeNetwork,
  safeRoot,
} from "./sandbox/index.ts";
import { isListable } from "./web/index.ts";

/** `others`: servers that aren't in `mcp.servers`, because plugins bring them. */
export function adviseTools(others: (home: string) => Promise<readonly string[]>): AdviceTable {
  const judgeServer: AdviceTable[string] = (value, at) => judgeListedServer(value, at, others);
  return {
    "sandbox.backend": trySandbox,
    "sandbox.network": judgeNetwork,
    "sandbox.readable.*": (value, at) => judgeBind(value, at) ?? mustBeFolder(value, "commands can't read it"),
    "agents.*.roots.*": (value, at) => judgeRoot(value, at) ?? mustBeFolder(value, "the agent can't work in it"),
    "memory.documents.*": (value) => mustBeFolder(value, "nothing in it is found"),
    "web.privateHosts.*": judgeListed,
    "web.search.baseUrl": silent,
    "mcp.servers.*.url": silent,
    "mcp.servers.*.command": judgeProgram,
    "mcp.servers.*.cwd": (value) => mustBeFolder(value, "the server can't start in it"),
    "agents.*.mcp.allow.*": judgeServer,
    "agents.*.mcp.deny.*": judgeServer,
    "policy.allow.mcp.*": judgeServer,
    "policy.deny.mcp.*": judgeServer,
    "agents.*.policy.allow.mcp.*": judgeServer,
    "agents.*.policy.deny.mcp.*": judgeServer,
  };
}

/** `auto` uses what works here, and `status` says what that is; one that was chosen by name has to work. */
async function trySandbox(backend: unknown, { config, home }: AdviceContext): Promise<Advice | undefined> {
  if (backend === "auto" || backend === "none") return undefined;
  const sandbox = config.sandbox as SandboxConfig;
  const { ok, why } = await createConfinement({ config: () => sandbox, home, userHome: homedir() }).state();
  if (ok) return undefined;
  const because = why ? ` (${why.replace(/\.$/, "")})` : "";
  return { message: `${backend} doesn't work${because}, so commands won't run. Repair it, or use auto.` };
}

function judgeNetwork(_: unknown, { config }: AdviceContext): Advice | undefined {
  const sandbox = config.sandbox as SandboxConfig;
  const name = readNetwork(sandbox);
  if (typeof name !== "string" || sandbox.dangerouslyAllow.includes("network")) return undefined;
  return refusal(() => safeNetwork(name));
}

function judgeBind(value: unknown, { config, home }: AdviceContext): Advice | undefined {
  const { dangerouslyAllow } = config.sandbox as SandboxConfig;
  if (dangerouslyAllow.includes("binds")) return undefined;
  return refusal(() => safeBind(String(value), "read", { home, userHome: homedir() }));
}

function judgeRoot(value: unknown, { home }: AdviceContext): Advice | undefined {
  const userHome = homedir();
  return refusal(() => safeRoot(expanded(String(value), userHome), { home, userHome }));
}

/** The sentence with which a value is turned down when it is used. */
function refusal(use: () => unknown): Advice | undefined {
  try {
    use();
    return undefined;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { message: [error.message, error.hint].filter(Boolean).join(" "), weight: "never" };
  }
}

/** A folder that isn't there is left out without a word when it is used. */
function mustBeFolder(value: unknown, so: string): Advice | undefined {
  const found = statSync(expanded(String(value), homedir()), { throwIfNoEntry: false });
  if (found?.isDirectory()) return undefined;
  const what = found ? `${value} isn't a folder` : `There is no folder ${value}`;
  return { message: `${what}, so ${so}. Create it, or correct the path.` };
}

export function expanded(path: string, userHome: string): string {
  return path === "~" || path.startsWith("~/") ? join(userHome, path.slice(1)) : path;
}

function judgeListed(value: unknown): Advice | undefined {
  const given = String(value);
  if (isListable(given)) return undefined;
  const example = URL.canParse(given) && new URL(given).host !== "" ? new URL(given).host : "nas.lan or 127.0.0.1:8080";
  const message = `"${given}" isn't a host. Give one host, with or without a port and nothing else, such as ${example}.`;
  return { message, weight: "never" };
}

async function silent(value: unknown): Promise<Advice | undefined> {
  const silence = await silenceAt(String(value));
  return silence === undefined ? undefined : { message: `${silence}. Start the server, or correct the address.` };
}

function judgeProgram(value: unknown, { env }: AdviceContext): Advice | undefined {
  const command = expanded(String(value), homedir());
  if (command.includes("/") && !isAbsolute(command)) return undefined;
  const places = isAbsolute(command) ? [command] : (env.PATH ?? "").split(delimiter).map((dir) => join(dir, command));
  if (places.some(isProgram)) return undefined;
  return {
    message: `There is no program ${value} on this machine, so the server can't start. Install it, or give its whole path.`,
  };
}

/** `server/tool`; the server may be a pattern. */
async function judgeListedServer(
  value: unknown,
  { config, home }: AdviceContext,
  others: (home: string) => Promise<readonly string[]>,
): Promise<Advice | undefined> {
  const { servers } = config.mcp as { servers: Readonly<Record<string, unknown>> };
  const [server = ""] = String(value).split("/");
  if (server.includes("*") || server in servers) return undefined;
  const names = [...Object.keys(servers), ...(await others(home))];
  if (names.includes(server)) return undefined;
  const near = nearest(server, names);
  const meant = near === undefined ? "" : ` Did you mean ${near}?`;
  return { message: `There is no MCP server "${server}" in mcp.servers or of a plugin.${meant}` };
}
