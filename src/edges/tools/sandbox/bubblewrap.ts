/**
 * bubblewrap: the file system is built from nothing, so whatever is not named here is not there. Own process, network and
 * user namespaces, no capabilities, and the whole of it ends with its first process.
 */
import { existsSync, lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { withLimits } from "./limits.ts";
import { named } from "./named.ts";
import type { Confined, Rules, Sandbox, Wrapped } from "./port.ts";
import { privatePaths } from "./private.ts";
import { covers, segments } from "./rules.ts";
import { remembered, type Trial, tryRun } from "./trial.ts";

const PLACES = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"];
/** What programs need of the system; read-only. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/etc", "/nix/store"];
/** In memory, gone with the command. */
const SCRATCH = ["/tmp", "/var/tmp"];
/** How old the list of the system's private files may be. */
const PRIVATE_MS = 60_000;

type Mount = { path: string; how: "read" | "write" | "hide" | "scratch" };

export function createBubblewrap(options: { program?: string; systemPrivate?: () => Promise<string[]> } = {}): Sandbox {
  const program = options.program ?? PLACES.find((path) => existsSync(path)) ?? "bwrap";
  const findPrivate = options.systemPrivate ?? privatePaths;
  let hiddenOfSystem: string[] = [];
  let listing: { at: number; done: Promise<void> } | undefined;

  const listPrivate = async (): Promise<void> => {
    hiddenOfSystem = await findPrivate();
  };
  const look = async (): Promise<Trial> => {
    const nothing: Rules = { writable: [], readable: [], hidden: [], network: false };
    const { argv } = wrap({ argv: ["/usr/bin/true"], cwd: "/", env: {}, key: "trial" }, nothing);
    return tryRun(argv, {});
  };
  const trial = remembered(look);

  const wrap = (command: Confined, rules: Rules): Wrapped => {
    const hidden = [...hiddenOfSystem, ...rules.hidden];
    const args = ["--unshare-all", "--cap-drop", "ALL"];
    if (rules.network) args.push("--share-net");
    if (!command.survives) args.push("--die-with-parent");
    // A terminal that is the command's own has nobody else's keys to forge, and needs its session for ^C and windows.
    if (!command.terminal) args.push("--new-session");
    args.push("--proc", "/proc", "--dev", "/dev");
    const { limits } = rules;
    // In memory, like all that is not bound from the machine: without a size it may take half of the machine's.
    const size = limits ? ["--size", String(limits.tmpMb * 1024 * 1024)] : [];
    args.push(...size, "--perms", "1777", "--tmpfs", "/dev/shm");
    const sealed: string[] = [];
    for (const { path, how } of mounts(rules, hidden)) {
      if (how === "write") args.push("--bind", path, path);
      else if (how === "scratch") args.push(...size, "--perms", "1777", "--tmpfs", path);
      else if (how === "read") {
        const link = readLink(path);
        args.push(...(link === undefined ? ["--ro-bind", path, path] : ["--symlink", link, path]));
      } else if (statSync(path).isDirectory()) {
        args.push("--perms", "0555", "--tmpfs", path);
        sealed.push(path);
      } else args.push("--ro-bind", "/dev/null", path);
    }
    // Names are looked up through a link that often leads out of /etc.
    if (rules.network) args.push(...resolver());
    // Root changes the machine's settings in /proc/sys without any capability; nobody inside needs to write in /proc.
    for (const path of [...sealed, "/proc", "/dev", "/"]) args.push("--remount-ro", path);
    args.push("--chdir", command.cwd, "--");
    const inside = withLimits(named(command.argv, command.argv0), limits, { apart: true });
    return { argv: [program, ...args, ...inside], env: { ...command.env } };
  };

  return {
    name: "bubblewrap",
    async available() {
      if (process.platform !== "linux") return { ok: false, why: "bubblewrap is for Linux" };
      const found = await trial();
      return found.ok ? found : { ...found, why: `bubblewrap does not work here: ${found.why}` };
    },
    // Commands that start while the list is made wait for it: without it they would see what it hides.
    prepare() {
      if (!listing || performance.now() - listing.at > PRIVATE_MS) {
        listing = { at: performance.now(), done: listPrivate() };
      }
      return listing.done;
    },
    wrap,
    where: (rules) => `in a sandbox (bubblewrap) ${rules.network ? "with" : "without"} network, /tmp is its own`,
  };
}

/** In the order of mounting: the shallow first, so that the deepest word on a path is the last. */
function mounts(rules: Rules, hidden: readonly string[]): Mount[] {
  const as = (how: Mount["how"], paths: readonly string[]) =>
    paths.filter((path) => existsSync(path)).map((path) => ({ path, how }));
  const all: Mount[] = [
    ...as("scratch", SCRATCH),
    ...as("read", SYSTEM),
    ...as("write", rules.writable),
    ...as("read", rules.readable),
    ...as("hide", hidden),
  ];
  // The last word on the same path is the strictest.
  const last = new Map(all.map((mount) => [mount.path, mount]));
  const kept = [...last.values()];
  return kept
    .filter(({ path, how }) => how !== "hide" || kept.some((one) => one.how !== "hide" && covers(one.path, path)))
    .sort((a, b) => segments(a.path).length - segments(b.path).length || (a.path < b.path ? -1 : 1));
}

function readLink(path: string): string | undefined {
  return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
}

function resolver(): string[] {
  try {
    const real = realpathSync("/etc/resolv.conf");
    return real.startsWith("/etc/") ? [] : ["--ro-bind", real, real];
  } catch {
    return [];
  }
}
