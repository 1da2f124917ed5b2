/** A rule that Lares proposes allows what it is proposed for. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AdviceContext } from "../../src/core/contracts/index.ts";
import { adviseRules } from "../../src/flow/gate/config.ts";
import { type Ground, ground } from "./support.ts";

/** Programs of which a rule with a star covers hardly anything, and others. */
const PROGRAMS =
  "sh bash dash zsh ksh python python3 python3.12 perl ruby node nodejs bun deno tsx php lua npx bunx make gmake sqlite3 sqlite psql mysql ssh rsync docker env time timeout xargs tar sed awk ed vim less ln dd patch install openssl ls cat git jq yq tee find sort curl wget npm pytest cargo cp mv".split(
    " ",
  );

let g: Ground;
beforeAll(() => {
  g = ground({});
  mkdirSync(join(g.workspace, "tools"));
  writeFileSync(join(g.workspace, "tools/report"), "x\n");
  writeFileSync(join(g.workspace, "app.db"), "");
  for (const name of PROGRAMS) {
    writeFileSync(join(g.bin, name), "#!/bin/sh\n");
    chmodSync(join(g.bin, name), 0o755);
  }
});
afterAll(() => g.close());

const AT: AdviceContext = { config: {}, env: {}, folders: [], home: "/h", running: false, now: 0 };
async function adviceOn(rule: string): Promise<string> {
  return (
    (await adviseRules(["exec"], new Set(["cd", "type", "command"]))["policy.allow.exec.*"]!(rule, AT, "exec"))
      ?.message ?? ""
  );
}
/** The rules in quotes in a sentence, without the one it is about. */
function proposedIn(said: string, about: string): string[] {
  return [...said.matchAll(/"([^"]+)"/g)]
    .map(([, rule]) => rule!)
    .filter((rule) => rule !== about && !rule.includes("…"));
}

/** What somebody would run under such a rule. */
function commandsFor(rule: string): string[] {
  const bare = rule.replace(/ \*$/, "");
  if (bare === rule) return [rule];
  if (rule.startsWith("sqlite3")) return [`${bare} .tables`, `${bare} 'select a from b'`];
  if (rule === "which *") return ["type ls", "command -v ls"];
  if (/^(npx|python[\d.]* -m) /.test(rule)) return [bare, `${bare} --quiet`, `${bare} -q x`];
  return [bare, `${bare} --month 10`, `${bare} -q x`];
}

describe.each(PROGRAMS)("%s", (name) => {
  test.each([`${name} *`, `${name}*`, `${name}* *`])(
    "what is proposed instead of %j allows what it is for",
    async (rule) => {
      for (const proposed of proposedIn(await adviceOn(rule), rule)) {
        expect(await adviceOn(proposed), proposed).toBe("");
        // Looking and copying are judged by their own arguments.
        if (proposed === `${name} *`) continue;
        for (const command of commandsFor(proposed))
          expect(await g.judge(command, { allow: { exec: [proposed] } }), `${proposed}: ${command}`).toMatchObject({
            verdict: "allow",
          });
      }
    },
  );
});

test.each(["type *", "command *"])("what is proposed instead of %s allows what it is for", async (rule) => {
  const [proposed] = proposedIn(await adviceOn(rule), rule);
  expect(proposed).toBe("which *");
  const command = commandsFor(proposed!).find((one) => one.startsWith(rule.slice(0, 4)))!;
  expect(await g.judge(command, { allow: { exec: [proposed!] } })).toMatchObject({ verdict: "allow" });
});

/** Commands that ask under a rule for the whole program; a sentence that proposes another rule has to be right. */
test.each([
  "git push",
  "git push origin main",
  "git commit -m x",
  "git add -A",
  "git stash push -m wip",
  "git switch -c x",
  "git checkout -b x",
  "git merge main",
  "git rebase main",
  "git pull",
  "git pull --rebase",
  "git clone https://example.com/x.git",
  "git init",
  "git rm a.txt",
  "git mv a.txt b.txt",
  "git cherry-pick HEAD",
  "git revert HEAD",
  "git reset --hard",
  "git worktree add x",
  "git submodule update --init",
  "git bisect start",
  "git filter-branch --tree-filter pwn",
  "git config user.name x",
  "git push --receive-pack=pwn",
  "git rebase --exec pwn",
  "git foo --bar",
  "git push ext::sh",
  "git mv a.txt AGENTS.md",
  "git add ../x",
  "git checkout -- .git/config",
  "git commit -F .env",
  "sqlite3 app.db 'select a from b'",
])("%s: the rule that its sentence proposes allows it", async (command) => {
  const { verdict, because } = await g.judge(command, { allow: { exec: ["git *", "sqlite3 app.db *"] } });
  expect(verdict).toBe("ask");
  const covered = /covered by "([^"]+)"/.exec(because)?.[1] ?? "";
  for (const proposed of proposedIn(because, covered)) {
    const meant = proposed.startsWith("sqlite3") ? command.replace("sqlite3", "sqlite3 -safe") : command;
    expect(await g.judge(meant, { allow: { exec: [proposed] } }), `${because}`).toMatchObject({ verdict: "allow" });
  }
});
