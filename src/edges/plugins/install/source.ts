/**
 * Where a plugin comes from. Nothing of it runs on the way: no install script, no hook of a repository, no package manager.
 *
 * PLUGINS-4: getting a plugin never executes anything that is in it.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join } from "node:path";
import { promisify } from "node:util";
import { AppError, assertNever } from "../../../core/domain/index.ts";
import { readBelow, removeTree } from "../../../core/files/index.ts";
import { parseJson } from "../../../core/kit/index.ts";
import { type PluginFile, refuse, withoutTopFolder } from "./files.ts";
import { readPluginFolder } from "./folder.ts";
import { isGzip, isTar, readTar } from "./tar.ts";
import { isZip, readZip } from "./zip.ts";

const MB = 1024 * 1024;
const LARGEST_ARCHIVE = 32 * MB;
const CLONE_MS = 120_000;
const NPM = "npm:";

export interface FetchedPlugin {
  files: PluginFile[];
  notes: string[];
  /** Exactly what was taken, where the source has a name for it: a commit, a package's version. */
  exactly?: string;
}

export interface SourceParts {
  /** A folder of ours for a clone, below `root`; removed afterwards. */
  scratch: { root: string; path: string };
  userHome: string;
  web: PluginWeb;
  registry: string | undefined;
}

/** The web as the guard allows it. `named`: whose host may be private. */
export interface PluginWeb {
  /** Bytes of an address; throws when there are more than `most`. */
  download(url: string, most: number, rules?: { named?: string }): Promise<Buffer>;
  /** Throws for an address that may not be tried at all. */
  check(url: string, rules?: { named?: string }): unknown;
}

type SourceKind = "path" | "git" | "npm" | "archive";

function sourceKind(given: string): SourceKind {
  if (given.startsWith(NPM)) return "npm";
  if (/^https:\/\/[^#?]+\.(?:zip|tar|tgz|tar\.gz)$/.test(given)) return "archive";
  if (/^(?:https?|ssh|git|file):\/\//.test(given) || /^git@[\w.-]+:/.test(given)) return "git";
  return "path";
}

export async function fetchPlugin(given: string, parts: SourceParts): Promise<FetchedPlugin> {
  const kind = sourceKind(given);
  switch (kind) {
    case "npm":
      return fromNpm(given.slice(NPM.length), parts);
    case "archive":
      return { files: await unpack(await parts.web.download(given, LARGEST_ARCHIVE, { named: given })), notes: [] };
    case "git":
      return fromGit(given, parts);
    case "path":
      return fromPath(given.startsWith("~/") ? join(parts.userHome, given.slice(2)) : given);
    default:
      return assertNever(kind);
  }
}

async function fromPath(path: string): Promise<FetchedPlugin> {
  if (!isAbsolute(path)) throw refuse(`"${path}" isn't an absolute path, an address, or npm:NAME`);
  const found = await stat(path).catch(() => undefined);
  if (!found) throw new AppError("NOT_FOUND", { message: `There is no file or folder "${path}".` });
  if (found.isDirectory()) {
    const { files, links } = await readPluginFolder(path);
    return { files: withoutTopFolder(files), notes: links.map((link) => `${link} is a link and is left out`) };
  }
  const archive = await readBelow({ root: dirname(path), path: basename(path), most: LARGEST_ARCHIVE });
  if (archive.state !== "file")
    throw refuse(`"${path}" can't be read: ${archive.state === "refused" ? archive.why : ""}`);
  return { files: await unpack(archive.content), notes: [] };
}

async function unpack(bytes: Buffer): Promise<PluginFile[]> {
  if (isZip(bytes)) return withoutTopFolder(await readZip(bytes));
  if (isGzip(bytes) || isTar(bytes)) return withoutTopFolder(await readTar(bytes));
  throw refuse("it is neither a folder nor a .zip, .tar or .tar.gz archive");
}

/** Without the settings of anybody: they could name programs that git runs. */
const GIT_SETTINGS = [
  ...["-c", "core.hooksPath=/dev/null", "-c", "core.symlinks=true", "-c", "protocol.ext.allow=never"],
  // A redirect, or a repository that names others for its objects, would lead past the guard.
  ...["-c", "http.followRedirects=false"],
  ...["-c", "core.fsmonitor=false", "-c", "submodule.recurse=false", "-c", "credential.helper="],
];

async function fromGit(given: string, { scratch, userHome, web }: SourceParts): Promise<FetchedPlugin> {
  const [address = "", ref] = splitRef(given);
  if (ref !== undefined && !/^[\w][\w./-]{0,200}$/.test(ref)) throw refuse(`"${ref}" isn't a branch or a tag`);
  // The owner named the host, so it may be private; all else that holds for addresses holds for this one.
  if (/^https?:/.test(address)) web.check(address, { named: address });
  const at = join(scratch.root, scratch.path);
  const environment = {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: userHome,
    LANG: "C.UTF-8",
    GIT_TERMINAL_PROMPT: "0",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_TEMPLATE_DIR: "",
    GIT_LFS_SKIP_SMUDGE: "1",
  };
  const git = async (...args: string[]) =>
    (
      await promisify(execFile)("git", [...GIT_SETTINGS, ...args], {
        env: environment,
        timeout: CLONE_MS,
        maxBuffer: MB,
        killSignal: "SIGKILL" as const,
      })
    ).stdout.trim();
  try {
    const branch = ref === undefined ? [] : ["--branch", ref];
    await git("clone", "--quiet", "--depth", "1", "--no-tags", ...branch, "--", address, at).catch((cause: Error) => {
      throw refuse(`git can't get it: ${lastLine(cause.message)}`);
    });
    const exactly = await git("-C", at, "rev-parse", "HEAD");
    const { files, links } = await readPluginFolder(at);
    return { files: withoutTopFolder(files), notes: links.map((link) => `${link} is a link and is left out`), exactly };
  } finally {
    await removeTree(scratch);
  }
}

/** `https://…/plugin.git#v2`: the branch or tag behind the last `#`. */
function splitRef(given: string): [string, string?] {
  const at = given.lastIndexOf("#");
  return at < 0 ? [given] : [given.slice(0, at), given.slice(at + 1)];
}

function lastLine(message: string): string {
  return message.trim().split("\n").at(-1)!.slice(0, 300);
}

/** The published archive of a package, checked against the registry's hash. Its dependencies are not installed. */
async function fromNpm(given: string, { web, registry }: SourceParts): Promise<FetchedPlugin> {
  const parts = /^(@[a-z0-9-][a-z0-9._-]{0,100}\/)?([a-z0-9-][a-z0-9._-]{0,200})(?:@([\w.+-]{1,100}))?$/.exec(given);
  if (!parts) throw refuse(`"${given.slice(0, 100)}" isn't a package's name`);
  if (registry === undefined) throw refuse("no package registry is set (lares config set plugins.registry ADDRESS)");
  const [, scope = "", name, wanted = "latest"] = parts;
  const about = await web.download(
    `${registry.endsWith("/") ? registry.slice(0, -1) : registry}/${scope.replace("/", "%2f")}${name}/${wanted}`,
    MB,
    {
      named: registry,
    },
  );
  const { version, dist, dependencies } = readPackage(about);
  const bytes = await web.download(dist.tarball, LARGEST_ARCHIVE, { named: registry });
  const [algorithm, expected] = dist.integrity.split("-", 2);
  if (algorithm !== "sha512" || createHash("sha512").update(bytes).digest("base64") !== expected)
    throw refuse("its archive isn't the one that the registry names");
  const notes =
    dependencies > 0
      ? [`it needs ${dependencies === 1 ? "1 package" : `${dependencies} packages`}, and Lares doesn't install any`]
      : [];
  return { files: withoutTopFolder(await readTar(bytes)), notes, exactly: version };
}

function readPackage(about: Buffer): {
  version: string;
  dist: { tarball: string; integrity: string };
  dependencies: number;
} {
  try {
    const { version, dist, dependencies } = parseJson(about.toString("utf8")) as {
      version: unknown;
      dist: { tarball: unknown; integrity: unknown };
      dependencies?: object;
    };
    const { tarball, integrity } = dist;
    if (typeof version === "string" && typeof tarball === "string" && typeof integrity === "string")
      return { version, dist: { tarball, integrity }, dependencies: Object.keys(dependencies ?? {}).length };
  } catch {
    // The same sentence for everything that isn't a package's card.
  }
  throw refuse("the registry doesn't know this package");
}
