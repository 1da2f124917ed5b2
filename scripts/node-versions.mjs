/**
 * Other versions of Node, from npm: it carries whole binaries as `node-<platform>-<arch>` without an install script. They are kept
 * outside the repository, about 200 MB each, and used again as long as they are the newest of their line.
 *
 * `node scripts/node-versions.mjs 24` prints where the newest Node 24 is, and fetches it when it isn't there.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const PACKAGE = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
export const NODES = join(tmpdir(), "lares-nodes");
let published;

/** The newest Node of a major version: `{version, node}`, or `{problem}` in words. */
export function findNode(major) {
  published ??= versionsOnNpm();
  if (!published) return { problem: `npm knows no package ${PACKAGE}, or the registry cannot be reached` };
  const version = newestOf(major);
  if (!version) return { problem: `npm has no ${PACKAGE}@${major}` };
  return { version, ...fetchNode(major, version) };
}

function fetchNode(major, version) {
  const folder = join(NODES, String(major));
  const file = process.platform === "win32" ? "node.exe" : "node";
  const node = join(folder, "node_modules", PACKAGE, "bin", file);
  if (runs(node, version)) return { node };
  process.stderr.write(`Fetching Node ${version} from npm (about 200 MB on disk)…\n`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  // Without a package.json of its own npm would climb to the next one above.
  writeFileSync(join(folder, "package.json"), '{"private":true}\n');
  const done = npm(
    ["install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", `${PACKAGE}@${version}`],
    ["ignore", process.stderr, "inherit"],
  );
  if (done.status !== 0) return { problem: `npm could not install ${PACKAGE}@${version}` };
  return runs(node, version) ? { node } : { problem: `${PACKAGE}@${version} has no Node that runs here` };
}

function runs(node, version) {
  return existsSync(node) && spawnSync(node, ["--version"], { encoding: "utf8" }).stdout?.trim() === `v${version}`;
}

function versionsOnNpm() {
  const done = npm(["view", PACKAGE, "versions", "--json"], ["ignore", "pipe", "inherit"]);
  return done.status === 0 ? [JSON.parse(done.stdout)].flat() : undefined;
}

function newestOf(major) {
  return published
    .filter((version) => /^\d+\.\d+\.\d+$/.test(version) && Number(version.split(".")[0]) === major)
    .sort((a, b) => a.localeCompare(b, "en", { numeric: true }))
    .at(-1);
}

function npm(args, stdio) {
  return spawnSync("npm", args, { encoding: "utf8", stdio, shell: process.platform === "win32" });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { node, problem } = findNode(Number(process.argv[2]));
  if (node) process.stdout.write(`${node}\n`);
  else process.stderr.write(`${problem}\n`);
  process.exitCode = node ? 0 : 1;
}
