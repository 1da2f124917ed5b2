/**
 * Worktrees below Lares' home: one for each piece of work on a repository, on a separate branch, so that nobody works in the person's own files.
 *
 * WORKTREES-1: a worktree is noted before it is made, so that a crash leaves none that nobody knows.
 * WORKTREES-2: worktrees of one repository are made and removed one after the other, and never in the person's own folder.
 */
import { mkdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Records, Worktree, WorktreeReport, WorktreeRequest, Worktrees } from "../../core/contracts/index.ts";
import { AppError } from "../../core/domain/index.ts";
import { kindBelow, removeTree } from "../../core/files/index.ts";
import { type Clock, type Crash, type Log, sha256 } from "../../core/kit/index.ts";
import { git, type HostGit, listFilters, tryGit } from "./git.ts";
import { commitLeft } from "./leave.ts";
import { type KnownRepository, lookAt, refuse } from "./look.ts";
import { compareSettings, digestSettings } from "./settings.ts";
import { dropOld, dropTree, listTrees, putTree, readTree, setState, type WorktreeRow } from "./store.ts";
import { refusals, notes as words } from "./words.ts";

export interface WorktreesParts {
  /** Of Lares. */
  home: string;
  records: Records;
  clock: Clock;
  crash: Crash;
  log: Log;
  /** The variable by which processes are found again, and what ends them. */
  tag: string;
  endRun(run: { key: string }): Promise<unknown>;
  /** Does the work while nobody else has this name. */
  alone<T>(name: string, of: { key: string; agent: string }, work: () => Promise<T>): Promise<T>;
}

/** Checking out a large repository on a slow disk. */
const MAKE_MS = 10 * 60_000;
/** How many branches of a line may be in use elsewhere. */
const MOST_BRANCHES = 20;
/** How long a report is kept. */
const KEEP_MS = 30 * 86_400_000;

export class GitWorktrees implements Worktrees {
  private readonly parts: WorktreesParts;
  private readonly root: string;
  /** Keys of this life: of all others, processes may be left. */
  private readonly own = new Set<string>();

  constructor(parts: WorktreesParts) {
    this.parts = parts;
    this.root = join(parts.home, "worktrees");
  }

  place({ line, repository }: Pick<WorktreeRequest, "line" | "repository">): string {
    return join(this.root, nameFor(line, repository));
  }

  async open(of: WorktreeRequest, signal: AbortSignal): Promise<Worktree> {
    const { records } = this.parts;
    const { key } = of;
    const known = await readTree(records, key);
    if (known) await this.endOld(key);
    this.own.add(key);
    mkdirSync(this.root, { recursive: true, mode: 0o700 });
    if (known?.state === "open" && (await this.isThere(known))) return this.view(known);
    const look = await lookAt(of.repository, { within: of.within, scratch: this.root, mark: this.mark(key) });
    signal.throwIfAborted();
    return this.alone(look.top, of, async () => {
      signal.throwIfAborted();
      return this.view(await this.make(of, look, known));
    });
  }

  async close(key: string, message: string): Promise<WorktreeReport | undefined> {
    const row = await readTree(this.parts.records, key);
    if (!row) return undefined;
    if (row.state === "closed" || row.state === "left") return readReport(row);
    await this.endOld(key);
    return this.alone(row.repository, row, () => this.leave(row, message));
  }

  async sweep(owner: WorktreeRequest["owner"], isOpen: (key: string) => Promise<boolean>): Promise<void> {
    const { records, clock, log } = this.parts;
    for (const { key, repository } of await listTrees(records, { owner })) {
      if (this.own.has(key) || (await isOpen(key))) continue;
      try {
        await this.close(key, SWEPT);
        log.info("a worktree that was left behind was closed", { key, repository });
      } catch (error) {
        // The next start tries again.
        log.warn("a worktree that was left behind couldn't be closed", { key, repository, error: String(error) });
      }
    }
    await records.write((tx) => dropOld(tx, clock.now() - KEEP_MS));
  }

  /** WORKTREES-2 */
  private alone<T>(repository: string, of: { key: string; agent: string }, work: () => Promise<T>): Promise<T> {
    return this.parts.alone(join(this.root, "locks", sha256(repository).slice(0, NAME_LENGTH)), of, work);
  }

  private async make(of: WorktreeRequest, look: KnownRepository, known: WorktreeRow | undefined): Promise<WorktreeRow> {
    const { records, clock, crash } = this.parts;
    const name = nameFor(of.line, of.repository);
    const others = (await listTrees(records, { name })).filter(({ key }) => key !== of.key);
    if (others.length > 0) throw refuse(refusals.inUse(join(this.root, name)));
    const place = { cwd: look.top, filters: look.filters, mark: this.mark(of.key) };
    const row: WorktreeRow = {
      key: of.key,
      owner: of.owner,
      agent: of.agent,
      name,
      repository: look.top,
      common_dir: look.commonDir,
      // What an attempt before made of it goes on.
      ...(known?.state === "open" || known?.state === "making"
        ? pickBranch(known)
        : await chooseBranch(place, of, look.head)),
      settings: JSON.stringify(await digestSettings(look.commonDir)),
      notes: JSON.stringify(look.notes),
      state: "making",
      report: null,
      at: clock.now(),
    };
    await records.write((tx) => putTree(tx, row));
    crash.at("worktree.noted", () => of.repository);
    try {
      await this.remove(row);
      const isThere = (await tryGit(place, ["rev-parse", "--verify", "--quiet", `refs/heads/${row.branch}`])).ok;
      const [how, from] = isThere ? [[], row.branch] : [["-b", row.branch], row.base];
      await git(place, ["worktree", "add", "--lock", "--quiet", ...how, "--", this.path(row), from], {
        mostMs: MAKE_MS,
      });
    } catch (error) {
      await this.remove(row);
      await records.write((tx) => dropTree(tx, of.key));
      throw error;
    }
    crash.at("worktree.made", () => of.repository);
    await records.write((tx) => setState(tx, of.key, "open"));
    return { ...row, state: "open" };
  }

  private async leave(row: WorktreeRow, message: string): Promise<WorktreeReport | undefined> {
    const { records, crash } = this.parts;
    if (row.state === "making") {
      await this.remove(row);
      await records.write((tx) => dropTree(tx, row.key));
      return undefined;
    }
    if (row.state === "open") {
      const report = await this.report(row, message);
      crash.at("worktree.committed", () => row.repository);
      await records.write((tx) => setState(tx, row.key, report.left === null ? "committed" : "left", report));
      if (report.left !== null) return report;
      row = { ...row, report: JSON.stringify(report) };
    }
    await this.remove(row);
    crash.at("worktree.removed", () => row.repository);
    await records.write((tx) => setState(tx, row.key, "closed"));
    this.own.delete(row.key);
    return readReport(row);
  }

  /** Never throws for what stands there. */
  private async report(row: WorktreeRow, message: string): Promise<WorktreeReport> {
    const path = this.path(row);
    const stays = (why: string, report?: Omit<WorktreeReport, "left">): WorktreeReport => {
      const { repository, base } = row;
      const none = { repository, branch: null, base, commits: [], files: 0, added: 0, removed: 0, notes: [] };
      const of = report ?? none;
      return { ...of, left: path, notes: [...of.notes, why, words.stays(path)] };
    };
    if (!(await this.hasRepository(row))) return stays(words.repositoryGone);
    const before = JSON.parse(row.settings) as Record<string, string>;
    const meddled = compareSettings(before, await digestSettings(row.common_dir));
    const warnings = meddled.length > 0 ? [words.meddled(meddled)] : [];
    try {
      const { report, uncommitted } = await commitLeft({
        place: await this.inside(row),
        repository: row.repository,
        branch: row.branch,
        base: row.base,
        isContinued: row.continued === 1,
        message,
      });
      const warned = { ...report, notes: [...warnings, ...report.notes] };
      return uncommitted === null ? { ...warned, left: null } : stays(uncommitted, warned);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "CONFLICT") throw error;
      return stays(words.notCommitted(error.message));
    }
  }

  /** Nothing of it is left, also where it was only half made. */
  private async remove(row: WorktreeRow): Promise<void> {
    const { name } = row;
    await removeTree({ root: this.root, path: name });
    await rm(this.index(row), { force: true });
    if (!(await this.hasRepository(row))) return;
    const place = { cwd: row.repository, mark: this.mark(row.key) };
    await tryGit(place, ["worktree", "remove", "--force", "--force", this.path(row)]);
    // What git doesn't know as one: half made, or changed from inside.
    await removeTree({ root: row.common_dir, path: `worktrees/${name}` });
  }

  private async hasRepository({ common_dir }: WorktreeRow): Promise<boolean> {
    return (await kindBelow({ root: dirname(common_dir), path: common_dir })) === "directory";
  }

  private async isThere(row: WorktreeRow): Promise<boolean> {
    const [files, inRepository] = await Promise.all([
      kindBelow({ root: this.root, path: row.name }),
      kindBelow({ root: row.common_dir, path: `worktrees/${row.name}` }),
    ]);
    return files === "directory" && inRepository === "directory";
  }

  private async inside(row: WorktreeRow): Promise<HostGit & { parts: NonNullable<HostGit["parts"]> }> {
    const parts = {
      gitDir: join(row.common_dir, "worktrees", row.name),
      commonDir: row.common_dir,
      workTree: this.path(row),
      index: this.index(row),
    };
    await rm(parts.index, { force: true });
    const place = { cwd: parts.workTree, parts, author: `Lares agent ${row.agent}`, mark: this.mark(row.key) };
    return { ...place, filters: await listFilters(place) };
  }

  private path({ name }: Pick<WorktreeRow, "name">): string {
    return join(this.root, name);
  }

  /** Ours, not the one there: somebody else wrote that. */
  private index({ name }: WorktreeRow): string {
    return join(this.root, `${name}.index`);
  }

  private mark(key: string): NonNullable<HostGit["mark"]> {
    return { variable: this.parts.tag, value: markFor(key) };
  }

  /** Processes of git that an earlier life left would go on writing. */
  private async endOld(key: string): Promise<void> {
    if (!this.own.has(key)) await this.parts.endRun({ key: markFor(key) });
  }

  private view(row: WorktreeRow): Worktree {
    const { branch, base, repository, common_dir: gitDir } = row;
    return { path: this.path(row), branch, base, repository, gitDir, notes: JSON.parse(row.notes) as string[] };
  }
}

/** Short, and the same for all work of a line. */
const NAME_LENGTH = 12;
const SWEPT = "Work that a restart of Lares cut off";

function nameFor(line: string, repository: string): string {
  return `lares-${sha256(`${repository}\n${line}`).slice(0, NAME_LENGTH)}`;
}

function markFor(key: string): string {
  return `worktree-${sha256(key).slice(0, NAME_LENGTH)}`;
}

function pickBranch({ branch, continued, base }: WorktreeRow): Pick<WorktreeRow, "branch" | "continued" | "base"> {
  return { branch, continued, base };
}

/** The branch that this line has, or the first that is free. */
async function chooseBranch(
  place: HostGit,
  { line, repository, agent }: WorktreeRequest,
  head: string,
): Promise<Pick<WorktreeRow, "branch" | "continued" | "base">> {
  const name = `lares/${agent}-${nameFor(line, repository).slice(-8)}`;
  const inUse = await listInUse(place);
  for (let n = 1; n <= MOST_BRANCHES; n++) {
    const branch = n === 1 ? name : `${name}-${n}`;
    if (inUse.has(branch)) continue;
    const tip = await tryGit(place, ["rev-parse", "--verify", "--quiet", `refs/heads/${branch}^{commit}`]);
    return tip.ok ? { branch, continued: 1, base: tip.text.trim() } : { branch, continued: 0, base: head };
  }
  throw refuse(refusals.noBranch(name));
}

/** Branches that are checked out somewhere, e.g. by the person. */
async function listInUse(place: HostGit): Promise<Set<string>> {
  const listed = await git(place, ["worktree", "list", "--porcelain"]);
  return new Set([...listed.matchAll(/^branch refs\/heads\/(.+)$/gm)].map(([, branch]) => branch!));
}

function readReport({ report }: WorktreeRow): WorktreeReport | undefined {
  return report === null ? undefined : (JSON.parse(report) as WorktreeReport);
}
