/**
 * Worktrees: work on a git repository that happens beside the person's own files, on a separate branch. Runs of other runtimes and tasks
 * of the board use them alike.
 */

export interface WorktreeRequest {
  /** Who answers for it: only that room's sweep ends what is left of it. */
  owner: "run" | "task";
  /** The work it is for. Again is the same worktree, also after a crash. */
  key: string;
  /** Work that continues in the same folder on the same branch, such as a conversation: only one of its keys is open at a time. */
  line: string;
  /** Named in the branch and as the author of the commits. */
  agent: string;
  /** A folder of the repository. */
  repository: string;
  /** The folders that the repository may be in: those of the agent. */
  within: readonly string[];
}

export interface Worktree {
  /** Where the work happens. The same for all work of one line. */
  path: string;
  /** Made for it, below `lares/`. */
  branch: string;
  /** The commit that the work begins from. */
  base: string;
  /** The top folder of the repository. */
  repository: string;
  /** What git needs to read in there, besides the folder: read-only is enough, except for committing. */
  gitDir: string;
  /** Sentences for the one who works there and for the person: what isn't in it. */
  notes: readonly string[];
}

export interface WorktreeReport {
  /** The top folder of the repository. */
  repository: string;
  /** Null: nothing was changed, and no branch is left. */
  branch: string | null;
  /** The commit that the work began from. */
  base: string;
  /** The oldest first; only the last ones where there are many. */
  commits: readonly { id: string; subject: string }[];
  /** That differ between the base and the end of the branch. */
  files: number;
  /** Lines. */
  added: number;
  /** Lines. */
  removed: number;
  /** Where the files still are because they couldn't be committed; else null. */
  left: string | null;
  /** Sentences for the person: hooks or settings that changed meanwhile, what isn't part of the commits. */
  notes: readonly string[];
}

export interface Worktrees {
  /** Where the work of a line happens, whether it exists or not. */
  place(of: Pick<WorktreeRequest, "line" | "repository">): string;
  /** Makes it, or finds the one of this key. Throws an AppError with a sentence for the person when it can't be had; then nothing is left. */
  open(of: WorktreeRequest, signal: AbortSignal): Promise<Worktree>;
  /**
   * Commits what is left there to its branch, and removes it. Again gives the same report; nothing: there was none. Never throws for
   * what stands in the repository: what can't be committed stays where it is, and the report says where.
   */
  close(key: string, message: string): Promise<WorktreeReport | undefined>;
  /** At the start: closes what an earlier life left, except for what is still open. */
  sweep(owner: WorktreeRequest["owner"], isOpen: (key: string) => Promise<boolean>): Promise<void>;
}
