/** A fifth list of everyday commands that asked for nothing, each kind with its hostile twins. */
import { chmodSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { programAt } from "../support/not-run.ts";
import { type Ground, ground } from "./support.ts";

const PROGRAMS = "ls cat head tail wc grep sed awk tar date sort echo printf tee chmod cp mv git find";
let g: Ground;
beforeAll(() => {
  g = ground({ exec: PROGRAMS.split(" ").map((name) => `${name} *`), write: ["workspace/**"] });
  for (const name of PROGRAMS.split(" ")) {
    if (programAt(name)) continue;
    writeFileSync(join(g.bin, name), "#!/bin/sh\n");
    chmodSync(join(g.bin, name), 0o755);
  }
  const files = ["b.txt", "data.csv", "src/app.ts", "src/view.ts", "README.md", "g/one.txt", "keys/.env", "AGENTS.md"];
  for (const file of files) {
    mkdirSync(dirname(join(g.workspace, file)), { recursive: true });
    writeFileSync(join(g.workspace, file), "a b 3\n");
  }
  symlinkSync(join(g.out, "secret"), join(g.workspace, "linked.txt"));
  symlinkSync("AGENTS.md", join(g.workspace, "orders.txt"));
  symlinkSync("b.txt", join(g.workspace, "inner.txt"));
  writeFileSync(join(g.workspace, "hard.txt"), "x\n");
  linkSync(join(g.workspace, "hard.txt"), join(g.workspace, "other.txt"));
});
afterAll(() => g.close());

const runs = (commands: readonly string[], over: Parameters<Ground["judge"]>[1] = {}) =>
  test.each(commands)("%s does not ask", async (command) => {
    expect(await g.judge(command, over)).toMatchObject({ verdict: "allow" });
  });
const stops = (commands: readonly string[], over: Parameters<Ground["judge"]>[1] = {}) =>
  test.each(commands)("%s is not allowed", async (command) => {
    expect((await g.judge(command, over)).verdict).not.toBe("allow");
  });
const UNWRITTEN = { allow: { exec: PROGRAMS.split(" ").map((name) => `${name} *`) } };

describe("awk compares with >, and writes with it only behind print", () => {
  runs([
    "awk '$1 > 5' data.csv",
    "awk '$1 > 5 {print $2}' data.csv",
    "awk 'NR>1' data.csv",
    "awk 'NR > 1 && $2 > 3 {print $1}' data.csv",
    "awk '{ if ($1 > 5) print }' data.csv",
    "awk -F, '$3 >= 10 { n++ } END { print n }' data.csv",
    "awk '{print $1; if ($2 > 3) n++} END {print n}' data.csv",
    "awk '{print $1} $2 > 3' data.csv",
    "cat data.csv | awk '$3 > 100' | head -n 5",
  ]);
  stops([
    "awk '{print > \"x\"}' data.csv",
    "awk '{print $1 > \"AGENTS.md\"}' data.csv",
    'awk \'{print $1,\n"x" > "AGENTS.md"}\' data.csv',
    "awk '{print $1\n> \"AGENTS.md\"}' data.csv",
    "awk '{print ($1) > \"AGENTS.md\"}' data.csv",
    "awk '{print($1, $2) > \"AGENTS.md\"}' data.csv",
    'awk \'{printf "%s", $1 > "AGENTS.md"}\' data.csv',
    'awk \'{printf("%s", $1) > "AGENTS.md"}\' data.csv',
    "awk '{print $1 >> \"AGENTS.md\"}' data.csv",
    "awk '$1 >> \"AGENTS.md\"' data.csv",
    'awk \'{print ";" > "AGENTS.md"}\' data.csv',
    'awk \'{print "}" > "AGENTS.md"}\' data.csv',
    'awk \'{print "\\";" > "AGENTS.md"}\' data.csv',
    "awk '{print /;/ > \"AGENTS.md\"}' data.csv",
    "awk '{print $1 ~ /;/ > \"AGENTS.md\"}' data.csv",
    "awk '{print ($1 > 5)}' data.csv",
    "awk '{print a[1] > $1}' data.csv",
    "awk '$1 > 5 {print > $2}' data.csv",
    "awk '{if ($1 > 5) print $1 > \"AGENTS.md\"; else n++}' data.csv",
    "awk '{if (1) print $1 > $2}' data.csv",
    "awk '{for (i=0;i>3;i++) print i > \"AGENTS.md\"}' data.csv",
    "awk '{do print $1 > \"AGENTS.md\"; while (0)}' data.csv",
    "awk '{print $1 # ;\n > \"AGENTS.md\"}' data.csv",
    "awk '{print $1 \\\n > \"AGENTS.md\"}' data.csv",
    "awk '$1 > 5 {print | \"pwn\"}' data.csv",
    "awk '$1 > 5 {system(\"pwn\")}' data.csv",
    "awk '(getline x < \"/etc/passwd\") > 0 {print x}' data.csv",
    "awk '$1 > 5' /etc/passwd",
    "awk '$1 > 5' keys/.env",
  ]);
});

describe("sed -i changes the files that may be written", () => {
  runs([
    "sed -i s/a/b/ b.txt",
    "sed -i 's/a/b/g' src/app.ts",
    "sed -i '/foo/d' b.txt",
    "sed -i -E 's/[a-z]+/x/' src/app.ts",
    "sed -Ei 's/a/b/' src/app.ts",
    "sed -i.bak s/a/b/ b.txt",
    "sed --in-place=.bak s/a/b/ b.txt",
    "sed -i -e s/a/b/ -e s/c/d/ b.txt",
    "sed -i 's/a/b/' src/app.ts src/view.ts b.txt",
    "sed -i 's/a/b/' src/*.ts",
    "sed -e s/a/b/ b.txt",
    "sed -n -e 1,3p -e '$p' b.txt",
    "sed -i s/a/b/ b.txt && cat b.txt",
    "sed -i s/a/b/ inner.txt",
  ]);
  stops([
    "sed -i s/a/b/ AGENTS.md",
    "sed -i s/a/b/ ../AGENTS.md",
    "sed -i.md s/a/b/ AGENTS",
    "sed -i.bak s/a/b/ .git/config",
    "sed -i s/a/b/ .gitattributes",
    "sed -i s/a/b/ .curlrc",
    "sed -i s/a/b/ keys/.env",
    "sed -i s/a/b/ linked.txt",
    "sed -i s/a/b/ orders.txt",
    "sed -i s/a/b/ hard.txt",
    "sed -i s/a/b/ /etc/hosts",
    "sed -i 's/a/b/w AGENTS.md' b.txt",
    "sed -i 's/a/pwn/e' b.txt",
    "sed -i '1e pwn' b.txt",
    "sed -i 'r /etc/passwd' b.txt",
    "sed -iE s/a/b/ b.txt",
    "sed -in s/a/b/ b.txt",
    "sed -i=.bak s/a/b/ b.txt",
    "sed -i../x s/a/b/ b.txt",
    "sed '-i*/../../AGENTS.md' s/a/b/ b.txt",
    "sed -i --follow-symlinks s/a/b/ b.txt",
    "sed -i -f evil.sh b.txt",
    "sed -i -e 'w AGENTS.md' b.txt",
    "sed -e p -e 'w AGENTS.md' b.txt",
    "sed -e s/a/b/ -e 'a\\' -e 'x' b.txt",
    "sed s/a/b/ b.txt -e 'e pwn'",
    "sed p b.txt -i -e 'w AGENTS.md'",
    "sed --expression='w AGENTS.md' b.txt",
    "sed -i p 'w AGENTS.md' b.txt",
    "sed -i p wAGENTS.md b.txt",
    "sed -i p s1a1b1wAGENTS.md b.txt",
    "sed -i p 1wAGENTS.md b.txt",
    "sed -i p r/etc/passwd b.txt",
    "sed -i s/a/b/ config && git status",
    "sed -s -i s/a/b/ b.txt",
    "echo x > orders.txt",
    "echo x | tee orders.txt",
    "sort -o orders.txt b.txt",
    "cp b.txt orders.txt",
    "sed -i 's/a/b/' *.md",
  ]);
  stops(["sed -i s/a/b/ b.txt", "sed -i.bak s/a/b/ src/app.ts"], UNWRITTEN);
  stops(["sed -i s/a/b/ b.txt", "cat b.txt | tee b.txt", "sort -o b.txt b.txt", "tar czf b.txt src"], {
    deny: { write: ["workspace/b.txt"] },
  });
  stops(["sed -i s/a/b/ AGENTS.md", "sed -i.bak s/a/b/ ../USER.md"], { mode: "record", tainted: true });
});

describe("tar packs files of the workspace; what it unpacks asks", () => {
  runs([
    "tar czf out.tgz src",
    "tar -czf dist.tar.gz src README.md",
    "tar cf src.tar src",
    "tar -cvzf out.tgz src",
    "tar -czf out.tgz --exclude=node_modules --exclude='*.log' src",
    "tar czf out.tgz src && tar tzf out.tgz",
    "tar czf out.tgz --exclude=.env keys",
  ]);
  stops([
    "tar xzf out.tgz",
    "tar xzf out.tgz -C src",
    "tar -xf out.tgz a.txt",
    "tar czf AGENTS.md src",
    "tar czf ../AGENTS.md src",
    "tar czf .curlrc src",
    "tar czf skills/x.tgz src",
    "tar czf /tmp/x.tgz src",
    "tar czf host:x.tgz src",
    "tar czf orders.txt src",
    "tar czf linked.txt src",
    "tar czf out.tgz /etc",
    "tar czf out.tgz ..",
    "tar czf out.tgz -C / etc",
    "tar czf out.tgz keys/.env",
    "tar czf out.tgz keys",
    "tar czf out.tgz .",
    "tar czf out.tgz keys --exclude=.env",
    "tar czf out.tgz --exclude=x/.env keys",
    "tar czf out.tgz -h src",
    "tar czhf out.tgz src",
    "tar czf out.tgz linked.txt",
    "tar czf out.tgz --to-command=pwn src",
    "tar czf out.tgz --checkpoint-action=exec=pwn --checkpoint=1 src",
    "tar czf out.tgz -I pwn src",
    "tar czf out.tgz --use-compress-program=pwn src",
    "tar czf out.tgz -T names.txt",
    "tar czf out.tgz --remove-files src",
    "tar czf out.tgz @b.txt",
    "tar czf - src",
    "tar cf config src && git status",
    "tar cxf out.tgz src",
    "tar rf out.tar src",
  ]);
  stops(["tar czf out.tgz src"], UNWRITTEN);
});
