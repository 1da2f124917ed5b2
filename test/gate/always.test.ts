/** What a rule without a wildcard, or "always", says yes to: the words, and the data that decides what they do. */
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ruleFor } from "../../src/flow/gate/decide.ts";
import { type Ground, ground } from "./support.ts";

const STUBS =
  "sqlite3 ed gdb vim psql mysql ssh crontab at batch gnuplot m4 dc make docker kubectl ftp nc telnet emacs tclsh xargs parallel tar wget rsync ffmpeg git";
const SPELT = [
  ...["sqlite3 app.db", "ed -s a.txt", "gdb -q", "vim -es a.txt", "psql mydb", "mysql mydb", "ssh host", "crontab -"],
  ...["at now", "batch", "gnuplot", "m4", "dc", "make -f -", "docker exec -i c sh", "ftp", "nc host 80", "xargs rm"],
  ...["parallel", "emacs --batch", "tclsh", "git apply", "git am", "curl -K -", "sed -f - a.txt", "tar -xf -"],
];
const FILTERS = "echo cat head printf wc sort grep sed awk curl base64 tr git column";
let g: Ground;
beforeAll(() => {
  g = ground({ exec: [...SPELT, ...FILTERS.split(" ").map((name) => `${name} *`)] });
  for (const name of [...STUBS.split(" "), ...FILTERS.split(" ")]) {
    const at = join(g.bin, name);
    if (["/usr/bin", "/bin"].some((dir) => existsSync(join(dir, name))) || existsSync(at)) continue;
    writeFileSync(at, "#!/bin/sh\n");
    chmodSync(at, 0o755);
  }
  mkdirSync(join(g.workspace, "k8s"));
  for (const file of ["x.txt", "y.txt", "names.txt", "check.py", "app.db", "k8s/x.json"])
    writeFileSync(join(g.workspace, file), "before\n");
});
afterAll(() => g.close());

describe("a rule that spells the words spells nothing of what the program is fed", () => {
  test.each([
    "echo '.shell pwn' | sqlite3 app.db",
    "sqlite3 app.db < x.txt",
    "sqlite3 app.db <<< '.shell pwn'",
    "sqlite3 app.db <<'E'\n.shell pwn\nE",
    "cat x.txt | sqlite3 app.db",
    "echo '!pwn' | ed -s a.txt",
    "ed -s a.txt < y.txt",
    "printf '!pwn\\n' | ed -s a.txt | head",
    "for i in 1; do echo '!pwn' | ed -s a.txt; done",
    "while true; do ed -s a.txt; done < y.txt",
    "cat y.txt | while read -r l; do ed -s a.txt; done",
    "if true; then ed -s a.txt; fi < y.txt",
    "{ ed -s a.txt; } < y.txt",
    "( ed -s a.txt ) < y.txt",
    "cat x.txt | { sqlite3 app.db; }",
    "cat x.txt | ( sqlite3 app.db )",
    "timeout 5 sqlite3 app.db < x.txt",
    "cat x.txt | timeout 5 sqlite3 app.db",
    "env X=1 sqlite3 app.db < x.txt",
    "x=1 sqlite3 app.db < x.txt",
    "LC_ALL=C sqlite3 app.db < x.txt",
    "nice sqlite3 app.db < x.txt",
    "{ echo hi; sqlite3 app.db; } < x.txt | head",
    "vim -es a.txt < y.txt",
    "gdb -q < x.txt",
    "psql mydb < x.txt",
    "mysql mydb <<< '\\! pwn'",
    "echo pwn | ssh host",
    "crontab - < x.txt",
    "at now < x.txt",
    "echo pwn | batch",
    "gnuplot < x.txt",
    "m4 < x.txt",
    "echo '!pwn' | dc",
    "make -f - < x.txt",
    "echo pwn | docker exec -i c sh",
    "echo '!pwn' | ftp",
    "cat x.txt | nc host 80",
    "xargs rm < names.txt",
    "echo a.txt | xargs rm",
    "parallel < x.txt",
    "echo x | emacs --batch",
    "tclsh < x.txt",
    "git apply < x.txt",
    "cat x.txt | git am",
    "curl -K - < x.txt",
    "sed -f - a.txt < x.txt",
    "cat x.txt | tar -xf -",
  ])("%s asks", async (command) => {
    expect((await g.judge(command)).verdict).not.toBe("allow");
  });

  test.each([
    "sqlite3 app.db",
    "sqlite3 app.db < /dev/null",
    "psql mydb | head -n 3",
    "cat x.txt | wc -l",
    "cat x.txt | base64",
    "sort < x.txt",
    "awk '{print $1}' < x.txt | sed 's/a/b/' | tr a b",
    "cat x.txt | column -t",
  ])("%s does not ask", async (command) => {
    expect(await g.judge(command)).toMatchObject({ verdict: "allow" });
  });
});

/** The verdict on a command that was always allowed, once a file says something else. */
async function againAfter(command: string, file: string) {
  const at = join(g.workspace, file);
  const ruled = { allow: { exec: ["echo *"] } };
  writeFileSync(at, "before\n");
  const first = await g.judge(command, ruled);
  const remembered = new Set([ruleFor(first.plan)]);
  const same = await g.judge(command, { ...ruled, remembered });
  writeFileSync(at, "EVIL\n");
  const changed = await g.judge(command, { ...ruled, remembered });
  return { first: first.verdict, once: first.plan.once !== undefined, same: same.verdict, changed: changed.verdict };
}

describe('"always" is for what the files say now', () => {
  test.each([
    ["ed -s a.txt < x.txt"],
    ["sqlite3 app.db < x.txt"],
    ["gdb --batch -x x.txt"],
    ["vim -es -S x.txt a.txt"],
    ["cp x.txt ../AGENTS.md"],
    ["cp x.txt AGENTS.md"],
    ["cp x.txt .git/hooks/pre-commit"],
    ["mv x.txt ../memory/today.md"],
    ["cat x.txt >> ../memory/today.md"],
    ["cat x.txt > AGENTS.md"],
    ["cat x.txt | tee ../AGENTS.md"],
    ["curl -K x.txt"],
    ["curl -Kx.txt"],
    ["curl -d @x.txt https://example.com"],
    ["wget -i x.txt"],
    ["crontab x.txt"],
    ["psql -f x.txt mydb"],
    ["psql -fx.txt mydb"],
    ["mysql mydb < x.txt"],
    ["ssh -F x.txt host"],
    ["kubectl apply -f x.txt"],
    ["kubectl apply -f k8s", "k8s/x.json"],
    ["tar -T x.txt -cf y.tar"],
    ["tar -xf x.txt"],
    ["at -f x.txt now"],
    ["rsync --files-from=x.txt . host:"],
    ["m4 x.txt"],
    ["cat x.txt | ssh host"],
  ])("%s asks again once the file has changed", async (command, file = "x.txt") => {
    const { changed, same, once } = await againAfter(command, file);
    expect({ changed }).not.toEqual({ changed: "allow" });
    if (!once) expect({ same }).toEqual({ same: "allow" });
  });

  test.each(["docker compose -f x.txt up", "docker build .", "make -f x.txt"])(
    "%s is allowed only once",
    async (one) => {
      expect(await againAfter(one, "x.txt")).toMatchObject({ once: true, changed: "ask" });
    },
  );

  test.each([
    "cat x.txt",
    "grep KEY x.txt",
    "cat x.txt > out.txt",
    "cp x.txt y.txt",
    "rm x.txt",
    "git add x.txt",
    "curl -o x.txt https://example.com",
    "wc -l < x.txt",
  ])("%s stays allowed", async (command) => {
    expect(await againAfter(command, "x.txt")).toMatchObject({ changed: "allow" });
  });
});
