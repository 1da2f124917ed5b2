/** What an agent's settings say about the repository it works in. */
import { join } from "node:path";
import { z } from "zod";

export const repositoryConfig = z
  .string()
  .regex(/^(\/|~(\/|$))/, "an absolute path, or one that begins with ~/")
  .optional()
  .describe(
    "A git repository, in this agent's roots, whose worktrees another runtime works in: each on a separate branch, never in your own files. Example: ~/code/app",
  );

/** With the person's home in it. */
export function readRepository(given: string | undefined, userHome: string): string | undefined {
  return given?.startsWith("~") ? join(userHome, given.slice(1)) : given;
}
