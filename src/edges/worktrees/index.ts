/** The worktrees room: work on a git repository beside the person's own files. */
export { readRepository, repositoryConfig } from "./config.ts";
export { GitWorktrees } from "./worktrees.ts";
