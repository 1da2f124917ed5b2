/**
 * Why each command of the second list that asks does so. `asks` where a careful person would ask, too; `false ask` where the command
 * names all it touches, or only prints, and asking costs attention for nothing.
 */
export type WhyAsked = { asks: string } | "false ask";

const UNSEEN_NAMES = {
  asks: "names that nobody has seen become arguments: a secret, a link or a name with a blank in it may be among them",
};

export const WHY_ASKED: Readonly<Record<string, WhyAsked>> = {
  // Braces, and a list that is known when it is read.
  "wc -l {README,CHANGELOG}.md": "false ask",
  "diff src/{app,util}.ts": "false ask",
  "for i in $(seq 1 5); do echo $i; done": "false ask",
  // Branches: both ways are plain commands.
  "[[ -f notes.txt ]] && cat notes.txt": "false ask",
  'if [ "$(ls docs | wc -l)" -gt 1 ]; then echo many; fi': "false ask",
  "! grep -q FIXME src/app.ts": "false ask",
  // What is read is only printed.
  'while read -r line; do echo "$line"; done < names.txt': "false ask",
  'cat names.txt | while read n; do echo "hello $n"; done': "false ask",
  // Folders below the workspace, named in the command.
  "(cd src && ls -la)": "false ask",
  "mkdir -p out && cd out && touch a.txt": "false ask",
  "cd ./docs && head -n 5 api.md && cd ..": "false ask",
  "pushd src && ls && popd": "false ask",
  // Variables whose value stands in the command, or that are only printed.
  'echo "$USER on $(hostname)"': "false ask",
  "x=5; echo $x": "false ask",
  'name=world; echo "hello $name"': "false ask",
  'f=README.md; wc -l "$f"': "false ask",
  'dir=src; ls "$dir"': "false ask",
  'count=$(ls | wc -l); echo "$count files"': "false ask",
  'branch=$(git branch --show-current); echo "on $branch"': "false ask",
  "echo ${PWD}": "false ask",
  "LC_ALL=C sort names.txt": "false ask",
  "TZ=UTC date": "false ask",
  "git log -1 --format=%s $(git rev-parse HEAD)": {
    asks: "a word that nobody has seen becomes an argument of git, which has options that write files",
  },
  // Text that stands in the command, written into the workspace.
  "cat <<EOF > out.txt\nplain words\nEOF": "false ask",
  "grep b <<EOF\na\nb\nEOF": "false ask",
  "npm test 2>&1 | tee test.log": "false ask",
  "{ date; git status; } > report.txt": "false ask",
  "(date; ls) > report.txt 2>&1": "false ask",
  ": > empty.txt": "false ask",
  // Lists of files.
  "find src -type f -exec grep -l import {} \\;": UNSEEN_NAMES,
  "git ls-files '*.ts' | xargs grep -n TODO": UNSEEN_NAMES,
  "grep -rl import src | xargs -I{} basename {}": "false ask",
};

/** How many of the list's commands ask for nothing. It may only fall. */
export const MOST_FALSE_ASKS = 29;
