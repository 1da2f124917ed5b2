/** Where a git command would send something: the remotes it names, and the programs its options make it start. */
import type { ShellCommand } from "../../core/contracts/index.ts";
import type { Destinations } from "./destinations.ts";

const TALKS = /^(push|fetch|pull|clone|ls-remote|remote|submodule|archive|request-pull)$/;
/** Everything else is an alias, a separate program (`git-lfs`), or talks by its nature (`send-email`). */
const STAYS = new Set(
  "status diff log show blame annotate branch stash tag ls-files rev-parse grep add commit switch restore checkout reset rm mv merge rebase cherry-pick revert init config describe shortlog reflog rev-list cat-file ls-tree diff-tree diff-index diff-files name-rev merge-base merge-tree show-ref symbolic-ref update-ref for-each-ref check-ignore check-attr check-ref-format clean gc fsck prune repack pack-refs pack-objects count-objects worktree sparse-checkout notes apply am format-patch bisect hash-object mktree write-tree read-tree commit-tree update-index var version help whatchanged range-diff cherry stripspace column verify-commit verify-tag bundle rerere replace unpack-objects index-pack show-branch mailinfo mailsplit patch-id".split(
    " ",
  ),
);
/** Words that make a subcommand start a program. Git takes long options abbreviated. */
const RUNS: Readonly<Record<string, RegExp>> = {
  bisect: /^run$/,
  rebase: /^(-[a-z]*x|--ex)/,
  grep: /^(-[^-efABCm]*O|--op)/,
  submodule: /^foreach$/,
};
/** Settings that start nothing and lead nowhere. */
const PLAIN_SETTING =
  /^(user\.(name|email)|color\.[\w.]+|core\.(quotepath|autocrlf|filemode|longpaths|ignorecase|abbrev)|init\.defaultbranch|advice\.\w+|commit\.gpgsign|tag\.gpgsign|log\.(date|decorate|showsignature)|diff\.(renames|context|nopre\w+)|merge\.conflictstyle|pull\.(rebase|ff)|rebase\.(autosquash|autostash)|gc\.auto|protocol\.version)=/i;
const PLAIN_VARIABLE =
  /^(GIT_(AUTHOR|COMMITTER)_(NAME|EMAIL|DATE)|GIT_TERMINAL_PROMPT|GIT_OPTIONAL_LOCKS|TZ|LANG|LC_\w+)$/;
const VALUED = /^(-C|-c|--git-dir|--work-tree|--namespace|--config-env)$/;

/** `readHost` reads the host a word begins with. */
export function gitTalk(
  { assignments }: Pick<ShellCommand, "assignments">,
  texts: readonly string[],
  toHost: (word: string) => string,
): Destinations {
  const at = texts.findIndex((text, i) => !text.startsWith("-") && !VALUED.test(texts[i - 1] ?? ""));
  const before = at < 0 ? texts : texts.slice(0, at);
  const isSet =
    assignments.some(({ name }) => !PLAIN_VARIABLE.test(name)) ||
    before.some((text, i) =>
      text === "-c" ? !PLAIN_SETTING.test(texts[i + 1] ?? "") : /^(-c.|--(conf|exec))/.test(text),
    );
  if (at < 0) return { hosts: [], isHidden: isSet };
  const action = texts[at]!;
  const rest = texts.slice(at + 1);
  const isRunning = Object.hasOwn(RUNS, action) && rest.some((text) => RUNS[action]!.test(text));
  if (!TALKS.test(action)) return { hosts: [], isHidden: isSet || isRunning || !STAYS.has(action) };
  const operands = rest.filter((text) => !text.startsWith("-"));
  const isListing = action === "remote" && !/^(add|set-url|update)$/.test(operands[0] ?? "");
  const places = action === "remote" || action === "submodule" ? operands : operands.slice(0, 1);
  const hosts = places.filter(isAddress).map(toHost).filter(Boolean);
  const byOption = rest.some((text) => /^(-c|-u.|-o|--(repo|rem|exe|upl|rece|conf|serv))/.test(text));
  return { hosts, isHidden: isSet || isRunning || (!isListing && byOption) };
}

/** `host:path`, `host.name/path`, `host.name`; a remote's name and a path from here are none. */
function isAddress(text: string): boolean {
  return text.includes(":") || /^[a-z0-9-]+(\.[a-z0-9-]+)+(\/|$)/i.test(text);
}
