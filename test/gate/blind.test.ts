/** The constructs of the shell around everyday commands: they do not ask by themselves, and what they hide still does. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ASKS, BLIND_FILES, BLIND_RULES, RUNS } from "./blind.ts";
import { MOST_FALSE_ASKS, WHY_ASKED } from "./blind-asks.ts";
import { STUBS } from "./everyday.ts";
import { type Ground, ground } from "./support.ts";

let g: Ground;
beforeAll(() => {
  g = made();
});
afterAll(() => g.close());

function made(): Ground {
  const here = ground(BLIND_RULES);
  for (const name of [...STUBS, "column"]) {
    if (["/usr/local/bin", "/usr/bin", "/bin"].some((dir) => existsSync(join(dir, name)))) continue;
    writeFileSync(join(here.bin, name), "#!/bin/sh\n");
    chmodSync(join(here.bin, name), 0o755);
  }
  for (const file of BLIND_FILES) {
    mkdirSync(dirname(join(here.workspace, file)), { recursive: true });
    writeFileSync(join(here.workspace, file), `${file}\nimport TODO\n`);
  }
  return here;
}

/**
 * A `cd` that is not at the very beginning, and what is fed to a program from a list that nobody has seen: the rule says that they need not ask, and they do. Fewer constructs are settled than could be, on purpose.
 */
const ASKED_STILL = [
  "mkdir -p out && cd out && touch a.txt",
  "cd ./docs && head -n 5 api.md && cd ..",
  "pushd src && ls && popd",
  'echo "$USER on $(hostname)"',
  "git log -1 --format=%s $(git rev-parse HEAD)",
  ": > empty.txt",
  "find src -type f -exec grep -l import {} \\;",
  "git ls-files '*.ts' | xargs grep -n TODO",
  "grep -rl import src | xargs -I{} basename {}",
];

test("of a second list of everyday commands, with loops, patterns and substitutions, about a tenth asks", async () => {
  const asked: string[] = [];
  for (const command of RUNS) if ((await g.judge(command)).verdict !== "allow") asked.push(command);
  expect(asked).toEqual(ASKED_STILL);
  expect(RUNS.length).toBeGreaterThanOrEqual(150);
});

test("each command that still asks has its reason, or counts as a false ask", async () => {
  const asked: string[] = [];
  for (const command of RUNS) if ((await g.judge(command)).verdict !== "allow") asked.push(command);
  expect(asked.filter((command) => !Object.hasOwn(WHY_ASKED, command))).toEqual([]);
  const needless = asked.filter((command) => WHY_ASKED[command] === "false ask");
  expect(needless.length, needless.join("\n")).toBeLessThanOrEqual(MOST_FALSE_ASKS);
});

test("the same constructs around what asks by itself ask", async () => {
  const allowed: string[] = [];
  for (const command of ASKS) if ((await g.judge(command)).verdict === "allow") allowed.push(command);
  expect(allowed).toEqual([]);
});

test("what runs prints what the command as typed prints", async () => {
  const different: string[] = [];
  let compared = 0;
  for (const command of RUNS) {
    const { verdict, settled, plan } = await g.judge(command);
    if (verdict !== "allow" || !settled || /\b(date|sleep|git|npm|node|rg|jq|column|stat|du|ls -l)/.test(command))
      continue;
    const [one, other] = [made(), made()];
    try {
      const form = (await one.plan(command)).shell!.settled!;
      const run = (at: Ground, script: string) => shell(at, script).replaceAll(at.workspace, "WORKSPACE");
      if (run(one, `cd '${form.cwd}'\n${form.run}`) !== run(other, plan.shell!.text)) different.push(command);
      compared++;
    } finally {
      one.close();
      other.close();
    }
  }
  expect(different).toEqual([]);
  expect(compared).toBeGreaterThan(30);
});

function shell(at: Ground, script: string): string {
  const env = {
    PATH: `${at.bin}:/usr/local/bin:/usr/bin:/bin`,
    HOME: at.workspace,
    LANG: "C.UTF-8",
    LC_ALL: "C.UTF-8",
  };
  // `find` lists in the order of the directory, which two folders need not share.
  const sorted = `{ ${script}\n} 2>/dev/null | LC_ALL=C sort; cat *.txt *.json out/* 2>/dev/null | LC_ALL=C sort`;
  return execFileSync("/bin/bash", ["-c", sorted], { cwd: at.workspace, env, encoding: "utf8" });
}

describe("hostile siblings ask", () => {
  /** Files whose names or links turn a harmless pattern into something else. */
  const trap = (make: (g: Ground) => void) => {
    const here = made();
    make(here);
    return here;
  };
  const CASES: [what: string, make: (g: Ground) => void, command: string][] = [
    ["a file named like an option", (h) => writeFileSync(join(h.workspace, "-o.md"), ""), "sort *.md"],
    ["a link among the matches", (h) => symlinkSync(join(h.out, "secret"), join(h.workspace, "x.md")), "cat *.md"],
    ["a linked folder on the way", (h) => symlinkSync(h.out, join(h.workspace, "far")), "cat far/*"],
    ["a linked folder matched", (h) => symlinkSync(h.out, join(h.workspace, "far")), "cat */secret"],
    ["a linked folder entered", (h) => symlinkSync(h.out, join(h.workspace, "far")), "cd far && cat secret"],
    ["a secret among the matches", (h) => writeFileSync(join(h.workspace, "server.pem"), ""), "cat server*"],
    ["a secret in a loop", (h) => writeFileSync(join(h.workspace, "a.key"), ""), 'for f in *.key; do cat "$f"; done'],
    ["a hidden secret in a loop", () => {}, 'for f in .e*; do cat "$f"; done'],
    ["a pattern for names that find may take", () => {}, "find . -name '*.json' | xargs cat"],
    ["a pattern that is a secret's name", () => {}, "find . -name '.env.local' | xargs cat"],
    ["a pattern for the end of a secret", () => {}, "find . -name '*.production' | xargs cat"],
    ["a secret read by jq", () => {}, "jq . *als.json credentials.json"],
    ["a found link", () => {}, "find -L . -name '*.ts' | xargs cat"],
    ["find with an alternative", () => {}, "find . -name '*.ts' -o -name '*' | xargs cat"],
    ["find that leaves", () => {}, "find .. -name '*.md' | xargs cat"],
    ["find in a loop that leaves", () => {}, "for d in . ..; do find $d -name '*.md' -exec cat {} +; done"],
    ["xargs that runs what it is fed", () => {}, "find . -name '*.ts' | xargs -I{} sh {}"],
    ["xargs with a file of names", () => {}, "xargs -a names.txt cat"],
    ["a folder entered only perhaps", () => {}, "test -d src/lib && cd src/lib; cat ../../../x"],
    ["a folder entered in a branch", () => {}, "if true; then cd src/lib; fi; cat ../../x"],
    ["a folder that a group enters", () => {}, "{ mkdir -p a/b && cd a/b; }; cat ../../x"],
    ["a folder that is not there", () => {}, "cd missing; cat ../x"],
    ["a folder that something else makes", () => {}, "cp -r src new && cd new && cat app.ts"],
    ["a pattern after something was written", () => {}, "npm run build && cat dist/*"],
    ["a value as a program's file", () => {}, 'f=$(echo /etc/passwd); cat "$f"'],
    ["a value as git's word", () => {}, "x=$(echo --output=x); git diff $x"],
    ["a list as a program's file", () => {}, "for f in $(cat names.txt); do cat $f; done"],
    ["a value with blanks in it", () => {}, "x='a /etc/passwd'; cat $x"],
    ["a value with a pattern in it", () => {}, "x='/etc/*'; cat $x"],
    ["a variable that programs load by", () => {}, "GIT_DIR=/tmp/x; git status"],
    ["a time zone that is a file", () => {}, "TZ=/etc/passwd date"],
    ["a locale that is a file", () => {}, "LC_ALL=../x sort names.txt"],
    ["a word split by another sign", () => {}, "IFS=x; for f in axb; do cat $f; done"],
    ["a write by sort", () => {}, "sort -oAGENTS.md in.txt"],
    ["a write by tee to what git runs", () => {}, "echo x | tee -a .git/config"],
    ["a write by uniq outside", () => {}, "uniq names.txt ../x"],
    ["sed that writes", () => {}, "sed 's/a/b/w out.txt' notes.txt"],
    ["sed that runs", () => {}, "sed 's/a/b/e' notes.txt"],
    ["sed that hides a command in a bracket", () => {}, "sed 's/[/]/x/;w out' notes.txt"],
    ["sed with a second command", () => {}, "sed 's/a/b/;1e id' notes.txt"],
    ["an archive on another machine", () => {}, "tar tf host:backup.tar"],
    ["an archive that runs a program", () => {}, "tar -tzf backup.tar.gz --to-command=sh"],
    ["text fed to a shell", () => {}, "bash <<< 'ls'"],
    ["text fed from outside", () => {}, 'cat <<< "$(cat /etc/passwd)"'],
    ["a here-document that is expanded", () => {}, "cat <<EOF\n$(cat /etc/passwd)\nEOF"],
    ["a write inside a substitution", () => {}, "echo $(echo x > ../AGENTS.md)"],
    ["a write outside by a group", () => {}, "{ date; ls; } > ../x"],
    ["a function", () => {}, "ls() { rm x; }; ls"],
    ["an index that is evaluated", () => {}, "while read 'a[$(id)]'; do echo x; done < names.txt"],
    ["a secret variable", () => {}, "echo $GITHUB_TOKEN"],
  ];
  test.each(CASES)("%s", async (_, make, command) => {
    const here = trap(make);
    try {
      expect((await here.judge(command)).verdict, command).not.toBe("allow");
    } finally {
      here.close();
    }
  });

  test("what a group or a loop writes counts like what a command writes, in every mode", async () => {
    const over = { mode: "record" as const, tainted: true };
    for (const command of [
      "{ date; ls; } > ../notes",
      "(echo x) >> ../memory/today.md",
      "for i in 1; do echo $i; done > ../x",
    ])
      expect((await g.judge(command, over)).verdict, command).toBe("ask");
    const deny = { mode: "record" as const, deny: { write: ["workspace/kept/**"] } };
    expect((await g.judge("{ date; ls; } > kept/x", deny)).verdict).toBe("deny");
    expect((await g.judge("{ date; ls; } > other/x", deny)).verdict).toBe("allow");
  });

  test("a deny rule holds for every round of a loop", async () => {
    const over = { deny: { exec: ["cat docs/api.md"], read: ["workspace/docs/guide.md"] } };
    expect((await g.judge("for f in README.md docs/api.md notes.txt; do cat $f; done", over)).verdict).not.toBe(
      "allow",
    );
    expect((await g.judge("for f in README.md docs/guide.md notes.txt; do wc -l < $f; done", over)).verdict).not.toBe(
      "allow",
    );
    expect((await g.judge("for f in README.md notes.txt; do cat $f; done", over)).verdict).toBe("allow");
  });

  test("after text from outside a settled command writes no standing file and reaches no new host", async () => {
    const over = { tainted: true, allow: { ...BLIND_RULES, exec: [...BLIND_RULES.exec!, "curl *"] } };
    expect((await g.judge("for f in notes.txt AGENTS.md; do echo x > $f; done", over)).verdict).not.toBe("allow");
    expect((await g.judge("for h in a b; do curl https://$h.example.com/; done", over)).verdict).not.toBe("allow");
    expect((await g.judge("wc -l *.md", over)).verdict).toBe("allow");
  });
});
