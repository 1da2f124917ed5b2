/** What a repository is, before anything is made of it. Changes nothing. */
import { realpath, stat, statfs } from "node:fs/promises";
import { resolve, sep } from "node:path";
import { AppError } from "../../core/domain/index.ts";
import { git, type HostGit, listFilters, tryGit } from "./git.ts";
import { notes, refusals } from "./words.ts";

export interface KnownRepository {
  /** Its top folder. */
  top: string;
  commonDir: string;
  /** Its newest commit. */
  head: string;
  filters: readonly string[];
  notes: readonly string[];
}

/** More files than any project whose changes a person would read. */
const MOST_FILES = 250_000;
/** In a line of `git ls-tree -l`, before the name. */
const SIZE = /^\S+ \S+ \S+ +(\d+)\t/;
/** Left free on the disk. */
const SPARE_MB = 512;
const MB = 1024 * 1024;

/** Throws an AppError that says why it can't be used. `scratch`: where the worktree will be. */
export async function lookAt(
  given: string,
  { within, scratch, mark }: { within: readonly string[]; scratch: string; mark: NonNullable<HostGit["mark"]> },
): Promise<KnownRepository> {
  const at = await realFolder(given);
  const place = { cwd: at, mark };
  const allowed = await Promise.all(within.map((path) => realpath(path).catch(() => path)));
  if (!isInside(at, allowed)) throw refuse(refusals.outside(at));
  await mustBeNew(place);
  const top = await findTop(place);
  const commonDir = resolve(at, (await git(place, ["rev-parse", "--git-common-dir"])).trimEnd());
  // Its .git may be a file that leads anywhere.
  for (const path of [top, await realpath(commonDir)])
    if (!isInside(path, allowed)) throw refuse(refusals.outside(path));
  const head = await tryGit(place, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
  if (!head.ok) throw refuse(refusals.empty(top));
  const filters = await listFilters(place);
  const commit = head.text.trim();
  const { submodules } = await measure({ ...place, filters }, { top, commit, scratch });
  const dirty = await countDirty({ ...place, filters, cwd: top });
  return {
    top,
    commonDir,
    head: commit,
    filters,
    notes: [
      ...(dirty > 0 ? [notes.dirty(dirty)] : []),
      ...(submodules > 0 ? [notes.submodules(submodules)] : []),
      ...(filters.length > 0 ? [notes.filters(filters)] : []),
    ],
  };
}

async function realFolder(path: string): Promise<string> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) throw refuse(refusals.gone(path));
  return realpath(path);
}

/** An older git doesn't read settings from its environment: what has to be off would be on. */
async function mustBeNew(place: HostGit): Promise<void> {
  const version = (await git(place, ["version"])).trim();
  const [major = 0, minor = 0] = (/^git version (\d{1,4})\.(\d{1,4})/.exec(version)?.slice(1) ?? []).map(Number);
  if (major < 2 || (major === 2 && minor < 31)) throw refuse(refusals.oldGit(version));
}

async function findTop(place: HostGit): Promise<string> {
  const found = await tryGit(place, ["rev-parse", "--show-toplevel"]);
  if (found.ok) return realpath(found.text.trimEnd());
  if (/bare repository|must be run in a work tree/.test(found.why)) throw refuse(refusals.bare(place.cwd));
  if (/dubious ownership/.test(found.why)) throw refuse(refusals.otherOwner(place.cwd));
  throw refuse(refusals.notARepository(place.cwd));
}

/** Refuses what is too large for this machine. */
async function measure(
  place: HostGit,
  { top, commit, scratch }: { top: string; commit: string; scratch: string },
): Promise<{ submodules: number }> {
  const listed = await tryGit(place, ["ls-tree", "-r", "-l", "-z", commit]);
  if (!listed.ok) throw refuse(refusals.tooMany(top, MOST_FILES));
  const entries = listed.text.split("\0").filter(Boolean);
  if (entries.length > MOST_FILES) throw refuse(refusals.tooMany(top, MOST_FILES));
  const bytes = entries.reduce((sum, entry) => sum + (Number(SIZE.exec(entry)?.[1]) || 0), 0);
  const { bavail, bsize } = await statfs(scratch);
  const freeMb = Math.floor((bavail * bsize) / MB);
  const needMb = Math.ceil(bytes / MB);
  if (needMb + SPARE_MB > freeMb) throw refuse(refusals.noRoom(top, needMb, freeMb));
  return { submodules: entries.filter((entry) => entry.startsWith("160000")).length };
}

async function countDirty(place: HostGit): Promise<number> {
  const status = await tryGit(place, ["status", "--porcelain", "-z", "--untracked-files=no", "--no-renames"]);
  return status.ok ? status.text.split("\0").filter(Boolean).length : 0;
}

function isInside(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep));
}

export function refuse(message: string): AppError {
  return new AppError("CONFLICT", { message, retry: "after-change" });
}
