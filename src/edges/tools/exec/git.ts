/**
 * git runs programs its repository's settings name: file-system monitors, filters, diff drivers, hooks. The settings lie in
 * the workspace, where the agent writes. So a git command that only looks gets an environment in which the worst are switched
 * off, and every setting that is not known to be harmless is reported, for the gate to ask about.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { GIT_SWITCHED_OFF, settingsAsVariables } from "../../../core/kit/index.ts";
import type { CommandPlace, PathWays } from "./placed.ts";

/** Subcommands that only look; the gate's table of git is the same list with its options. */
const LOOKS = new Set(
  "status log diff show branch tag remote rev-parse ls-files ls-tree blame shortlog describe stash reflog cat-file rev-list merge-base config grep".split(
    " ",
  ),
);
/** Keys that name no program. Everything else is reported. */
const HARMLESS: readonly RegExp[] = [
  /^core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|quotepath|abbrev|untrackedcache|preloadindex|compression|excludesfile|whitespace|commentchar|longpaths|protect(hfs|ntfs)|sharedrepository|trustctime|checkstat)$/,
  /^(user|author|committer)\.(name|email|useconfigonly)$/,
  /^(init\.defaultbranch|pull\.(rebase|ff)|push\.(default|autosetupremote|followtags)|fetch\.(prune|prunetags)|merge\.(ff|conflictstyle)|rebase\.(autostash|autosquash))$/,
  /^remote\..*\.(fetch|push|prune|tagopt|mirror)$/,
  /^branch\..*\.(remote|merge|rebase|pushremote|description)$/,
  /^submodule\..*\.active$/,
  /^(color|column|advice|pack|status|index|feature|i18n)\.[a-z.]*$/,
  // Others of these sections start a program (a hook of gc, gpg) or fetch what is missing from a remote.
  /^gc\.(auto|autodetach|autopacklimit|pruneexpire|reflogexpire|reflogexpireunreachable|worktreepruneexpire|packrefs|cruftpacks|writecommitgraph|aggressive[a-z]+)$/,
  /^log\.(abbrevcommit|date|decorate|diffmerges|excludedecoration|follow|graphcolors|initialdecorationset|mailmap|showroot)$/,
  /^extensions\.(objectformat|compatobjectformat|refstorage|worktreeconfig|preciousobjects|relativeworktrees|noop)$/,
  /^safe\.directory$/,
];
/** Keys that are about one repository: set for all of them, they lead its fetches and pushes elsewhere. */
const OF_REPOSITORY = /^(remote|branch|submodule|extensions)\./;
const URL_KEY = /^remote\..*\.(url|pushurl)$/;
const PLAIN_URL = /^(https?:\/\/|ssh:\/\/|git:\/\/|git@|\/|\.)/;
/** Reading settings takes milliseconds; a repository on a dead disk must not hold the gate. */
const PATIENCE_MS = 3000;

/** For argv of git: the variables it gets, or undefined when it does more than look. */
export function gitEnvironment(args: readonly string[]): Record<string, string> | undefined {
  const command = args.find((word) => !word.startsWith("-"));
  const isDryRun =
    command === "clean" &&
    args.some((word) => word === "--dry-run" || (/^-[a-zA-Z]+$/.test(word) && word.includes("n")));
  if (command !== undefined && !LOOKS.has(command) && !isDryRun) return undefined;
  return {
    GIT_OPTIONAL_LOCKS: "0",
    GIT_TERMINAL_PROMPT: "0",
    GIT_PAGER: "cat",
    ...settingsAsVariables(GIT_SWITCHED_OFF),
  };
}

/**
 * The words git is started with. An external diff can't be switched off by a setting: git takes an empty name for a program
 * and dies of it on the first changed file. So `git diff` gets the option for it.
 */
export function guardedGit(args: readonly string[]): string[] {
  const at = args.findIndex((word) => !word.startsWith("-"));
  return args[at] === "diff" ? [...args.slice(0, at + 1), "--no-ext-diff", ...args.slice(at + 1)] : [...args];
}

/** What git is started on: where, and with which variables. */
export interface GitPlace extends CommandPlace {
  git: string;
  env: Record<string, string>;
}

/**
 * Settings of the repository at `cwd` that may run something, as `key=value`, and a repository in a folder of another name than `.git`:
 * its files are files like any other to the gate, and they can name hooks, and objects of repositories outside the workspace.
 * Runs nothing but `git config --list`.
 */
export async function gitSettings({ git, env, ...around }: GitPlace, ways: PathWays): Promise<string[]> {
  const { cwd } = around;
  try {
    const { stdout } = await promisify(execFile)(git, ["config", "--list", "-z", "--includes", "--show-scope"], {
      cwd,
      env,
      timeout: PATIENCE_MS,
      maxBuffer: 4 * 1024 * 1024,
    });
    const fields = stdout.split("\0");
    const entries: [scope: string, key: string, value: string][] = [];
    // Scope and entry take turns. What the machine's owner set for everybody is not the repository's doing.
    for (let i = 0; i + 1 < fields.length; i += 2) {
      const [scope, entry] = [fields[i]!, fields[i + 1]!];
      const cut = entry.indexOf("\n");
      if (scope === "system") continue;
      entries.push(cut < 0 ? [scope, entry, ""] : [scope, entry.slice(0, cut), entry.slice(cut + 1)]);
    }
    const found = entries.filter((entry) => !isHarmless(...entry)).map(([, key, value]) => `${key}=${value}`);
    const bare = await ways.repositoryAbove(cwd, around);
    if (bare !== undefined) found.push(`a repository in ${bare}, which isn't called .git`);
    if (existsSync(join(cwd, ".gitmodules"))) found.push("submodules with settings of their own");
    return found;
  } catch {
    return ["settings that cannot be read"];
  }
}

function isHarmless(scope: string, key: string, value: string): boolean {
  if (OF_REPOSITORY.test(key) && scope !== "local" && scope !== "worktree") return false;
  if (URL_KEY.test(key)) return PLAIN_URL.test(value);
  // A signature in it starts gpg.
  if (key === "format.pretty") return !value.includes("%G");
  return HARMLESS.some((one) => one.test(key));
}
