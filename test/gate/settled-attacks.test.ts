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
    "cd a/b/c; cat ../../../x",
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
    "npm test | tee out.md",
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

describe("what is only known when it runs goes to echo and printf, and nowhere else", () => {
  stops([
    'f=$(echo /srv/x); [ -e "$f" ] && echo yes',
    '[ -e "$(echo /srv/x)" ] && echo yes',
    'test -s "$(echo /srv/x)" && echo yes',
    'while read f; do [ -s "$f" ] && echo "$f"; done < names.txt',
    "basename $(echo /srv/x)",
    "for i in $(seq 1 3); do echo $i; done",
    "echo $(echo $(ls))",
    "echo $(for f in a; do ls; done)",
    'cat <<< "$(ls)"',
    "echo $(ls) > $(echo x)",
  ]);
  runs(["echo $(ls)", 'echo "now: $(date +%F), $((1 + 2)) files in $PWD"', "printf '%s\\n' \"$(wc -l < notes.txt)\""]);
});

describe("what would be settled into something else is not settled (SHELL-4)", () => {
  stops([
    "false; x=5; echo $?",
    "for f in a; do ls; done; echo $f",
    "false && for f in a; do ls; done; echo $f",
    "for f in a; do for h in b; do echo $f; done; done",
    "for f in a; do echo $f; done > out.txt",
    "for f in a; do echo $f; done | wc -l",
    "for f in a; do echo $f; done && ls",
    "for PATH in a; do ls; done",
    "for histchars in a; do ls; done",
    "for f; do ls; done",
    "if ls; then ls; fi",
    "case x in x) ls;; esac",
    "{ ls; }",
    "(ls)",
    "time ls *.md",
    "ls *.md &",
    "ls {a,b}",
    "x=1 ls *.md",
    "cat <<END\nplain\nEND",
  ]);
});
