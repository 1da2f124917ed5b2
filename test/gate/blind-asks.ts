/**
 * Why each command of the second list that asks does so. `asks` where a careful person would ask, too; `false ask` where the command
 * names all it touches, or only prints, and asking costs attention for nothing.
 */
export type WhyAsked = { asks: string } | "false ask";

const UNSEEN_NAMES = {
  asks: "names that nobody has seen become arguments: a secret, a link or a name with a blank in it may be among them",
};

export const WHY_ASKED: Readonly<Record<string, WhyAsked>> = {
  // Folders below the workspace, named in the command.
  "(cd src && ls -la)": "false ask",
  "mkdir -p out && cd out && touch a.txt": "false ask",
  "cd ./docs && head -n 5 api.md && cd ..": "false ask",
  "pushd src && ls && popd": "false ask",
  // Variables whose value stands in the command, or that are only printed.
  'echo "$USER on $(hostname)"': "false ask",
  "LC_ALL=C sort names.txt": "false ask",
  "TZ=UTC date": "false ask",
  "git log -1 --format=%s $(git rev-parse HEAD)": {
    asks: "a word that nobody has seen becomes an argument of git, which has options that write files",
  },
  // Text that stands in the command, written into the workspace.
  "{ date; git status; } > report.txt": "false ask",
  "(date; ls) > report.txt 2>&1": "false ask",
  ": > empty.txt": "false ask",
  // Lists of files.
  "find src -type f -exec grep -l import {} \\;": UNSEEN_NAMES,
  "git ls-files '*.ts' | xargs grep -n TODO": UNSEEN_NAMES,
  "grep -rl import src | xargs -I{} basename {}": "false ask",
};

/** How many of the list's commands ask for nothing. It may only fall. */
export const MOST_FALSE_ASKS = 12;
