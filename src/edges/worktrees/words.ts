/** What people and runtimes read about worktrees. */

/** What the .git of a repository inside a worktree becomes. */
export const NESTED = "git-of-nested-repository";

export const gitWords = {
  noGit: "git isn't installed on this machine, so there are no worktrees.",
  failed: (command: string, why: string) => `git ${command} failed: ${why}`,
  tooLong: "it took too long",
  noReason: "it gave no reason",
};

export const refusals = {
  oldGit: (version: string) => `Worktrees need git 2.31 or newer; this machine has ${version}.`,
  gone: (path: string) => `There is no folder ${path}.`,
  outside: (path: string) =>
    `The repository ${path} is outside the agent's folders. Add it to agents.<id>.roots in lares.yaml.`,
  notARepository: (path: string) => `${path} isn't in a git repository.`,
  otherOwner: (path: string) =>
    `The repository ${path} belongs to another user of this machine, so git doesn't use it.`,
  bare: (path: string) => `${path} is a bare repository. Name one with files.`,
  empty: (path: string) => `The repository ${path} has no commit yet, so there is nothing to start from.`,
  tooMany: (path: string, most: number) =>
    `The repository ${path} has more than ${most.toLocaleString("en")} files, too many for a worktree.`,
  noRoom: (path: string, needMb: number, freeMb: number) =>
    `A worktree of ${path} takes about ${needMb} MB, and only ${freeMb} MB are free.`,
  inUse: (path: string) => `Other work of the same conversation is still using the worktree ${path}.`,
  noBranch: (branch: string) => `No branch is free: ${branch} and its successors are in use.`,
};

export const notes = {
  dirty: (count: number) =>
    count === 1
      ? "1 file has changes that aren't committed; they aren't in the worktree."
      : `${count} files have changes that aren't committed; they aren't in the worktree.`,
  submodules: (count: number) =>
    count === 1 ? "The folder of its submodule is empty." : `The folders of its ${count} submodules are empty.`,
  filters: (names: readonly string[]) =>
    `Filters (${names.join(", ")}) aren't used: their files are as the repository stores them.`,
  meddled: (names: readonly string[]) =>
    `Warning: settings or hooks of the repository changed while it worked: ${names.join(", ")}. They run as you. Look at them before you use git there.`,
  nested: (path: string) =>
    `${path} was a separate repository. Its files are committed as plain files, with its .git as ${NESTED}.`,
  otherBranch: (branch: string) => `Its work doesn't continue the branch it was given, so it is on ${branch}.`,
  tooMuch: (files: number) =>
    `It left ${files.toLocaleString("en")} changed files, too many or too large to commit for you.`,
  notCommitted: (why: string) => `What it left couldn't be committed: ${why}.`,
  repositoryGone: "The repository is gone.",
  stays: (path: string) => `The files stay in ${path}.`,
};
