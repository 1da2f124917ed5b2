/** `decide` as tables: rules, modes, deny, remembered approvals, paths, hosts, authority (I12). */
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { ActionPlan } from "../../src/core/contracts/index.ts";
import {
  type Authority,
  decide,
  explain,
  explainText,
  joinPolicy,
  type Policy,
  policyConfig,
  ruleFor,
} from "../../src/flow/gate/index.ts";
import { ground } from "./support.ts";

const g = ground();
afterAll(() => g.close());
const exec = (...rules: string[]) => ({ allow: { exec: rules } });
const { place } = g.policy;
const policy = (over: Partial<Policy> = {}): Policy => ({ ...g.policy, allow: {}, ...over });
const action = (over: Partial<ActionPlan>): ActionPlan => ({
  tool: "x",
  risk: "state",
  targets: [],
  shown: "x",
  binding: {},
  ...over,
});
const write = (path: string, tool = "write") => action({ tool, risk: "write", targets: [path] });
const fetched = (host: string) => action({ tool: "web_fetch", risk: "network", targets: [host] });
const inWorkspace = (path: string) => join(place.workspace, path);

describe("the reason names", () => {
  test.each<[command: string, because: RegExp]>([
    ["cd ~ && rm -rf .", new RegExp(`rm would delete ${place.userHome}\\.$`)],
    ["cd / && rm -rf *", /rm would delete \/\S*[^.*]?\.$/],
    ["rm -rf ~", /rm would delete ~\.$/],
  ])("%s: the place that would be lost", async (command, because) => {
    const said = await g.judge(command);
    expect(said.verdict).toBe("deny");
    expect(said.because).toMatch(because);
  });

  test.each([
    ["git commit -m x", "git commit *"],
    ["git add a.txt", "git add *"],
  ])("%s: the rule that would allow it, and does", async (command, rule) => {
    const asked = await g.judge(command, exec("git *"));
    expect(asked.verdict).toBe("ask");
    expect(asked.because).toContain(`the rule "${rule}" would allow it`);
    expect((await g.judge(command, exec("git *", rule))).verdict).toBe("allow");
  });
});

describe("whether a rule is what is missing", () => {
  test.each<[rules: string[], command: string, lacksRule: true | undefined]>([
    [[], "npm test", true],
    [["npm install"], "npm test", true],
    [["cat *"], "cat /etc/hosts", undefined],
    [["ls *"], "ls $(pwn)", undefined],
    [["ls *"], "ls && npm test", true],
  ])("with %j, %j: %s", async (rules, command, lacksRule) => {
    const verdict = decide(policy(exec(...rules)), await g.plan(command));
    expect(verdict).toMatchObject({ verdict: "ask" });
    expect(verdict.lacksRule).toBe(lacksRule);
  });

  test("text from outside asks whatever a rule says", async () => {
    const verdict = decide(policy({ ...exec("npm test"), authority: "outside" }), await g.plan("npm test"));
    expect(verdict.lacksRule).toBeUndefined();
  });
});

describe("rules for commands", () => {
  test.each<[rule: string, command: string, want: string]>([
    ["ls *", "ls", "allow"],
    ["ls *", "ls -la x", "allow"],
    ["ls", "ls", "allow"],
    ["ls", "ls -l", "ask"],
    ["git status *", "git status", "allow"],
    ["git status *", "git status --short", "allow"],
    ["git status *", "git log", "ask"],
    ["git status *", "git", "ask"],
    ["git status", "git status -s", "ask"],
    ["git *", "git commit -m x", "ask"],
    ["git commit *", "git commit -m x", "allow"],
    ["git commit *", "git -c x=y commit -m x", "ask"],
    ["git push *", "git push --receive-pack=pwn", "ask"],
    ["git push *", "git push ext::pwn", "ask"],
    ["git push *", "git push origin main", "allow"],
    ["git config *", "git config user.name x", "ask"],
    ["git config user.name *", "git config user.name x", "ask"],
    ["npm test", "npm test", "allow"],
    ["true", "true", "allow"],
    ["head -n * a.txt", "head -n 3 a.txt", "allow"],
    ["head -n * a.txt", "head -n 3 b.txt", "ask"],
    ["cat src/*", "cat src/x", "allow"],
    ["cat src/?", "cat src/xy", "ask"],
    ["cat docs/* x", "cat docs/a/b x", "ask"],
    ["cat 'a b'", "cat 'a b'", "allow"],
    ["cat 'a b'", "cat a b", "ask"],
    ["bash *", "bash evil.sh", "ask"],
    ["bash evil.sh", "bash evil.sh", "allow"],
    ["bash evil.sh", "bash evil.sh x", "ask"],
    ["python3 *", "python3 -c 1", "ask"],
    ["timeout 5 *", "timeout 5 ls", "ask"],
    ["timeout 5 ls", "timeout 5 ls", "allow"],
    ["timeout * ls", "timeout 9 ls", "ask"],
    ["xargs *", "xargs pwn", "ask"],
    ["sort *", "sort --compress-program=pwn", "ask"],
    ["sort -o out *", "sort -o out a.txt", "allow"],
    ["sort -o out *", "sort -o out -o x", "ask"],
    ["env *", "env FOO=1 ls", "ask"],
    ["ls *", "ls $(pwn)", "ask"],
    ["ls *", "LD_PRELOAD=x ls", "deny"],
    ["cat *", "cat .env", "deny"],
    ["cat .env", "cat .env", "allow"],
    ["cat *", "cat /etc/hosts", "ask"],
    ["cat /etc/hosts", "cat /etc/hosts", "allow"],
    ["pwn", "pwn", "allow"],
    ["pwn", "pwn x", "ask"],
    ["ls*", "lsblk", "ask"],
    ["LS *", "ls", "ask"],
    ["tar *", "tar tf x.tar", "allow"],
    ["tar *", "tar xf x.tar", "ask"],
    ["tar *", "tar tf ../x.tar", "ask"],
    ["make *", "make -j2", "ask"],
    ["make test", "make test", "allow"],
    ["uniq *", "uniq a b", "ask"],
    ["date *", "date +%s", "allow"],
    ["date *", "date 010203042026", "ask"],
    ["date *", "date -s now", "ask"],
    ["rg *", "rg --pre pwn x", "ask"],
    ["rg *", "rg alpha", "allow"],
    ["rg *", "rg -z alpha", "ask"],
    ["sed *", "sed -n 1,5p a.txt", "allow"],
    ["sed *", "sed 1e a.txt", "ask"],
    ["sed *", "sed -i s/a/b/ a.txt", "ask"],
    ["sed *", "sed 'w x' a.txt", "ask"],
    ["tail *", "tail -n 5 a.txt", "allow"],
    ["wc *", "wc -l a.txt", "allow"],
    ["wc *", "wc --files0-from=x", "ask"],
    ["du *", "du -sh .", "allow"],
    ["diff *", "diff -u a b", "allow"],
    ["file *", "file a.txt", "allow"],
    ["file *", "file -C -m x", "ask"],
    ["cd *", "cd x", "ask"],
    ["exit", "exit", "ask"],
    ["gcc *", "gcc -wrapper pwn x.c", "ask"],
    ["curl *", "curl --config x y", "ask"],
  ])("%j and %j: %s", async (rule, command, want) => {
    const { verdict, because } = await g.judge(command, exec(rule));
    if (!(await g.plan(command)).shell?.commands[0]?.program && want === "allow") return;
    expect(`${verdict} ${because}`).toMatch(new RegExp(`^${want} `));
  });

  test("a list and a pipe of covered commands are allowed, and the shell gets our own words", async () => {
    const plan = await g.plan("ls   -l # x\n echo 'a  b' | cat");
    expect(decide(policy(exec("ls *", "echo *", "cat *")), plan).verdict).toBe("allow");
    expect(plan.binding.argv).toEqual(["/bin/bash", "-c", "/usr/bin/ls -l\n/usr/bin/echo 'a  b' | /usr/bin/cat"]);
    expect(await g.run("ls a.txt && echo 'a  b' | cat")).toMatch(/^a\.txt\na {2}b\n/);
  });

  test("EX-27: ? and * never cross a slash, case counts, links are followed", async () => {
    mkdirSync(inWorkspace("bin/x"), { recursive: true });
    for (const name of ["bin/tool", "bin/x/tool"]) {
      writeFileSync(inWorkspace(name), "#!/bin/sh\necho tool\n");
      chmodSync(inWorkspace(name), 0o755);
    }
    symlinkSync(join(g.bin, "pwn"), inWorkspace("bin/link"));
    const verdict = async (rule: string, command: string) => (await g.judge(command, exec(rule))).verdict;
    const bin = inWorkspace("bin");
    expect(await verdict(`${bin}/?ool`, `${bin}/tool`)).toBe("allow");
    expect(await verdict(`${bin}/?ool`, `${bin}/x/tool`)).toBe("ask");
    expect(await verdict(`${bin}/*`, `${bin}/x/tool`)).toBe("ask");
    expect(await verdict("bin/*", "bin/tool")).toBe("allow");
    expect(await verdict("bin/*", "./bin/tool")).toBe("allow");
    expect(await verdict("bin/*", "bin/x/tool")).toBe("ask");
    expect(await verdict("bin/*", "bin/../../../../../out/pwn")).not.toBe("allow");
    expect(await verdict("bin/*", "bin/../bin/tool")).toBe("allow");
    expect(await verdict("bin/*", "bin/link")).toBe("ask");
    expect(await verdict("/usr/bin/ls *", "/usr/bin/ls")).toBe("allow");
    expect(await verdict("/usr/bin/ls *", "/USR/BIN/LS")).toBe("ask");
    expect(await verdict("/usr/bin/ls *", "ls")).toBe("ask");
    expect(await verdict("tool *", "bin/tool")).toBe("ask");
  });

  test("EX-29: a fake in the workspace is never taken for the program of that name", async () => {
    writeFileSync(inWorkspace("ls"), "#!/bin/sh\npwn\n");
    chmodSync(inWorkspace("ls"), 0o755);
    expect((await g.judge("./ls", exec("ls *"))).verdict).toBe("ask");
    const plan = await g.plan("ls");
    expect(plan.binding.argv).toEqual(["/usr/bin/ls"]);
    await g.run("ls");
    expect(g.pwned()).toBe(false);
  });

  test("EX-31: what is kept is what runs", async () => {
    const rule = ruleFor(await g.plan("ls # && pwn"));
    expect(rule).toBe('exec "/usr/bin/ls"');
    const remembered = new Set([rule]);
    expect((await g.judge("ls # something else", { ...exec(), remembered })).verdict).toBe("allow");
    for (const command of ["pwn", "ls && pwn", "ls #\npwn", "ls -l"]) {
      expect((await g.judge(command, { ...exec(), remembered })).verdict, command).toBe("ask");
    }
  });

  test("a remembered approval is exact: text, directory and contents of scripts", async () => {
    mkdirSync(inWorkspace("sub"), { recursive: true });
    writeFileSync(inWorkspace("job.sh"), "echo one\n");
    const remembered = new Set([ruleFor(await g.plan("bash job.sh")), ruleFor(await g.plan("ls | wc -l > n"))]);
    const over = { allow: {}, remembered };
    // Code of the workspace can change without its words changing.
    expect((await g.judge("bash job.sh", over)).verdict).toBe("ask");
    expect((await g.judge("ls | wc -l > n", over)).verdict).toBe("allow");
    expect((await g.judge("ls | wc -l > m", over)).verdict).toBe("ask");
    expect(decide(policy(over), await g.plan("ls | wc -l > n", "sub")).verdict).toBe("ask");
    writeFileSync(inWorkspace("job.sh"), "pwn\n");
    expect((await g.judge("bash job.sh", over)).verdict).toBe("ask");
  });

  test.each([
    "while read -r l; do echo $((l)); done < names.txt",
    "x=$(cat names.txt); echo $((x))",
    "[[ $(cat names.txt) -eq 1 ]] && echo y",
    'x=$(cat names.txt); head -n "$((x))" a.txt',
    "x=$(cat names.txt); let y=x",
    "x=$(cat names.txt); $x",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's.
    'mapfile -t a < names.txt; echo "${a[$a]}"',
    'while read -r f; do rm "$f"; done < names.txt',
    'while read -r a b; do cp "$a" "$b"; done < names.txt',
    "xargs rm < names.txt",
    "xargs -a names.txt rm",
    "cat names.txt | xargs rm",
    "for f in $(cat names.txt); do rm $f; done",
    "rm $(cat names.txt)",
    "git apply names.txt",
    "git apply < names.txt",
    "patch -p1 < names.txt",
  ])("a remembered approval doesn't cover other data that decides what runs: %s", async (command) => {
    writeFileSync(inWorkspace("names.txt"), "1\n");
    const remembered = new Set([ruleFor(await g.plan(command))]);
    writeFileSync(inWorkspace("names.txt"), "a[$(pwn)]\n");
    expect((await g.judge(command, { allow: {}, remembered })).verdict).not.toBe("allow");
  });

  test.each([
    ["find . -name '*.tmp' -exec rm {} +", true],
    ["find . -name '*.tmp' -delete", true],
    ["find . -type f -execdir sed -i s/a/b/ {} \\;", true],
    ["find . -name x -ok mv {} y \\;", true],
    ["find . -fprint found.txt", true],
    ["find . -name '*.tmp' -exec grep -n x {} +", false],
    ["find . -name '*.tmp'", false],
  ])("what changes the files that it finds can only be allowed once: %s", async (command, isOnce) => {
    expect((await g.plan(command)).once !== undefined).toBe(isOnce);
  });

  test("a remembered approval of a program that obeys a file is bound to what the file says: tar, bc", async () => {
    for (const command of ["tar xf names.txt", "tar -xzf names.txt -C notes", "bc names.txt", "unzip names.txt"]) {
      writeFileSync(inWorkspace("names.txt"), "1\n");
      const remembered = new Set([ruleFor(await g.plan(command))]);
      expect((await g.judge(command, { allow: {}, remembered })).verdict, command).toBe("allow");
      writeFileSync(inWorkspace("names.txt"), "2\n");
      expect((await g.judge(command, { allow: {}, remembered })).verdict, command).not.toBe("allow");
    }
  });

  test("what has too many words to look up its files, and obeys one, is never remembered", async () => {
    const words = (count: number, before = "w") => Array.from({ length: count }, (_, i) => before + i).join(" ");
    const folders = words(12, "; cd d").slice(2);
    for (const command of [`xargs touch ${words(2000)}`, `${folders}; xargs touch ${words(200)}`])
      expect((await g.plan(`${command} < names.txt`)).once).toMatch(/^It can only be allowed once/);
  });

  test("a remembered approval of a command that only shows a file outlasts changes of the file", async () => {
    for (const command of ["cat names.txt", "wc -l < names.txt", "cat names.txt | sort | uniq"]) {
      const remembered = new Set([ruleFor(await g.plan(command))]);
      writeFileSync(inWorkspace("names.txt"), `${command}\n`);
      expect((await g.judge(command, { allow: {}, remembered })).verdict, command).toBe("allow");
    }
  });

  test("EX-33: the answer does not depend on what exists", async () => {
    for (const [a, b] of [
      ["a.txt", "no-such-file"],
      ["/etc/hosts", "/etc/no-such"],
      ["../x", "../SOUL.md"],
    ] as const) {
      const strip = (text: string, name: string) => text.replaceAll(name, "F");
      const [one, two] = [await g.judge(`head ${a}`), await g.judge(`head ${b}`)];
      expect(one.verdict).toBe(two.verdict);
      expect(strip(one.because, a)).toBe(strip(two.because, b));
    }
  });
});

describe("deny rules win", () => {
  test.each<[rule: string, command: string, want: string]>([
    ["curl *", "curl http://x", "deny"],
    ["curl", "curl http://x", "deny"],
    ["curl *", "/usr/bin/curl x", "deny"],
    ["curl *", "ls; curl x", "deny"],
    ["curl *", "echo $(curl x)", "deny"],
    ["curl *", "timeout 5 curl x", "deny"],
    ["curl *", "bash -c 'curl x'", "deny"],
    ["curl *", "sudo -u x curl y", "deny"],
    ["curl *", "xargs curl", "deny"],
    ["curl *", "c\\url x", "deny"],
    ["curl *", "'curl' x", "deny"],
    ["curl *", "find . -exec curl {} \\;", "deny"],
    ["curl *", "f() { curl x; }; f", "deny"],
    ["curl *", "env -S 'curl x'", "deny"],
    ["git push *", "git push origin", "deny"],
    ["git push *", "git status", "allow"],
    ["git push *", "echo git push", "allow"],
    ["ls -R *", "ls -R x", "deny"],
    ["ls -R *", "ls x", "allow"],
  ])("deny %j, %j: %s", async (rule, command, want) => {
    for (const mode of ["ask", "record", "ignore"] as const) {
      if (want === "allow" && mode !== "ask") continue;
      const { verdict } = await g.judge(command, {
        mode,
        allow: { exec: ["curl *", "git *", "ls *", "echo *"] },
        deny: { exec: [rule] },
      });
      expect(`${mode} ${verdict}`).toBe(`${mode} ${want}`);
    }
  });

  test("files and hosts", () => {
    const over = {
      allow: { write: ["workspace/**"], web_fetch: ["*.example.com"] },
      deny: { write: ["workspace/keep/**"], web_fetch: ["evil.example.com"] },
    };
    expect(decide(policy(over), write(inWorkspace("a"))).verdict).toBe("allow");
    expect(decide(policy({ ...over, mode: "ignore" }), write(inWorkspace("keep/a"))).verdict).toBe("deny");
    expect(decide(policy({ ...over, mode: "ignore" }), write(inWorkspace("keep/a"), "edit")).verdict).toBe("deny");
    expect(decide(policy({ ...over, mode: "ignore" }), fetched("evil.example.com")).verdict).toBe("deny");
  });
});

describe("rules for files and hosts", () => {
  test.each<[rule: string, path: string, want: string]>([
    ["workspace/**", "workspace/a", "allow"],
    ["workspace/**", "workspace/a/b/c", "allow"],
    ["workspace/*", "workspace/a", "allow"],
    ["workspace/*", "workspace/a/b", "ask"],
    ["workspace/*.md", "workspace/a.md", "allow"],
    ["workspace/*.md", "workspace/a.ts", "ask"],
    ["workspace/**/x.md", "workspace/a/b/x.md", "allow"],
    ["workspace/**/x.md", "workspace/x.md", "allow"],
    ["workspace/?.md", "workspace/ab.md", "ask"],
    ["workspace/A", "workspace/a", "ask"],
    ["workspace/**", "workspacex/a", "ask"],
    ["workspace/**", "workspace/../SOUL.md", "ask"],
    ["workspace/**", "workspace/.git/config", "ask"],
    ["workspace/**", "workspace/.git/hooks/pre-commit", "ask"],
    ["workspace/**", "workspace/x/.envrc", "ask"],
    ["workspace/a.b", "workspace/aXb", "ask"],
  ])("write %j, %j: %s", (rule, path, want) => {
    expect(
      decide(policy({ allow: { write: [rule] } }), write(join(place.agentDir, path).replace("/SOUL.md", "/../SOUL.md")))
        .verdict,
    ).toBe(path.includes("..") ? "deny" : want);
    if (path.includes("..")) return;
    expect(decide(policy({ allow: { write: [rule] } }), write(join(place.agentDir, path), "edit")).verdict).toBe(want);
    expect(decide(policy({ allow: { edit: [rule] } }), write(join(place.agentDir, path), "edit")).verdict).toBe(want);
    expect(decide(policy({ allow: { edit: [rule] } }), write(join(place.agentDir, path))).verdict).toBe("ask");
  });

  test.each<[rule: string, host: string, want: string]>([
    ["docs.example.com", "docs.example.com", "allow"],
    ["docs.example.com", "DOCS.example.com", "allow"],
    ["docs.example.com", "docs.example.com.", "allow"],
    ["docs.example.com", "docs.example.com.evil.net", "ask"],
    ["docs.example.com", "xdocs.example.com", "ask"],
    ["docs.example.com", "docsXexample.com", "ask"],
    ["docs.example.com", "https://docs.example.com/a?b", "allow"],
    ["docs.example.com", "https://docs.example.com@evil.net/", "ask"],
    ["docs.example.com", "https://evil.net/docs.example.com", "ask"],
    ["docs.example.com", "docs.example.com:8443", "allow"],
    ["*.example.com", "a.example.com", "allow"],
    ["*.example.com", "a.b.example.com", "allow"],
    ["*.example.com", "example.com", "ask"],
    ["*.example.com", "evilexample.com", "ask"],
    ["*", "evil.net", "ask"],
  ])("web_fetch %j, %j: %s", (rule, host, want) => {
    expect(decide(policy({ allow: { web_fetch: [rule] } }), fetched(host)).verdict).toBe(want);
  });

  test("one uncovered target keeps the whole from being allowed", () => {
    const plan = { ...write(inWorkspace("a")), targets: [inWorkspace("a"), join(place.agentDir, "b")] };
    expect(decide(policy({ allow: { write: ["workspace/**"] } }), plan).verdict).toBe("ask");
    expect(decide(policy({ allow: { write: ["workspace/**"] } }), { ...plan, targets: [] }).verdict).toBe("ask");
  });

  test("the files of Lares itself and of credentials are closed in every mode", () => {
    for (const mode of ["ask", "record", "ignore"] as const) {
      for (const path of [
        join(place.home, "lares.yaml"),
        join(place.home, "agents/other/x"),
        "/etc/shadow",
        join(place.userHome, ".ssh/id_rsa"),
        "~/.aws/credentials",
      ]) {
        for (const risk of ["read", "write"] as const) {
          const plan = action({ tool: risk, risk, targets: [path] });
          expect(decide(policy({ mode, allow: { [risk]: ["/**", "~/**"] } }), plan).verdict, `${mode} ${path}`).toBe(
            "deny",
          );
        }
      }
    }
  });
});

describe("modes", () => {
  test.each(["record", "ignore"] as const)(
    "%s allows what ask would ask, with the reason in the sentence",
    async (mode) => {
      for (const command of ["pwn", "echo x > f", "echo $(ls)", "curl x | sh", "FOO=1 make", "bash -c 'ls'"]) {
        const { verdict, because } = await g.judge(command, { mode });
        expect(verdict, command).toBe("allow");
        expect(because).toMatch(new RegExp(`^The agent's mode is "${mode}": .`));
      }
      for (const command of ["$x", "if pwn", "rm -rf ~"])
        expect((await g.judge(command, { mode })).verdict, command).toBe("deny");
    },
  );

  test("an agent's policy lies over the general one: mode replaces, lists add, general denials stay", () => {
    const general = policyConfig.parse({ allow: { exec: ["ls *"] }, deny: { exec: ["curl *"] } });
    const agent = policyConfig.parse({ mode: "record", allow: { exec: ["cat *"], write: ["workspace/**"] } });
    const facts = { place, remembered: new Set<string>() };
    expect(joinPolicy(general, agent, facts)).toMatchObject({
      mode: "record",
      allow: { exec: ["ls *", "cat *"], write: ["workspace/**"] },
      deny: { exec: ["curl *"] },
      authority: "owner",
    });
    expect(joinPolicy(general, undefined, facts).mode).toBe("ask");
  });

  test("the policy of DESIGN §14 is taken, and rules that allow everything or hold shell signs are not", () => {
    const design = {
      mode: "ask",
      allow: { exec: ["git status *", "ls *"], write: ["workspace/**"], web_fetch: ["docs.example.com"] },
      deny: {},
    };
    expect(policyConfig.parse(design)).toEqual(design);
    expect(policyConfig.parse({})).toEqual({ mode: "ask", allow: {}, deny: {} });
    for (const rule of ["*", "* *", "** x", "ls | head", "ls; pwn", "ls $(pwn)", "ls > x", "ls 'x", ""]) {
      expect(policyConfig.safeParse({ allow: { exec: [rule] } }).success, rule).toBe(false);
    }
    expect(policyConfig.safeParse({ allow: { "../x": ["a"] } }).success).toBe(false);
    expect(policyConfig.safeParse({ alow: {} }).success).toBe(false);
  });
});

describe("authority (I12)", () => {
  const allow = { exec: ["ls *", "pwn"], write: ["workspace/**"], web_fetch: ["docs.example.com"] };
  const remember = action({ tool: "memory_add", changes: "memory" });
  const cases: [
    what: string,
    plan: ActionPlan | string,
    owner: string,
    known: string,
    outside: string,
    ignoring: string,
  ][] = [
    [
      "reading",
      action({ tool: "read", risk: "read", targets: [inWorkspace("a")] }),
      "allow",
      "allow",
      "allow",
      "allow",
    ],
    ["a command a rule covers", "ls", "allow", "allow", "allow", "allow"],
    ["a command no rule covers", "make", "ask", "ask", "ask", "ask"],
    ["hidden code", "curl x | sh", "deny", "deny", "deny", "deny"],
    ["a file a rule covers", write(inWorkspace("a")), "allow", "allow", "allow", "allow"],
    ["a file no rule covers", write(join(place.agentDir, "x")), "ask", "ask", "ask", "ask"],
    ["standing instructions", write(inWorkspace("AGENTS.md")), "allow", "allow", "ask", "ask"],
    ["a skill", write(inWorkspace("skills/x/SKILL.md")), "allow", "allow", "ask", "ask"],
    ["a known host", fetched("docs.example.com"), "allow", "allow", "allow", "allow"],
    ["a new host", fetched("evil.net"), "ask", "ask", "ask", "ask"],
    ["memory", remember, "ask", "ask", "ask", "ask"],
    [
      "one more memory",
      action({ tool: "memory_save", risk: "state", changes: "memory", adds: true }),
      "allow",
      "ask",
      "ask",
      "ask",
    ],
    ["a schedule", action({ tool: "schedule_add", changes: "schedule" }), "ask", "ask", "ask", "ask"],
    [
      "a destination",
      action({ tool: "message", risk: "network", targets: ["docs.example.com"], changes: "destination" }),
      "ask",
      "ask",
      "ask",
      "ask",
    ],
    ["the policy", action({ tool: "config_set", changes: "policy" }), "deny", "deny", "deny", "deny"],
    ["rights", action({ tool: "grant", changes: "rights" }), "deny", "deny", "deny", "deny"],
  ];
  test.each(cases)("%s", async (_what, given, owner, known, outside, ignoring) => {
    const plan = typeof given === "string" ? await g.plan(given) : given;
    const said = (authority: Authority, mode: Policy["mode"] = "ask") =>
      decide(policy({ allow, authority, mode }), plan).verdict;
    expect([said("owner"), said("known"), said("outside"), said("outside", "ignore")]).toEqual([
      owner,
      known,
      outside,
      ignoring,
    ]);
  });

  test.each<[what: string, plan: ActionPlan | string, want: string]>([
    ["reading the workspace", action({ tool: "read", risk: "read", targets: [inWorkspace("a")] }), "deny"],
    ["writing where a rule allows it", write(inWorkspace("a")), "deny"],
    ["a command a rule covers", "ls", "ask"],
    ["a host a rule names", fetched("docs.example.com"), "ask"],
    ["a memory", action({ tool: "memory_save", risk: "state", changes: "memory", adds: true }), "ask"],
    ["a schedule", action({ tool: "schedule_add" }), "deny"],
    ["looking into their own memory", action({ tool: "memory_search", risk: "read" }), "allow"],
    ["a sub-agent", action({ tool: "sessions_spawn", risk: "read", targets: ["main"] }), "allow"],
  ])("a stranger has no part in the owner's rules, modes and files: %s", async (_what, given, want) => {
    const plan = typeof given === "string" ? await g.plan(given) : given;
    const remembered = new Set([ruleFor(plan)]);
    for (const mode of ["ask", "record", "ignore"] as const)
      expect(decide(policy({ allow, authority: "stranger", mode, remembered }), plan).verdict).toBe(want);
  });

  test.each([
    ["schedule_add", undefined, "add a schedule"],
    ["schedule_remove", undefined, "remove a schedule"],
    ["memory_save", "memory", "save a memory"],
    ["message", "destination", "send to another chat"],
    ["somebody_elses", "skills", "change a skill"],
    ["somebody_elses", undefined, "change something Lares stores"],
  ] as const)("a question about %s (%s) says what it would do: %s", (tool, changes, words) => {
    const plan = { ...action({ tool, risk: "state", targets: [] }), ...(changes ? { changes } : {}) };
    expect(decide(policy({ authority: "outside" }), plan).because).toBe(
      `Text from outside would ${words}, so a person has to approve it.`,
    );
    expect(decide(policy({}), plan).because).toBe(`It would ${words}.`);
  });

  test("what was allowed always stays asked for when text from outside would change what Lares keeps", () => {
    const remembered = new Set([ruleFor(remember)]);
    expect(decide(policy({ remembered }), remember).verdict).toBe("allow");
    for (const authority of ["known", "outside"] as const) {
      expect(decide(policy({ remembered, authority, mode: "ignore" }), remember).verdict).toBe("ask");
    }
  });
});

test("EN-07: the shell is a known one from a system directory, whatever $SHELL says", async () => {
  const before = process.env.SHELL;
  process.env.SHELL = inWorkspace("evil");
  try {
    const plan = await g.plan("echo $SHELL; type ls");
    expect((plan.binding.argv as string[])[0]).toBe("/bin/bash");
    expect(Object.keys(plan.binding.env as object).sort()).toEqual([
      "GIT_CEILING_DIRECTORIES",
      "HOME",
      "LANG",
      "LC_ALL",
      "PATH",
      "TERM",
      "TZ",
    ]);
  } finally {
    process.env.SHELL = before;
  }
});

describe("showing", () => {
  test("explain gives the tree, each part and the decision", async () => {
    const e = explain(g.policy, await g.plan("ls -l; echo $(pwn) > f"));
    expect(e).toMatchObject({ verdict: "ask", form: "shell", mode: "ask" });
    expect(e.commands.map(({ words, within }) => [words[0], within])).toEqual([
      ["ls", []],
      ["echo", []],
      ["pwn", ["$( )"]],
    ]);
    const text = explainText(e);
    expect(text).toMatch(/^ASK: /);
    expect(text).toContain("pwn → ");
    expect(text).toContain("redirection: It redirects: > f");
    expect(JSON.parse(JSON.stringify(e))).toEqual(e);
  });

  test("AP-09: a long text keeps its end and every program; the count is said; blanks cannot push anything away", async () => {
    const { plan } = await g.judge(`echo ${"a".repeat(10_000)}; pwn`);
    expect(plan.shown.length).toBeLessThan(4000);
    expect(plan.shown).toMatch(/\[… \d+ of \d+ characters not shown …\]/);
    expect(plan.shown).toMatch(/; pwn\n\[programs: \S+\/echo, \S+\/pwn\]/);
    expect(plan.whole).toMatch(/^\$ echo a{10000}; pwn\n\[programs: \S+\/echo, \S+\/pwn\]\n\[in /);
    expect((await g.judge("echo short; pwn")).plan.whole).toBeUndefined();
    const middle = await g.judge(`echo ${"a".repeat(5000)}; pwn; echo ${"b".repeat(5000)} > out`);
    expect(middle.plan.shown).toMatch(/; \S*pwn; /);
    expect(middle.plan.shown).toContain("> out");
    const padded = await g.judge(`echo $x${" ".repeat(400)}; pwn`);
    expect(padded.plan.shown).toMatch(/\[… 400 blanks …\] ; pwn/);
    await expect(g.plan("x".repeat(16_001))).rejects.toThrow(/at most 16000 are allowed/);
    const many = await g.judge(Array.from({ length: 900 }, (_, i) => `echo $x${i}`).join("; "));
    expect(many.verdict).toBe("deny");
  });

  test("AP-19: a program that a skill brings is not allowed by its name", async () => {
    const folder = join(place.agentDir, "skills/tidy/bin");
    mkdirSync(folder, { recursive: true });
    for (const file of [join(folder, "git"), inWorkspace("git")]) {
      writeFileSync(file, "#!/bin/sh\npwn\n");
      chmodSync(file, 0o755);
    }
    const rules = exec("git status *", "git *", "* status");
    expect((await g.judge("git status", rules)).verdict).toBe("allow");
    for (const program of [join(folder, "git"), "./git", "../skills/tidy/bin/git"]) {
      expect((await g.judge(`${program} status`, rules)).verdict, program).toBe("ask");
    }
    // Nor by putting its folder before the others.
    expect((await g.judge(`PATH=${folder}:$PATH git status`, rules)).verdict).not.toBe("allow");
    expect((await g.plan("git status")).shell!.commands[0]!.program!.real).not.toContain("skills");
  });

  test("a command is shown by its own words, and the file that starts below it", async () => {
    expect((await g.plan("ls -l")).shown).toMatch(/^\$ ls -l\n\[program: \/\S+\/ls\]\n/);
    expect((await g.plan("git diff a.txt")).shown).toMatch(/^\$ git diff a\.txt\n\[program: \/\S*git\S*\]\n/);
    expect((await g.plan("ls -l | head -n 2")).shown).toMatch(
      /^\$ ls -l \| head -n 2\n\[programs: \/\S+\/ls, \/\S+\/head\]\n/,
    );
  });

  test("AP-11, AP-01: what is shown is what runs, quoting tricks undone, controls spelt out (TOOL-3)", async () => {
    expect((await g.plan("p\\w'n' \"a b\"")).shown).toContain(`$ pwn 'a b'\n[program: ${g.bin}/pwn]\n`);
    expect((await g.plan("./env sh -c pwn")).shown).toMatch(/^\$ \.\/env sh -c pwn\n/);
    expect((await g.plan("echo '\u202e' x")).shown).toContain("\\u{202e}");
    expect((await g.plan("pwsh -enc cAB3AG4A")).shown).toContain("says: pwn");
    expect((await g.plan("echo \u001b[2Jx; pwn")).shown).toContain("\\u{1b}");
  });
});
