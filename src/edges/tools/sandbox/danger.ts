/**
 * What must not be let into a sandbox, because it would be a way out of it (SB-01). Paths are judged as they are written and
 * as what they really are, so that a link to `/` does not make `/etc` harmless.
 */
import { lstatSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, normalize } from "node:path";
import { AppError } from "../../../core/domain/index.ts";
import { covers } from "./rules.ts";

/** Seen, they tell secrets or steer the machine. */
const PROTECTED = [
  "/etc",
  "/proc",
  "/sys",
  "/dev",
  "/boot",
  "/run",
  "/var/run",
  "/var/lib/docker",
  "/var/lib/containerd",
  "/var/lib/containers",
  "/var/spool",
];
/** A folder like any other, only in memory. */
const IN_MEMORY = "/dev/shm/";
/** Changed, they change what everybody runs. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix"];
/** Where people keep keys, in their home. */
export const CREDENTIALS = [
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".kube",
  ".docker",
  ".config/gcloud",
  ".config/gh",
  ".config/git/credentials",
  ".git-credentials",
  ".netrc",
  ".npmrc",
  ".pypirc",
  ".password-store",
  ".local/share/keyrings",
  ".mozilla",
  ".config/google-chrome",
  ".config/chromium",
];

export interface Homes {
  /** The home of Lares. */
  home: string;
  /** The home of the person it runs as. */
  userHome: string;
}

/** The real path of something a config lets into the sandbox. Throws CONFIG_INVALID when that would be a way out. */
export function safeBind(path: string, deed: "read" | "write", homes: Homes): string {
  if (!isAbsolute(path)) throw refused(path, "is not an absolute path");
  const real = resolveReal(normalize(path));
  for (const one of new Set([stripped(normalize(path)), real])) {
    const why = findDanger(one, deed, homes);
    if (why) throw refused(path, one === stripped(path) ? why : `is really ${one}, which ${why}`);
  }
  return real;
}

/** What is wrong with a path that no sandbox shows, not even for reading: "contains the home of Lares". */
export function whyNoRead(path: string, homes: Homes): string | undefined {
  const given = stripped(normalize(path));
  return findDanger(given, "read", homes) ?? findDanger(resolveReal(given), "read", homes);
}

/** The agent's own workspace lies where its owner put it; only what is never a workspace is refused. */
export function safeWorkspace(path: string): string {
  const real = resolveReal(path);
  const inside = [...PROTECTED, ...SYSTEM].find((one) => covers(one, real) && !real.startsWith(IN_MEMORY));
  if (real === "/" || inside) throw refused(path, `is ${real}, which belongs to the system`);
  return real;
}

/** A folder an agent works in besides its workspace. Throws CONFIG_INVALID when it holds more than work. */
export function safeRoot(path: string, homes: Homes): string {
  const why = whyNoRoot(path, homes);
  if (why === undefined) return resolveReal(normalize(path));
  throw new AppError("CONFIG_INVALID", {
    message: `An agent can't work in "${path}": it ${why}.`,
    hint: "Name a project's own folder in agents.<id>.roots.",
    retry: "after-change",
  });
}

/** What is wrong with a folder that nobody may get: "is your whole home". */
export function whyNoRoot(path: string, homes: Homes): string | undefined {
  return isAbsolute(path) ? rootDanger(path, homes) : "is not an absolute path";
}

function rootDanger(path: string, homes: Homes): string | undefined {
  const real = resolveReal(normalize(path));
  if (real === resolveReal(homes.userHome)) return "is your whole home";
  return findDanger(stripped(normalize(path)), "write", homes) ?? findDanger(real, "write", homes);
}

/** A container's network by name. Throws CONFIG_INVALID for one that is no border. */
export function safeNetwork(name: string): string {
  if (/^host$/i.test(name)) throw refusedNetwork(name, "is the machine's own network");
  if (/^(container|ns):/i.test(name)) throw refusedNetwork(name, "belongs to another container");
  if (!/^[A-Za-z0-9][\w.-]*$/.test(name)) throw refusedNetwork(name, "is not a network's name");
  return name;
}

function findDanger(path: string, deed: "read" | "write", { home, userHome }: Homes): string | undefined {
  if (path === "/") return "is the whole machine";
  if (/^(docker|podman|containerd|crio|buildkitd|lxd|libvirt-sock).*(\.sock|sock)$/.test(basename(path)))
    return "is the socket of a container engine";
  if (isSocket(path)) return "is a socket";
  const keys = CREDENTIALS.map((name) => join(userHome, name));
  const guarded = [...PROTECTED, ...keys, home, resolveReal(home), ...(deed === "write" ? SYSTEM : [])];
  const hit = guarded.find(
    (one) => (covers(one, path) && !(one === "/dev" && path.startsWith(IN_MEMORY))) || covers(path, one),
  );
  if (hit === undefined) return undefined;
  const what = hit === home || hit === resolveReal(home) ? "the home of Lares" : hit;
  return covers(path, hit) && path !== hit
    ? `contains ${what}`
    : `is ${path === hit ? "" : "inside "}${what}, which stays outside the sandbox`;
}

/** The real path, also of what is not there yet: then of the nearest folder that is. */
function resolveReal(path: string): string {
  const rest: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    try {
      return stripped(join(realpathSync(at), ...rest));
    } catch {
      if (at === dirname(at)) return stripped(path);
      rest.unshift(basename(at));
    }
  }
}

function isSocket(path: string): boolean {
  try {
    return lstatSync(path).isSocket();
  } catch {
    return false;
  }
}

function stripped(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

function refused(path: string, why: string): AppError {
  return new AppError("CONFIG_INVALID", {
    message: `The sandbox can't include "${path}": it ${why}.`,
    hint: 'Name a narrower folder. If you mean it, list "binds" in sandbox.dangerouslyAllow.',
    retry: "after-change",
  });
}

function refusedNetwork(name: string, why: string): AppError {
  return new AppError("CONFIG_INVALID", {
    message: `The sandbox can't use the network "${name}": it ${why}.`,
    hint: 'Use true, false or a network of its own. If you mean it, list "network" in sandbox.dangerouslyAllow.',
    retry: "after-change",
  });
}
