/**
 * What work in a worktree left behind, as commits on its branch.
 *
 * WORKTREES-3: everything that isn't ignored is committed, also what the index there hides; what can't be stays where it is.
 */
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { WorktreeReport } from "../../core/contracts/index.ts";
import { kindBelow, renameBelow } from "../../core/files/index.ts";
import { git, type HostGit, tryGit } from "./git.ts";
import { NESTED, notes as words } from "./words.ts";

export interface LeftWork {
  place: HostGit & { parts: NonNullable<HostGit["parts"]> };
  repository: string;
  branch: string;
  base: string;
  /** The branch was there before this work. */
  isContinued: boolean;
  message: string;
}

/** Of what is committed for somebody. */
const MOST_FILES = 50_000;
const MOST_BYTES = 1024 * 1024 * 1024;
const MOST_COMMITS = 100;
/** Repositories inside repositories. */
const MOST_DEPTH = 5;
/** Hashing what is allowed at most takes a while. */
const SLOW_MS = 10 * 60_000;

/** `uncommitted`: why what is there couldn't be. */
export async function commitLeft(
  of: LeftWork,
): Promise<{ report: Omit<WorktreeReport, "left">; uncommitted: string | null }> {
  const { place, base } = of;
  const head = (await git(place, ["rev-parse", "--verify", "HEAD^{commit}"])).trim();
  const left = await commitFiles(of, head);
  const tip = left.commit ?? head;
  const branch = await moveBranch(of, tip);
  const notes = [...left.notes, ...(branch === of.branch || branch === null ? [] : [words.otherBranch(branch)])];
  const { repository } = of;
  if (branch === null)
    return {
      report: { repository, branch, base, commits: [], files: 0, added: 0, removed: 0, notes },
      uncommitted: left.why,
    };
  const commits = await listCommits(place, base, tip);
  const counts = await countLines(place, base, tip);
  return { report: { repository, branch, base, commits, ...counts, notes }, uncommitted: left.why };
}

type CommittedFiles = { commit: string | null; why: string | null; notes: readonly string[] };

async function commitFiles({ place, message }: LeftWork, head: string): Promise<CommittedFiles> {
  await git(place, ["read-tree", head], { mostMs: SLOW_MS });
  const notes = await flattenNested(place);
  await tryGit(place, ["update-index", "-q", "--refresh", "--ignore-submodules"], { mostMs: SLOW_MS });
  const changed = await listChanged(place);
  if (changed.length === 0) return { commit: null, why: null, notes };
  const size = await measure(place.parts.workTree, changed);
  if (changed.length > MOST_FILES || size > MOST_BYTES)
    return { commit: null, why: words.tooMuch(changed.length), notes };
  const added = await tryGit(place, ["update-index", "-z", "--add", "--remove", "--stdin"], {
    input: changed.map((path) => `${path}\0`).join(""),
    mostMs: SLOW_MS,
  });
  if (!added.ok) return { commit: null, why: words.notCommitted(added.why), notes };
  const tree = (await git(place, ["write-tree"])).trim();
  const before = (await git(place, ["rev-parse", `${head}^{tree}`])).trim();
  if (tree === before) return { commit: null, why: null, notes };
  const commit = await git(place, ["commit-tree", "--no-gpg-sign", "-p", head, tree], { input: `${message}\n` });
  return { commit: commit.trim(), why: null, notes };
}

/** Files that are new, different or gone. Names as git writes them. */
async function listChanged(place: HostGit): Promise<string[]> {
  const lists = await Promise.all(
    [["-o", "--exclude-standard"], ["-m"], ["-d"]].map((how) =>
      git(place, ["ls-files", "-z", ...how], { mostMs: SLOW_MS }),
    ),
  );
  return [...new Set(lists.flatMap((text) => text.split("\0").filter(Boolean)))];
}

async function measure(root: string, paths: readonly string[]): Promise<number> {
  let bytes = 0;
  for (const path of paths) {
    bytes += await lstat(join(root, path)).then(
      ({ size }) => size,
      () => 0,
    );
    if (bytes > MOST_BYTES) break;
  }
  return bytes;
}

/**
 * A repository that was made inside would be committed as a link to itself, without its files, and git would use its settings. So its
 * files become plain ones.
 */
async function flattenNested(place: LeftWork["place"]): Promise<string[]> {
  const { workTree } = place.parts;
  const found: string[] = [];
  for (let depth = 0; depth < MOST_DEPTH; depth++) {
    const listed = [...(await listUnknownFolders(place)), ...(await listLinks(place))];
    const kinds = await Promise.all(listed.map((path) => kindBelow({ root: workTree, path: `${path}/.git` })));
    const nested = listed.filter((_path, i) => kinds[i] === "directory" || kinds[i] === "file");
    if (nested.length === 0) break;
    for (const path of nested) {
      await renameBelow({ root: workTree, path: `${path}/.git`, to: NESTED });
      await tryGit(place, ["update-index", "--force-remove", "--", path]);
    }
    found.push(...nested);
  }
  return found.map(words.nested);
}

/** A folder that git names as one thing is a repository. */
async function listUnknownFolders(place: HostGit): Promise<string[]> {
  const listed = await git(place, ["ls-files", "-z", "-o", "--exclude-standard"], { mostMs: SLOW_MS });
  return listed.split("\0").flatMap((path) => (path.endsWith("/") ? [path.slice(0, -1)] : []));
}

/** Submodules as the index has them. */
async function listLinks(place: HostGit): Promise<string[]> {
  const listed = await git(place, ["ls-files", "-z", "-s"]);
  return listed.split("\0").flatMap((line) => (line.startsWith("160000") ? [line.slice(line.indexOf("\t") + 1)] : []));
}

/** The branch that the work is on now; null where nothing changed. */
async function moveBranch({ place, branch, base, isContinued }: LeftWork, tip: string): Promise<string | null> {
  const ref = (name: string) => `refs/heads/${name}`;
  const known = await tryGit(place, ["rev-parse", "--verify", "--quiet", ref(branch)]);
  const old = known.ok ? known.text.trim() : null;
  if (tip === base && !isContinued) {
    if (old === base) await git(place, ["update-ref", "-d", ref(branch), base]);
    return old === base || old === null ? null : branch;
  }
  if (old === tip) return branch;
  const isNext = old === null || (await tryGit(place, ["merge-base", "--is-ancestor", old, tip])).ok;
  const name = isNext ? branch : `${branch}-${tip.slice(0, 8)}`;
  await git(place, ["update-ref", ref(name), tip, ...(isNext && old !== null ? [old] : [])]);
  return name;
}

async function listCommits(place: HostGit, base: string, tip: string): Promise<WorktreeReport["commits"]> {
  const args = ["log", "--no-show-signature", "--format=%H %s", "-z", "-n", String(MOST_COMMITS), `${base}..${tip}`];
  const lines = (await git(place, args)).split("\0").filter(Boolean);
  return lines
    .map((line) => ({ id: line.slice(0, line.indexOf(" ")), subject: line.slice(line.indexOf(" ") + 1) }))
    .reverse();
}

async function countLines(
  place: HostGit,
  base: string,
  tip: string,
): Promise<Pick<WorktreeReport, "files" | "added" | "removed">> {
  const args = ["diff-tree", "-r", "--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", base, tip];
  const rows = (await git(place, args))
    .split("\0")
    .filter(Boolean)
    .map((line) => line.split("\t"));
  const sum = (at: 0 | 1) => rows.reduce((total, row) => total + (Number(row[at]) || 0), 0);
  return { files: rows.length, added: sum(0), removed: sum(1) };
}
