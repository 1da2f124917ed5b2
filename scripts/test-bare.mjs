/**
 * `npm run test:bare`: the tests as on a machine with nothing but Node and npm. Every optional program is hidden in a mount
 * namespace of this run, by an overlay over each folder that holds one; the machine itself stays as it is.
 *
 * Needs Linux and root, or a kernel that gives namespaces to everybody. Where it is not possible this says so and fails: a run that
 * hides nothing proves nothing.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const { programs } = JSON.parse(readFileSync(join(here, "optional-programs.json"), "utf8"));
const SYSTEM = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];
const INSIDE = "--inside";

process.exitCode =
  process.argv[2] === INSIDE ? inside(process.argv[3], process.argv.slice(4)) : outside(process.argv.slice(2));

/** Makes what the tests use while everything is there, then goes into a namespace of its own. */
function outside(args) {
  const made = spawnSync(process.execPath, [join(here, "ensure.mjs"), "--build"], { stdio: "inherit" });
  if (made.status !== 0) return made.status ?? 1;
  const flags = process.getuid?.() === 0 ? ["-m"] : ["-r", "-m"];
  const work = mkdtempSync(join(tmpdir(), "lares-bare-"));
  try {
    const tried = spawnSync("unshare", [...flags, "true"], { encoding: "utf8" });
    if (tried.status !== 0) return impossible(tried.stderr?.trim() || tried.error?.message);
    const command = [process.execPath, fileURLToPath(import.meta.url), INSIDE, work, ...args];
    const ran = spawnSync("unshare", [...flags, ...command], {
      stdio: "inherit",
      env: { ...process.env, PATH: path() },
    });
    return ran.status ?? 1;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Hides, looks whether it is hidden, runs the tests. */
function inside(work, args) {
  try {
    run("mount", ["-t", "tmpfs", "none", work]);
    for (const [folder, names] of toHide()) hide(work, folder, names);
  } catch (error) {
    return impossible(error.message);
  }
  const left = Object.keys(programs).flatMap((name) => find(name));
  if (left.length > 0) return impossible(`still there: ${left.join(", ")}`);
  process.stdout.write(`Hidden for this run: ${Object.keys(programs).join(", ")}\n`);
  const ran = spawnSync(process.execPath, [join(here, "test.mjs"), ...args], { stdio: "inherit" });
  return ran.status ?? 1;
}

/** Folder → names in it. Folders by their real path: on most systems /bin is a link. */
function toHide() {
  const found = new Map();
  for (const [name, { also = [] }] of Object.entries(programs)) {
    for (const file of [name, ...also].flatMap(find)) {
      const folder = realpathSync(dirname(file));
      found.set(folder, (found.get(folder) ?? new Set()).add(basename(file)));
    }
  }
  return found;
}

function find(name) {
  if (name.startsWith("/")) return existsSync(name) ? [name] : [];
  return folders()
    .map((folder) => join(folder, name))
    .filter((file) => existsSync(file));
}

/** A character device 0/0 is how an overlay says "not here". */
function hide(work, folder, names) {
  const layer = join(work, `layer-${readdirSync(work).length}`);
  mkdirSync(layer);
  for (const name of names) run("mknod", [join(layer, name), "c", "0", "0"]);
  run("mount", ["-t", "overlay", "overlay", "-o", `lowerdir=${layer}:${folder}`, folder]);
}

/** Tools of people's own (pyenv, cargo, …) would bring some of the programs back: only the system's folders and Node's. */
function folders() {
  return [...new Set([dirname(process.execPath), ...SYSTEM])].filter((folder) => existsSync(folder));
}

function path() {
  return folders().join(delimiter);
}

function run(program, args) {
  const { status, stderr, error } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${stderr?.trim() || error?.message}`);
}

function impossible(why) {
  process.stderr.write(`The optional programs could not be hidden here, so nothing was tested: ${why}\n`);
  return 1;
}
