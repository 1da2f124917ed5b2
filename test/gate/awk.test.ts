/** awk, versions and listings: what is read before it runs, and so doesn't ask. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Ground, ground } from "./support.ts";

let g: Ground;
beforeAll(() => {
  const names = ["awk", "node", "python3", "bash", "unzip", "cat", "ls", "head"];
  g = ground({ exec: names.map((name) => `${name} *`), write: ["workspace/**"] });
  for (const name of ["awk", "node", "python3", "unzip"])
    writeFileSync(join(g.bin, name), "#!/bin/sh\n", { mode: 0o755 });
  for (const name of ["notes.txt", "x.awk", ".env", "x.zip"]) writeFileSync(join(g.workspace, name), "a b\n");
});
afterAll(() => g.close());

describe("what was read and found harmless does not ask", () => {
  test.each([
    "awk '{print $1}' notes.txt",
    "awk -F, '{print $2}' notes.txt",
    "awk -F ',' 'NR==1{print NF}' notes.txt",
    "awk '/x/{print $1}' notes.txt",
    "awk '{s+=$1} END{print s}' notes.txt",
    "awk 'NR%2==0 && !/foo/ {printf \"%s\\n\", $1}' notes.txt",
    "awk '!a[$0]++' notes.txt",
    "awk 'length($0) < 80 || /^#/' notes.txt",
    "cat notes.txt | awk '{print $NF}' | head -n 2",
    "node --version",
    "node -v",
    "python3 --version",
    "python3 -V",
    "unzip -l x.zip",
  ])("%s", async (command) => {
    expect(await g.judge(command)).toMatchObject({ verdict: "allow" });
  });
});

describe("everything else of these programs asks", () => {
  test.each([
    "awk '{print $1}' /etc/passwd",
    "awk '{print}' .env",
    "awk '{print > \"out\"}' notes.txt",
    "awk '{print >> \"out\"}' notes.txt",
    "awk '{print | \"sh\"}' notes.txt",
    "awk '{print |& \"sh\"}' notes.txt",
    "awk 'BEGIN{system(\"id\")}'",
    "awk 'BEGIN{system (\"id\")}'",
    "awk 'BEGIN{\"id\"|getline x; print x}'",
    "awk 'BEGIN{while((getline l < \"/etc/passwd\")) print l}'",
    "awk 'BEGIN{getline < \"/etc/passwd\"; print}'",
    "awk 'BEGIN{print ENVIRON[\"HOME\"]}'",
    "awk 'BEGIN{ARGV[1]=\"/etc/passwd\";ARGC=2}{print}' notes.txt",
    'awk \'BEGIN{print PROCINFO["pid"]; SYMTAB["ARGV"]}\' notes.txt',
    "awk '@load \"x\"; {print}' notes.txt",
    'awk \'{a="sys"; @a("id")}\' notes.txt',
    "awk 'function f(){} {print}' notes.txt",
    "awk '/a[/]b/{print}' notes.txt",
    "awk '{print (1)/2; x=\"/\" }' notes.txt",
    "awk '{print \"a' notes.txt",
    "awk '{print} # comment' notes.txt",
    "awk '{print}' x=1 notes.txt",
    "awk -v x=1 '{print x}' notes.txt",
    "awk -f x.awk notes.txt",
    "awk -Fx -f x.awk notes.txt",
    "awk --file=x.awk notes.txt",
    "awk -i inplace '{print}' notes.txt",
    "awk '{print}' notes.txt; awk 'BEGIN{system(\"id\")}'",
    "awk",
    "node",
    "node --version x.js",
    "node -r ./x.js --version",
    "python3 -v",
    "python3 -V x.py",
    "python3 --version; python3 -c 'print(1)'",
    "bash --version x",
    "unzip x.zip",
    "unzip -p x.zip a",
    "unzip -l x.zip -d ..",
    "unzip -l /etc/x.zip",
  ])("%s", async (command) => {
    expect((await g.judge(command)).verdict).not.toBe("allow");
  });
});
