/**
 * Makes a clone ready to run: the right Node, the packages of the lockfile, and with `--build` a current `dist/`.
 * Plain Node without packages, because it runs before there are any.
 *
 * Whether work is needed is decided by contents, never by file times: a checkout, a copy or a touched file changes times
 * without changing anything. The stamps live in the folders they describe and vanish with them.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

export const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");

/** The oldest Node with `require(esm)` on the 20 line; the packages of the lockfile were resolved for it. */
const OLDEST_NODE = [20, 19];

/** A failure the reader can act on: printed as its sentences, without a stack. */
class Stop extends Error {}

export function ensure({ build = false } = {}) {
  checkNode(process.versions.node);
  install();
  if (build) {
    buildProgram();
    buildUi();
  }
}

/** Runs `work` and turns a `Stop` into its sentences and exit code 1. */
export async function orSayWhy(work) {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

export function checkNode(version) {
  const [major, minor] = version.split(".").map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return;
  throw new Stop(
    `Lares needs Node ${OLDEST_NODE.join(".")} or newer; this is Node ${version}.\n` +
      "Install a current Node (https://nodejs.org), then run the same command again.",
  );
}

function install() {
  const modules = join(root, "node_modules");
  const stamp = join(modules, ".lares-stamp");
  const wanted = lockHash();
  if (readOr(stamp) === wanted) return;
  if (installedMatchesLock(modules)) {
    // Installed by hand with npm: nothing to do but to remember it.
    writeFileSync(stamp, wanted);
    return;
  }
  say(existsSync(modules) ? "Packages are out of date. Installing…" : "Installing packages…");
  const started = Date.now();
  // Development packages are needed to build, whatever NODE_ENV says; and a failure is told even under `npm start --silent`.
  const code = run("npm", ["ci", "--include=dev", "--no-audit", "--no-fund", "--loglevel=notice"]);
  if (code !== 0) {
    throw new Stop(
      `Installing packages failed (npm ci ended with ${code}); npm's own words are above.\n` +
        "Check the network and the free disk space, then run: npm ci",
    );
  }
  writeFileSync(stamp, wanted);
  say(`Packages installed in ${seconds(started)}.`);
}

/** Native packages differ per platform, so a node_modules copied from another machine is not taken for ours. */
function lockHash() {
  return hash([join(root, "package-lock.json")], [process.platform, process.arch]);
}

/** npm writes `node_modules/.package-lock.json` last, as the list of what it really installed. */
function installedMatchesLock(modules) {
  const installed = readOr(join(modules, ".package-lock.json"));
  if (installed === undefined) return false;
  let want;
  let have;
  try {
    want = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages;
    have = JSON.parse(installed).packages;
  } catch {
    return false;
  }
  return Object.entries(want).every(([path, entry]) => {
    if (path === "" || !path.includes("node_modules/")) return true;
    // Packages for other platforms are optional and rightly missing.
    if (have[path] === undefined) return entry.optional === true || entry.devOptional === true;
    return have[path].version === entry.version && existsSync(join(root, path));
  });
}

function buildProgram() {
  const inputs = [
    ...filesUnder(join(root, "src"), (file) => !file.endsWith(".test.ts")),
    ...["package.json", "tsconfig.json", "tsdown.config.ts"].map((name) => join(root, name)).filter(existsSync),
  ];
  buildWhenChanged({
    what: "Lares",
    stamp: join(root, "dist", ".lares-build"),
    made: join(root, "dist", "main.js"),
    wanted: hash(inputs),
    build: () => run("npm", ["run", "--silent", "build"], { quiet: true }),
    byHand: "npm run build",
  });
}

/** The UI is a workspace of its own. Its stamp is in `dist/`, which the program's build empties, as is the UI's output. */
function buildUi() {
  if (!existsSync(join(root, "ui", "package.json"))) return;
  const scripts = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).scripts ?? {};
  if (!scripts["build:ui"]) return;
  const inputs = [
    ...filesUnder(join(root, "ui"), (file) => !/[\\/](node_modules|dist|\.svelte-kit)[\\/]/.test(file)),
    // The one thing the UI takes from the program.
    ...filesUnder(join(root, "src", "core"), (file) => !file.endsWith(".test.ts")),
  ];
  const stamp = join(root, "dist", ".lares-ui");
  buildWhenChanged({
    what: "the control UI",
    stamp,
    made: stamp,
    wanted: hash(inputs),
    build: () => run("npm", ["run", "--silent", "build:ui"], { quiet: true }),
    byHand: "npm run build:ui",
  });
}

function buildWhenChanged({ what, stamp, made, wanted, build, byHand }) {
  if (existsSync(made) && readOr(stamp) === wanted) return;
  say(`Building ${what}…`);
  const started = Date.now();
  const code = build();
  if (code !== 0) {
    throw new Stop(`Building ${what} failed (exit code ${code}); the reason is above.\nTo see it again: ${byHand}`);
  }
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, wanted);
  if (!existsSync(made)) throw new Stop(`Building ${what} made no ${relative(root, made)}. See tsdown.config.ts.`);
  say(`Built ${what} in ${seconds(started)}.`);
}

/** Output goes to stderr: whoever reads our stdout wants the program's words, not the installer's. Quiet: only on failure. */
function run(command, args, { quiet = false } = {}) {
  const shell = process.platform === "win32";
  const done = spawnSync(command, args, {
    cwd: root,
    stdio: ["ignore", quiet ? "pipe" : 2, quiet ? "pipe" : 2],
    shell,
  });
  if (quiet && done.status !== 0) process.stderr.write(`${done.stdout ?? ""}${done.stderr ?? ""}`);
  if (done.error) {
    throw new Stop(
      done.error.code === "ENOENT"
        ? `The command "${command}" was not found. It comes with Node: install Node from https://nodejs.org.`
        : `The command "${command}" could not be started: ${done.error.message}`,
    );
  }
  if (done.signal) process.kill(process.pid, done.signal);
  return done.status ?? 1;
}

function hash(files, extra = []) {
  const sum = createHash("sha256");
  for (const word of extra) sum.update(`${word}\0`);
  for (const file of files.sort()) {
    sum.update(`${relative(root, file).split(sep).join("/")}\0`);
    sum.update(readFileSync(file));
    sum.update("\0");
  }
  return sum.digest("hex");
}

function filesUnder(folder, wanted) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : filesUnder(path, wanted);
    return entry.isFile() && wanted(path) ? [path] : [];
  });
}

function readOr(file, otherwise = undefined) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return otherwise;
  }
}

function say(text) {
  process.stderr.write(`${text}\n`);
}

function seconds(since) {
  return `${((Date.now() - since) / 1000).toFixed(1)} s`;
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await orSayWhy(() => ensure({ build: process.argv.includes("--build") }));
}
