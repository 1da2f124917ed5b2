/**
 * Git as Lares runs it on a repository that others write to: by argv, with a built environment, without hooks, filters, network or a
 * terminal, with a limit on time and output.
 *
 * GIT-1: no program that a repository's settings or attributes name is started, and nothing is fetched.
 * GIT-2: git gets the places of a worktree's parts from us. What the `.git` file there says may be a lie of those who worked there.
 */
import { execFile } from "node:child_process";
import { AppError } from "../../core/domain/index.ts";
import { GIT_SWITCHED_OFF, settingsAsVariables } from "../../core/kit/index.ts";
import { gitWords as words } from "./words.ts";

export interface HostGit {
  cwd: string;
  /** Of a worktree (GIT-2). */
  parts?: { gitDir: string; commonDir: string; workTree: string; index: string };
  /** Filters that the settings name (GIT-1). */
  filters?: readonly string[];
  author?: string;
  /** Marks the processes, so that they are found after a crash. */
  mark?: { variable: string; value: string };
}

export interface GitHow {
  input?: string;
  mostMs?: number;
}

export type GitEnd = { ok: true; text: string } | { ok: false; why: string };

const PATH = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin";
/** A repository on a dead disk must not hold a run. */
const PATIENCE_MS = 60_000;
/** Names of a few hundred thousand files. */
const MOST_OUTPUT = 64 * 1024 * 1024;
const EMAIL = "agent@lares.invalid";

export async function git(place: HostGit, args: readonly string[], how: GitHow = {}): Promise<string> {
  const done = await tryGit(place, args, how);
  if (done.ok) return done.text;
  throw new AppError("CONFLICT", { message: words.failed(args[0]!, done.why), retry: "after-change" });
}

/** How it ended. Throws when there is no git. */
export function tryGit(place: HostGit, args: readonly string[], how: GitHow = {}): Promise<GitEnd> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      "git",
      [...args],
      {
        cwd: place.cwd,
        env: makeEnvironment(place),
        timeout: how.mostMs ?? PATIENCE_MS,
        maxBuffer: MOST_OUTPUT,
        killSignal: "SIGKILL",
      },
      (error, stdout, stderr) => {
        if (!error) return resolve({ ok: true, text: stdout });
        if (error.code === "ENOENT" && error.syscall?.startsWith("spawn"))
          return reject(new AppError("NOT_READY", { message: words.noGit, retry: "after-change" }));
        resolve({ ok: false, why: error.killed ? words.tooLong : sayWhy(stderr) });
      },
    );
    child.stdin?.on("error", () => {});
    child.stdin?.end(how.input ?? "");
  });
}

/** The last line says it. */
function sayWhy(stderr: string): string {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "");
  const fatal = lines.findLast((line) => /^(fatal|error): /.test(line)) ?? lines.at(-1) ?? words.noReason;
  return fatal.replace(/^(fatal|error): /, "").slice(0, 300);
}

function makeEnvironment({ parts, filters = [], author, mark }: HostGit): Record<string, string> {
  const off = filters.flatMap((name) => FILTER_OFF.map(([key, value]) => [`filter.${name}.${key}`, value] as const));
  return {
    PATH,
    HOME: "/nonexistent",
    LANG: "C.UTF-8",
    LC_ALL: "C.UTF-8",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_NO_LAZY_FETCH: "1",
    GIT_LFS_SKIP_SMUDGE: "1",
    GIT_ALLOW_PROTOCOL: "none",
    ...settingsAsVariables([...GIT_SWITCHED_OFF, ...OFF, ...off]),
    ...(parts && {
      GIT_DIR: parts.gitDir,
      GIT_COMMON_DIR: parts.commonDir,
      GIT_WORK_TREE: parts.workTree,
      GIT_INDEX_FILE: parts.index,
    }),
    ...(author !== undefined && {
      GIT_AUTHOR_NAME: author,
      GIT_AUTHOR_EMAIL: EMAIL,
      GIT_COMMITTER_NAME: author,
      GIT_COMMITTER_EMAIL: EMAIL,
    }),
    ...(mark && { [mark.variable]: mark.value }),
  };
}

const OFF: readonly (readonly [string, string])[] = [
  ["submodule.recurse", "false"],
  ["protocol.allow", "never"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  ["commit.gpgSign", "false"],
  // A folder that only looks like a repository isn't one.
  ["safe.bareRepository", "explicit"],
];
const FILTER_OFF: readonly (readonly [string, string])[] = [
  ["clean", ""],
  ["smudge", ""],
  ["process", ""],
  ["required", "false"],
];

/** The names of the filters that settings define. */
export async function listFilters(place: HostGit): Promise<string[]> {
  const listed = await tryGit(place, ["config", "--list", "--name-only", "-z", "--includes"]);
  if (!listed.ok) return [];
  const named = listed.text.split("\0").map((key) => /^filter\.(.+)\.[a-z]+$/.exec(key)?.[1]);
  return [...new Set(named.filter((name) => name !== undefined))];
}
