/**
 * From the configuration to the sandbox that is used now. `auto` falls back to none and says so; a backend that was asked
 * for by name and does not work refuses to run commands: nobody is less confined than the owner wanted.
 */
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../../core/domain/index.ts";
import { defined, truthy } from "../../../core/kit/index.ts";
import { createBubblewrap } from "./bubblewrap.ts";
import { hasNetwork, readNetwork, type SandboxConfig } from "./config.ts";
import { createContainer } from "./container.ts";
import { CREDENTIALS, type Homes, safeBind, safeNetwork, safeWorkspace } from "./danger.ts";
import { hasPrlimit, onThisMachine, type SandboxLimits, strictest, withLimits } from "./limits.ts";
import { named } from "./named.ts";
import type { Confined, Rules, Sandbox, Wrapped } from "./port.ts";
import { covers, within } from "./rules.ts";
import { createSsh } from "./ssh.ts";

/** Where commands of one agent run. */
export interface SandboxRoom {
  name: Sandbox["name"];
  /** For the ask text and for status. */
  where: string;
  rules: Rules;
  wrap(command: Confined): Promise<Wrapped>;
}

export interface ServiceNeeds {
  writable: readonly string[];
  readable: readonly string[];
  /** Decided by the program's own definition: `sandbox.network` is about commands, which an agent writes. */
  network: boolean;
  /** Folders of ours in the home that it may read; not checked, because everything else in the home is refused. */
  ours?: readonly string[];
  /** Tighter limits than those of commands. */
  limits?: SandboxLimits;
}

export interface Confinement {
  /** The room for commands in this workspace. Throws CONFIG_INVALID when the configured one cannot be had. */
  room(workspace: string, caller?: { agent: string; session: string }): Promise<SandboxRoom>;
  /** The room for a program that serves several agents and is nobody's command. Throws like `room`. */
  service(needs: ServiceNeeds): Promise<SandboxRoom>;
  /** For status and doctor: what is in use, or why nothing is. */
  state(): Promise<{ name: Sandbox["name"]; ok: boolean; why?: string; missing?: true; byHand?: true }>;
}

export interface ConfinementParts extends Homes {
  /** The general settings, narrowed by this agent's own. */
  config: (agent?: string) => SandboxConfig;
  /** The agents that asked for the work of this session, all the way up: the room is never wider than theirs (SANDBOX-3). */
  above?: (session: string) => Promise<readonly string[]>;
  /** Folders besides the workspace that this agent works in; checked already. */
  listRoots?: (agent: string) => readonly string[];
  /** Folders and files that the policy lets this agent read: commands see them, too. */
  listReads?: (agent: string) => readonly string[];
  bubblewrap?: Sandbox;
}

export function createNone(why?: string): Sandbox {
  return {
    name: "none",
    available: async () => ({ ok: true }),
    wrap: ({ argv, argv0, env }, { limits }) =>
      limits && hasPrlimit()
        ? { argv: withLimits(named(argv, argv0), limits, { apart: false }), env: { ...env } }
        : { argv: [...argv], ...defined({ argv0 }), env: { ...env } },
    where: () => (why ? `without a sandbox: ${why}` : "without a sandbox"),
  };
}

export function createConfinement(parts: ConfinementParts): Confinement {
  const bubblewrap = parts.bubblewrap ?? createBubblewrap();
  // Remembering whether a backend works is pointless if it is recreated for every command.
  let made: { key: string; sandbox: Sandbox } | undefined;
  const configured = (config: SandboxConfig): Sandbox => {
    if (config.backend === "auto" || config.backend === "bubblewrap") return bubblewrap;
    const key = JSON.stringify(config);
    if (made?.key !== key) made = { key, sandbox: makeBackend(config) };
    return made.sandbox;
  };
  const choose = async (): Promise<{ sandbox: Sandbox; ok: boolean; why?: string; missing?: true }> => {
    const config = parts.config();
    const sandbox = configured(config);
    const { ok, why, missing } = await sandbox.available();
    if (ok) return { sandbox, ok };
    if (config.backend !== "auto") return { sandbox, ok, ...truthy({ why, missing }) };
    return { sandbox: createNone(why), ok: false, ...truthy({ why, missing }) };
  };
  const chosen = async (): Promise<Sandbox> => {
    const { sandbox, ok, why } = await choose();
    if (ok || sandbox.name === "none") return sandbox;
    throw new AppError("CONFIG_INVALID", {
      message: `Commands can't run: the sandbox "${sandbox.name}" is not there. ${why ?? ""}`.trim(),
      hint: "Repair it, or choose another: lares config set sandbox.backend auto",
      retry: "after-change",
    });
  };
  const roomIn = (sandbox: Sandbox, rules: Rules): SandboxRoom => ({
    name: sandbox.name,
    where: sandbox.where(rules),
    rules,
    async wrap(command) {
      await sandbox.prepare?.();
      return sandbox.wrap(command, rules);
    },
  });
  return {
    async service({ writable: [own, ...others], readable, network, ours = [], limits }) {
      const rules = makeRules(parts.config(), own!, { ...parts, roots: others, reads: readable });
      return roomIn(await chosen(), {
        ...rules,
        readable: [...rules.readable, ...ours],
        network,
        ...defined({ limits: strictest(rules.limits, limits) }),
      });
    },
    async room(workspace, caller) {
      const sandbox = await chosen();
      // Each agent works in its own folder; in everything else a sub-agent is confined like the agent that started it.
      const roots = (agent?: string) => (agent === undefined ? [] : (parts.listRoots?.(agent) ?? []));
      const reads = (agent?: string) => (agent === undefined ? [] : (parts.listReads?.(agent) ?? []));
      const around = (agent?: string) => ({ ...parts, roots: roots(agent), reads: reads(agent) });
      let rules = makeRules(parts.config(caller?.agent), workspace, around(caller?.agent));
      for (const agent of (caller && (await parts.above?.(caller.session))) ?? []) {
        rules = within(makeRules(parts.config(agent), workspace, around(agent)), rules);
      }
      return roomIn(sandbox, rules);
    },
    async state() {
      const { sandbox, ok, why, missing } = await choose().catch((error: Error) => ({
        sandbox: createNone(),
        ok: false,
        why: error.message,
        missing: undefined,
      }));
      // Then nothing is missing, and nothing has to be installed.
      const byHand = parts.config().backend === "none" ? { why: "sandbox.backend is none", byHand: true as const } : {};
      return { name: sandbox.name, ok: ok && sandbox.name !== "none", ...truthy({ why, missing }), ...byHand };
    },
  };
}

/** The workspace, what the config adds, and nothing of Lares or of anybody's keys. */
export function makeRules(
  config: SandboxConfig,
  workspace: string,
  homes: Homes & { roots?: readonly string[]; reads?: readonly string[] },
): Rules {
  const brave = config.dangerouslyAllow.includes("binds");
  const readable = config.readable.map((path) => (brave ? realOr(path) : safeBind(path, "read", homes)));
  const writable = [brave ? realOr(workspace) : safeWorkspace(workspace), ...(homes.roots ?? [])];
  // What is written to as well stays so: a rule about reading takes nothing away.
  const allowed = (homes.reads ?? []).filter((path) => !writable.some((own) => covers(path, own) || covers(own, path)));
  return {
    writable,
    readable: [...new Set([...readable, ...allowed.flatMap((path) => bindable(path, homes))])],
    hidden: [realOr(homes.home), ...CREDENTIALS.map((name) => realOr(join(homes.userHome, name)))],
    network: hasNetwork(config),
    limits: onThisMachine(config.limits),
  };
}

/** The policy may name what no sandbox takes in (`/etc/**`, a home): there commands see what they see anyway. */
function bindable(path: string, homes: Homes): string[] {
  try {
    return [safeBind(path, "read", homes)];
  } catch (error) {
    if (error instanceof AppError) return [];
    throw error;
  }
}

function makeBackend(config: SandboxConfig): Sandbox {
  if (config.backend === "ssh") {
    return createSsh({ host: config.host ?? "", ...truthy({ folder: config.folder }) });
  }
  if (config.backend !== "docker" && config.backend !== "podman") return createNone("the config says so");
  const brave = config.dangerouslyAllow.includes("network");
  const network = readNetwork(config);
  return createContainer({
    engine: config.backend,
    image: config.image ?? "",
    ...(typeof network === "string" ? { network: brave ? network : safeNetwork(network) } : {}),
  });
}

function realOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
