/**
 * Completes package-lock.json with the optional packages of other platforms. Run it after every `npm install` that changed
 * the lockfile: node scripts/complete-lock.mjs
 *
 * npm leaves out an optional package that the registry at hand does not serve (a mirror without the macOS binaries, say),
 * and `npm ci` then refuses the lockfile everywhere. The entries need only a version and the platform they are for: where
 * it matches, npm fetches them; elsewhere it skips them.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./ensure.mjs";

const SYSTEMS = ["aix", "android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "win32"];
const PROCESSORS = ["arm64", "arm", "ia32", "loong64", "mips64el", "ppc64", "riscv64", "s390x", "wasm32", "x64"];

const file = join(root, "package-lock.json");
const lock = JSON.parse(readFileSync(file, "utf8"));
const added = [];
for (const [path, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    if (path === "" || resolves(path, name, version)) continue;
    const platform = platformOf(name);
    // Without a platform npm would install it everywhere; such a package is nothing to guess about.
    if (!platform || !/^\d/.test(version)) {
      process.stderr.write(`${name}@${version} is missing from the lockfile and not of a known platform.\n`);
      process.exitCode = 1;
      continue;
    }
    const place = lock.packages[`node_modules/${name}`] ? `${path}/node_modules/${name}` : `node_modules/${name}`;
    lock.packages[place] = { version, ...platform, ...(entry.dev ? { dev: true } : {}), optional: true };
    added.push(`${place}@${version}`);
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
if (added.length > 0) writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
process.stdout.write(added.length > 0 ? `Added ${added.length}:\n${added.join("\n")}\n` : "Nothing is missing.\n");

/** Looks the way Node does: beside the package, then in each node_modules above. */
function resolves(path, name, version) {
  for (let at = path; ; at = at.slice(0, Math.max(at.lastIndexOf("/node_modules/"), 0))) {
    const found = lock.packages[`${at === "" ? "" : `${at}/`}node_modules/${name}`];
    if (found) return !/^\d/.test(version) || found.version === version;
    if (at === "") return false;
  }
}

function platformOf(name) {
  const words = name.split("/").at(-1).split(/[-_.]/);
  const os = SYSTEMS.find((system) => words.includes(system)) ?? (words.includes("windows") ? "win32" : undefined);
  const cpu = PROCESSORS.find((processor) => words.includes(processor));
  if (words.includes("wasm32")) return { cpu: ["wasm32"] };
  if (!os || !cpu) return undefined;
  const libc = words.some((w) => w.startsWith("musl")) ? "musl" : words.includes("gnu") ? "glibc" : undefined;
  return { cpu: [cpu], ...(libc && os === "linux" ? { libc: [libc] } : {}), os: [os] };
}
