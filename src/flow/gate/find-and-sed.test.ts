import { describe, expect, test } from "vitest";
import { judgeFind, judgeSed } from "./find-and-sed.ts";

describe("find", () => {
  test("its places and the files its tests look at are files; the values of other tests are not", () => {
    const { files, concerns } = judgeFind("src lib -name *.ts -newer build/stamp -print".split(" "));
    expect(files.map(({ path }) => path)).toEqual(["src", "lib", "build/stamp"]);
    expect(concerns).toEqual([]);
  });

  test("following links is noticed where it is said", () => {
    expect(judgeFind(["-L", "src"]).follows).toBe(0);
    expect(judgeFind(["src", "-follow"]).follows).toBe(1);
    expect(judgeFind(["src", "-name", "-L"]).follows).toBeUndefined();
  });

  test.each(["-delete", "-exec", "-execdir", "-ok", "-fprint", "-fls", "-files0-from", "-unheard-of"])(
    "%s is a concern",
    (word) => {
      expect(judgeFind(["src", word, "x"]).concerns[0]).toMatchObject({
        index: 1,
        text: expect.stringContaining(word),
      });
    },
  );
});

describe("sed", () => {
  test.each([
    "p",
    "1,5p",
    "$d",
    "/a/,/b/!d",
    "s/a/b/g",
    "s|a|b|Ip",
    "2q",
    "s/[a-z]/x/",
    "1p;$p",
    "/a\\/b/d",
    "=",
    "s/[[:space:]]*$//",
    "s/[^[:alnum:]_\\t]//g",
    "s,[[a],b,",
  ])("%s only prints and replaces", (script) => {
    const { concerns, files } = judgeSed(["-n", script, "notes.md"]);
    expect(concerns).toEqual([]);
    expect(files).toEqual([{ index: 2, path: "notes.md", use: "content" }]);
  });

  test.each([
    "w out",
    "s/a/b/w out",
    "s/a/b/e",
    "e date",
    "1e",
    "r secret",
    "p;w out",
    "{p}",
    "s/a/b/\nw out",
    "s/[/]w out/",
    "s,[[:space:],],;s,e;#,x,",
    "s,[[:space:],],;s,w out,x,",
    "s,[[.a.],],;s,e;#,x,",
    "s,[[=a=],],;s,e;#,x,",
    "s,[[:no:],],;s,e;#,x,",
    "s,[^[:space:],],;s,e;#,x,",
    "s,[a[[:space:],],;s,e;#,x,",
    "s:[[:space:]:]:;s:e;#:x:",
    "s,[\\],],;s,e;#,x,",
    "s,[a\\,],;s,e;#,x,",
    "/[[:space:]/]/p;s/x/y/",
    "p;",
    "",
  ])("%j is a concern", (script) => {
    expect(judgeSed([script, "notes.md"]).concerns.length).toBeGreaterThan(0);
  });

  test.each([
    [["-i", "s/a/b/", "notes.md"], ["notes.md"]],
    [
      ["-ni.bak", "-e", "p", "notes.md"],
      ["notes.md", "notes.md.bak"],
    ],
    [
      ["--in-place", "p", "a.md", "b.md"],
      ["a.md", "b.md"],
    ],
    [
      ["--in-place=.old", "p", "a.md"],
      ["a.md", "a.md.old"],
    ],
  ])("%j writes %j", (args, written) => {
    const { concerns, writes } = judgeSed(args);
    expect(concerns).toEqual([]);
    expect(writes?.map(({ path }) => path)).toEqual(written);
  });

  test.each(["-iE", "-i=.bak", "-i.md", "-i../x", "--in-place=x", "-f", "--expression=p", "-s", "--follow-symlinks"])(
    "the option %s is a concern",
    (option) => {
      expect(judgeSed([option, "p", "notes.md"]).concerns.map(({ index }) => index)).toContain(0);
    },
  );
});
