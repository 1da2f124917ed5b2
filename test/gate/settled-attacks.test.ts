/** Commands that once got past the gate in their settled form, or behind a command that moves things. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { decide } from "../../src/flow/gate/index.ts";
import { BLIND_RULES } from "./blind.ts";
import { type Ground, ground } from "./support.ts";

const RULES = { ...BLIND_RULES, exec: [...BLIND_RULES.exec!, "cp *", "ln *", "git stash *", "npm *"] };
/** Up from any workspace to the root; from the folder it stays inside. */
const UP = "../".repeat(20);
const DEEP = Array.from({ length: 24 }, (_, i) => `d${i}`).join("/");
let g: Ground;
beforeAll(() => {
  g = ground(RULES);
  const files = ["README.md", "notes.txt", "in.txt", "names.txt", "a/x", "a/b/c/x", "src/app.ts", "d/README.md"];
  for (const file of files) {
    mkdirSync(dirname(join(g.workspace, file)), { recursive: true });
    writeFileSync(join(g.workspace, file), `${file}\n`);
  }
  mkdirSync(join(g.workspace, DEEP), { recursive: true });
  // Inside the workspace where they are; moved up, they lead out of it.
  symlinkSync("../x", join(g.workspace, "a/up"));
  symlinkSync("..", join(g.workspace, "a/upd"));
});
afterAll(() => g.close());

const stops = (commands: readonly string[]) =>
  test.each(commands)("%s is not allowed", async (command) => {
    expect((await g.judge(command)).verdict).not.toBe("allow");
  });
const runs = (commands: readonly string[]) =>
  test.each(commands)("%s does not ask", async (command) => {
    expect(await g.judge(command)).toMatchObject({ verdict: "allow" });
  });

describe("no command is judged in another folder than it runs in (SHELL-6)", () => {
  stops([
    `{ cat ${UP}etc/passwd; } <<< "$(cd ${DEEP} && ls)"`,
    `{ echo evil | tee ${UP}tmp/pwned.txt; } <<< "$(cd ${DEEP} && ls; ls; ls)"`,
    `( cat ${UP}etc/passwd ) <<< "$(cd ${DEEP} && ls)"`,
    `for i in 1; do cat ${UP}etc/passwd; done <<< "$(cd ${DEEP} && ls)"`,
    "cd a/b/c; cat ../../../../x",
    "cd missing; cat x",
    "cd a/upd; cat x",
    "cd ..; cat x",
    "cd; cat x",
    "cd -; cat x",
    "cd $HOME; cat x",
    "cd a b; cat x",
    "cd a & cat x",
    "cd a > x; cat x",
    "CDPATH=/srv cd a; cat x",
    "! cd a; cat x",
    "cat x; cd a; cat x",
    "cd a; ls; cd b; cat c/x",
    "cd a; cd b || cat x",
    "(cd a); cat ../x",
    "cd a; (cd b; cat ../../../x)",
    "cd a; pwn",
    "cd a\ncat ../../x",
    "cd a/b/c && cat ../../../../x",
    "ls && cd a/b/c && cat x",
    "cd a && ls; cd b && cat x",
    "cd a && cd b && ls && cd ..",
    "for i in 1; do cd a; done; cat ../x",
    "echo $(cd a/b && cat ../../x)",
    "cd a | cat ../x",
    "cd a || cat x",
    "cd missing && cat x",
    "cd a/upd && cat x",
    "cd -P a && cat x",
    "cd a b && cat x",
    "cd $HOME && cat x",
    "pushd a && cat x",
    "! cd a && cat x",
  ]);
  runs(["cd a && cat x", "cd a && cd b && cat c/x ../x", "cd ./a && ls || echo none; cat x", "cd a && wc -l < x"]);
  runs(["cd a; cat x", "cd a/b; cat c/x; ls ..", "cd a; cd b && cat c/x", "cd a\ncd b\ncat c/x"]);

  test("behind `cd DIR;` all of it runs in DIR", async () => {
    const { plan, settled } = await g.judge("cd a/b; cat c/x; cat ../x");
    expect(settled).toBe(true);
    expect(plan.shell?.settled?.cwd).toBe(join(g.workspace, "a/b"));
    expect(plan.shell?.settled?.run).not.toMatch(/\bcd\b/);
  });
});

describe("time before a pipeline changes nothing about it", () => {
  stops([
    "time pwn",
    "time",
    "time cat ../../../../x",
    "time cat .env",
    "time time ls",
    "time -p pwn",
    "time -o out.txt ls",
    "time -f %e pwn",
    "! time ls",
    "time { pwn; }",
    "time (pwn)",
    "time ls | pwn",
    "time ls; pwn",
    "time $(pwn)",
    "time ls > AGENTS.md",
    "TIMEFORMAT=$(pwn); time ls",
    "TIMEFORMAT=x time ls",
    "/usr/bin/time -o x pwn",
    "command time pwn",
  ]);
  runs(["time ls", "time cat README.md | wc -l", "time ls && cat README.md", "ls; time wc -l *.md"]);

  test("and it is timed", async () => {
    const { plan } = await g.judge("time cat README.md");
    expect(await g.run("time cat README.md", plan.shell!.settled!.run)).toMatch(/README\.md[\s\S]*real/);
  });

  test("a command behind cd runs in that folder", async () => {
    const command = "cd a && cd b && cat c/* ../x";
    const { settled, plan } = await g.judge(command);
    expect(settled).toBe(true);
    expect(await g.run(command, plan.shell!.settled!.run)).toContain("a/b/c/x\na/x\n");
  });

  test("a settled text that is no longer what was judged isn't run", async () => {
    const { plan } = await g.judge("cat a/b/c/*");
    writeFileSync(join(g.workspace, "a/b/c/y"), "");
    await expect(g.run("cat a/b/c/*", plan.shell!.settled!.run)).rejects.toThrow("changed before it ran");
  });
});

describe("what is found is put in no other word", () => {
  stops([
    "find . -name README.md -exec cat '.{}' {} \\;",
    "find . -name README.md -exec cat 'd/{}' {} \\;",
    "find . -name README.md -exec cat '.{}' {} +",
    "find . -name README.md | xargs -n1 cat '.{}'",
    "find . -name README.md | xargs -I{} cat '.{}'",
    "find . -name README.md | xargs -i cat '.{}'",
    "find . -name README.md | xargs -IX cat .X",
    "find . -name README.md | xargs -d r cat",
    "find . -name README.md | xargs -a names.txt cat",
    "find . -name README.md | xargs -E x cat",
    "find . -name README.md | xargs -P 4 cat",
    "ls | xargs -I{} basename {}",
    "ls | xargs -n names.txt echo",
  ]);
  runs(["find . -name README.md -exec cat {} \\;", "find . -name '*.ts' | xargs -n1 wc -l", "ls | xargs -n1 basename"]);
});

describe("xargs counts listed files, and nothing else (GATE-4)", () => {
  stops([
    "echo /etc/passwd | xargs wc -l",
    "echo /etc/passwd | xargs wc -l --",
    "cat names.txt | xargs wc -l",
    "xargs wc -l < names.txt",
    "xargs wc -l -- < names.txt",
    "xargs wc -l -- <<< /etc/passwd",
    "git ls-files | xargs wc -l < names.txt",
    "git ls-files | xargs wc -l -- <<< /etc/passwd",
    "git ls-files | head -n 3 < names.txt | xargs wc -l",
    "git ls-files | head names.txt | xargs wc -l",
    "git ls-files | head 5 | xargs wc -l",
    "git ls-files | grep . names.txt | xargs wc -l",
    "git ls-files | sed s,^,/etc/, | xargs wc -l",
    "git ls-files | xargs wc --files0-from=names.txt",
    "git ls-files | xargs wc -l --files0-from",
    "git ls-files | xargs wc -l ../x",
    "git ls-files | xargs wc -l -- ../x",
    "git ls-files | xargs -a names.txt wc -l",
    "git ls-files | xargs -I{} wc -l {}",
    "git ls-files | xargs ./wc -l",
    "git ls-files | xargs cat",
    "git ls-files | xargs grep -n TODO",
    "git ls-files | xargs head -n 1 --",
    "git ls-files | xargs rm",
    "git ls-files | xargs sh -c wc",
    "git ls-files | xargs tee",
    "git ls-files | xargs env wc -l",
    "git ls-files | xargs wc -l > ../x",
    "git ls-files --format=/etc/passwd | xargs wc -l",
    "git diff --output=x --name-only | xargs wc -l",
    "git diff HEAD | xargs wc -l",
    "git diff -- --name-only | xargs wc -l",
    "rg TODO | xargs wc -l",
    "rg -l TODO --pre sh | xargs wc -l",
    "rg -g -l TODO | xargs wc -l",
    "rg -- -l | xargs wc -l",
    "grep -h . names.txt | xargs wc -l",
    "grep -- -l names.txt | xargs wc -l",
    "find / -type f | xargs wc -l",
    "find .. -type f | xargs wc -l",
    "find -L . -type f | xargs wc -l",
    "find . -type f | xargs wc --files0-from=names.txt",
    "find . -type f | xargs head -n 1",
  ]);
  runs([
    "git ls-files | xargs wc -l",
    "git ls-files '*.ts' | grep -v test | xargs wc -l | tail -1",
    "git diff --name-only HEAD~1 | xargs wc -l",
    "rg -l TODO -g '*.ts' | xargs wc -l",
    "rg --files src | xargs wc -l | sort -n | tail -5",
    "grep -rl import src --include=*.ts | xargs wc -w",
    "ls src/*.ts | xargs wc -l",
    "find src -type f | xargs wc -l",
    "find . -type f -exec wc -c {} +",
  ]);

  test("a file named like an option is counted, not obeyed", async () => {
    writeFileSync(join(g.workspace, "a/b/--files0-from=README.md"), "one\ntwo\n");
    const command = "cd a/b && ls | xargs wc -l";
    const { settled, plan } = await g.judge(command);
    expect(settled).toBe(true);
    expect(await g.run(command, plan.shell!.settled!.run)).toContain("2 --files0-from=README.md");
  });
});

describe("type and command -v say where a program is, and run nothing", () => {
  stops([
    "command cat README.md",
    "command -p cat README.md",
    "command -v",
    "command -vp pwn",
    "command -v /etc/passwd",
    "command -v ../x",
    "command -v $(echo pwn)",
    "command -v 'a[$(pwn)]'",
    "command -- pwn",
    "command pwn -v",
    "type",
    "type -f ls",
    "type ./evil.sh",
    "type ls /etc/passwd",
    "type $x",
    'type "$(pwn)"',
    "type ls; pwn",
    "type ls > ../x",
    "type ls && rm README.md",
    "builtin type ls",
    "type() { pwn; }; type ls",
    "hash -p ./evil.sh ls; type ls",
    "alias ls=pwn; type ls",
  ]);
  runs(["type ls", "type -a ls cat", "command -v ls", "command -v jq >/dev/null 2>&1 && echo yes || echo no"]);

  test("they need the rule for which, and a deny rule for either holds", async () => {
    for (const command of ["type ls", "command -v ls"]) {
      const exec = RULES.exec.filter((rule) => rule !== "which *");
      expect((await g.judge(command, { allow: { ...RULES, exec } })).verdict).toBe("ask");
      for (const rule of ["which *", `${command.split(" ")[0]} *`])
        expect((await g.judge(command, { deny: { exec: [rule] } })).verdict, rule).not.toBe("allow");
    }
  });

  test("what runs is the shell's own word", async () => {
    const { plan } = await g.judge("type ls");
    expect(await g.run("type ls", plan.shell!.settled!.run)).toMatch(/^ls is \//);
    expect(g.pwned()).toBe(false);
  });
});

describe("behind a command that may move things, what names files asks", () => {
  stops([
    "mv a/up up2; cat up2",
    "mv a/up up2 && wc -l < up2",
    "mv a/up up2\necho x > up2",
    "mv a/up up2; ls && head -n 1 up2",
    "mv a/upd zz; mkdir -p zz && cd zz && cat x",
    "cat up2 | mv a/up up2",
    "echo $(mv a/up up2) > up2",
    "for f in up; do mv a/$f up2; cat up2; done",
    "cp -a a/up up2; cat up2",
    "cp -d a/up up2; cat up2",
    "cp -P a/up up2; cat up2",
    "cp -r a new && cat new/up",
    "cp -R a new; cat new/up",
    "cp --archive a new; cat new/up",
    "cp -s notes.txt up2; cat up2",
    "ln notes.txt up2; cat up2",
    "git restore evil.md && cat evil.md",
    "git stash pop; cat evil.md",
    "git switch other && cat evil.md",
    "npm run build && cat out.md",
    "mv a/up up2; git diff --no-index README.md up2",
    "mv a/up up2; find up2/ -name '*.md'",
  ]);
  runs([
    "mv in.txt moved.txt",
    "mv in.txt moved.txt && ls",
    "mkdir -p out && mv in.txt out/",
    "cp in.txt copy.txt && cat copy.txt",
    "cp -f in.txt copy.txt; wc -l copy.txt | head",
    "git add README.md && git commit -m 'two words' && git status && cat README.md",
    "npm run build && npm test",
    "npm test | tee out.md",
    "echo x > made.txt && cat made.txt",
    "mkdir -p out && touch out/a.txt && ls out",
  ]);
});

test("a command that moves things isn't allowed by a rule to go on in the background", async () => {
  const judged = async (command: string) => {
    const plan = await g.plan(command);
    return decide(g.policy, { ...plan, binding: { ...plan.binding, background: true } }).verdict;
  };
  expect(await judged("sleep 5; mv a/up notes.txt")).toBe("ask");
  expect(await judged("for f in up; do mv a/$f notes.txt; done")).toBe("ask");
  expect(await judged("npm run build")).toBe("allow");
  expect(await judged("sleep 5; date")).toBe("allow");
});

describe("what is only known when it runs goes to programs that print or compare it, and nowhere else", () => {
  stops([
    'f=$(echo /srv/x); [ -e "$f" ] && echo yes',
    '[ -e "$(echo /srv/x)" ] && echo yes',
    'test -s "$(echo /srv/x)" && echo yes',
    'while read f; do [ -s "$f" ] && echo "$f"; done < names.txt',
    "cat $(echo /srv/x)",
    "for f in $(ls); do cat $f; done",
    "echo $(echo $(ls))",
    "echo $(for f in a; do ls; done)",
    'cat <<< "$(ls)"',
    "echo $(ls) > $(echo x)",
  ]);
  runs(["basename $(pwd)", "for i in $(seq 1 3); do echo $i; done"]);
  runs(["n=3; echo $((n * 2))", 'while read -r a b; do [ "$a" = "$b" ] && echo same; done < names.txt']);
  runs(["echo $(ls)", 'echo "now: $(date +%F), $((1 + 2)) files in $PWD"', "printf '%s\\n' \"$(wc -l < notes.txt)\""]);
});

describe("a variable is shown where every way through the text has set it, and sums take numbers only", () => {
  runs([
    "if [ -d src ]; then x=1; ls; else x=2; ls; fi; echo $x",
    "case x in a) y=1;; *) y=2;; esac; echo $y",
    "if [ -d src ]; then x=$(ls); echo $x; fi",
    'x=none; if [ -d src ]; then x=$(ls src); ls; fi; echo "$x"',
    'while read -r a; do b=$a; echo "$b"; done < names.txt',
    "n=2; m=3; echo $((n * (m + 1) - -2 ** 2 % $n))",
    "i=0; while [ $i -lt 3 ]; do i=$((i++ + 1)); done; echo $i",
  ]);
});

describe("a group, a loop or a branch with a file or in a pipe is judged by its parts (SHELL-9)", () => {
  runs([
    "{ ls; }",
    "(ls)",
    "for f in a; do echo $f; done > out.txt",
    "for f in a; do echo $f; done | wc -l",
    "for f in a; do echo $f; done && ls",
    "if ls; then (ls); fi",
    "if ls; then ls; fi > out.txt",
    "if ls; then ls; fi < names.txt",
    "if ls; then ls; fi | wc -l",
    "if ls; then ls; fi && ls",
    "ls | if ls; then ls; fi",
    "! if ls; then ls; fi",
    "cd a && if ls; then ls; fi",
    "if ls; then for f in a; do ls; done; fi",
    "if { ls; }; then ls; fi",
    "case x in x) ls;; esac | wc -l",
    "while ls; do (ls); done",
  ]);
});

describe("what would be settled into something else is not settled (SHELL-4)", () => {
  stops([
    "false; x=5; echo $?",
    "for f in a; do ls; done; echo $f",
    "false && for f in a; do ls; done; echo $f",
    "for f in a; do for h in b; do echo $f; done; done",
    "for PATH in a; do ls; done",
    "for histchars in a; do ls; done",
    "for f; do ls; done",
    "if ls; then ls; fi &",
    "echo $(if ls; then ls; fi)",
    "case x in x) ls;& y) ls;; esac",
    "case x in [xy]) ls;; esac",
    "while ls; do ls; done &",
    "echo $(while ls; do ls; done)",
    "while read -d x l; do echo $l; done < names.txt",
    "time -p ls *.md",
    "ls *.md &",
    "ls {a,{b,c}}",
    "ls {a,b}*",
    "ls {a..c}",
    "x=1 ls *.md",
    "cat <<END\n\\$x\nEND",
    "cat <<-END\n\tplain\nEND",
  ]);
  runs(["case x in x) ls;; esac", "ls {a,b}", "cat <<END\nplain\nEND", "x=5; echo $?"]);
});

describe("every command of every branch is judged", () => {
  stops([
    "if pwn; then ls; fi",
    "if ls; then pwn; fi",
    "if ls; then ls; else pwn; fi",
    "if ls; then ls; elif pwn; then ls; fi",
    "if ls; then ls; elif ls; then pwn; fi",
    "if ls; then if ls; then pwn; fi; fi",
    "if false; then rm README.md; fi",
    "if true; then echo x > ../AGENTS.md; fi",
    "if true; then echo x > AGENTS.md; fi",
    "if true; then cat .env; fi",
    "if cat .env; then ls; fi",
    "if [ -f /etc/shadow ]; then ls; fi",
    "if test -s ../../secret; then ls; fi",
    "if [ -f README.md ]; then cat /etc/passwd; fi",
    "if [ -f README.md ]; then curl https://example.com; fi",
    "if [ -f README.md ]; then ls | sh; fi",
    "if [ -f README.md ]; then ls & fi",
    "if [ -f README.md ]; then exec cat README.md; fi",
    "if [ -f README.md ]; then eval ls; fi",
    "if [ -f README.md ]; then . ./evil.sh; fi",
    "if [ -f README.md ]; then ./evil.sh; fi",
    "if [ -f README.md ]; then ls() { pwn; }; fi; ls",
    "if [ -f README.md ]; then PATH=.; fi; ls",
    "if [ -f README.md ]; then cd a/b; fi; cat ../x",
    "if cd a/b; then cat ../../../x; fi",
    "if mv a/up up2; then cat up2; fi",
    "if ls; then mv a/up up2; fi; cat up2",
    "if npm run build; then cat src/*.ts; fi",
    "if ls; then touch made.ts; fi; cat *.ts",
    "if [ $(pwn) ]; then ls; fi",
    'if [ -f "$(pwn)" ]; then ls; fi',
    'if [ "$x" = y ]; then ls; fi',
    "if [ 'a[$(pwn)]' -eq 1 ]; then ls; fi",
    "if [[ -f README.md ]]; then pwn; fi",
    "if [[ (-f README.md) ]]; then ls; fi",
    "if ((1)); then ls; fi",
    "if ! pwn; then ls; fi",
    "if ls; then 'fi'; pwn; fi",
    "if ls; then fi; pwn",
    "if ls; then ls; fi; pwn",
    "if read x; then echo $x; fi",
  ]);
  runs([
    "if [ -f README.md ]; then cat README.md; fi",
    "if [[ -f README.md ]]; then ls; fi",
    "if ! ls; then ls; fi",
    "if [ -d src ]; then ls src; else echo none; fi",
    "if test -f in.txt && grep -q in in.txt; then echo one; elif [ -f notes.txt ]; then echo two; else echo three; fi; ls",
    "for f in *.txt; do if [ -s $f ]; then wc -l $f; fi; done",
    "if command -v jq >/dev/null 2>&1; then echo found; else echo missing; fi",
    "if [ -d a ]; then if [ -f a/x ]; then cat a/x; fi; fi",
  ]);

  test("a deny rule holds in a branch that isn't taken", async () => {
    const over = { deny: { exec: ["cat notes.txt"], write: ["workspace/kept/**"] } };
    expect((await g.judge("if false; then cat notes.txt; fi", over)).verdict).not.toBe("allow");
    expect((await g.judge("if false; then ls; else echo x > kept/x; fi", over)).verdict).not.toBe("allow");
    expect((await g.judge("if false; then cat in.txt; fi", over)).verdict).not.toBe("deny");
  });

  test("the branch that runs is the one the shell would take", async () => {
    const tried: [string, RegExp][] = [
      ["if [ -f README.md ]; then echo then; else echo else; fi; echo $?", /^then\n0\n/],
      ["if [ -f missing ]; then echo then; else echo else; fi", /^else\n/],
      ["if test -f missing; then echo 1; elif test -d a; then echo 2; else echo 3; fi", /^2\n/],
      [
        "for d in a missing; do if [ -d $d ]; then echo $d; if [ -f $d/x ]; then cat $d/x; fi; fi; done",
        /^a\na\/x\n\[/,
      ],
    ];
    for (const [command, wanted] of tried) {
      const { settled, plan } = await g.judge(command);
      expect(settled, command).toBe(true);
      expect(await g.run(command, plan.shell!.settled!.run)).toMatch(wanted);
    }
  });
});
