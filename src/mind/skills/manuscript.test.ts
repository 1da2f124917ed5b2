import { describe, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { nameProblem, readManuscript } from "./manuscript.ts";

const read = (text: string, folder = "deploy") => readManuscript(text, folder, (front) => parse(front));
const card = (front: string, body = "Run make.") => `---\n${front}\n---\n\n${body}\n`;

describe("a SKILL.md that can be used", () => {
  test.each<[why: string, text: string, expected: object]>([
    [
      "the convention",
      card("name: deploy\ndescription: Deploys."),
      { description: "Deploys.", body: "Run make.\n", notes: [] },
    ],
    [
      "line ends of Windows, a mark at the start",
      `\uFEFF${card("name: deploy\ndescription: Deploys.").replaceAll("\n", "\r\n")}`,
      { description: "Deploys.", notes: [] },
    ],
    [
      "a description over several lines",
      card("name: deploy\ndescription: >\n  Deploys\n  the site."),
      { description: "Deploys the site." },
    ],
    [
      "no YAML: a colon in the description",
      card("name: deploy\ndescription: Use when: the site is late"),
      { description: "Use when: the site is late", notes: [expect.stringContaining("line by line")] },
    ],
    ["hidden signs", card('name: deploy\ndescription: "De\u202eploys\u0007 it"'), { description: "Deploys it" }],
    [
      "another name than its folder's",
      card("name: Deploy Site\ndescription: Deploys."),
      { notes: [expect.stringContaining('"Deploy Site"')] },
    ],
    ["no name", card("description: Deploys."), { notes: [expect.stringContaining("folder's is used")] }],
    [
      "everything of the convention",
      card(
        "name: deploy\ndescription: D.\nlicense: MIT\ncompatibility: needs git\nallowed-tools: Bash(git:*) Read\nmetadata:\n  author: ana\n  version: 1.0\n  openclaw: {requires: {bins: [git]}}",
      ),
      {
        license: "MIT",
        compatibility: "needs git",
        allowedTools: ["Bash(git:*)", "Read"],
        metadata: { author: "ana", version: "1", openclaw: '{"requires":{"bins":["git"]}}' },
      },
    ],
    [
      "for some systems, as Hermes says it",
      card("description: D.\nplatforms: [macos, Linux]"),
      { platforms: ["darwin", "linux"] },
    ],
    ["as OpenClaw does", card('description: D.\nmetadata: {"openclaw":{"os":["darwin"]}}'), { platforms: ["darwin"] }],
    ["tools as a list", card("description: D.\nallowed-tools: [read, exec]"), { allowedTools: ["read", "exec"] }],
    ["rules in the body", card("name: deploy\ndescription: D.", "one\n\n---\n\ntwo"), { body: "one\n\n---\n\ntwo\n" }],
    [
      "no harm from names of objects",
      card("description: D.\n__proto__: {polluted: true}\nconstructor: x"),
      { description: "D." },
    ],
  ])("%s", (_why, text, expected) => {
    expect(read(text)).toMatchObject(expected);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe("one that cannot, with the reason", () => {
  const bomb = `a: &a [x,x]\n${"bcdefghij"
    .split("")
    .map((k, i) => `${k}: &${k} [*${"abcdefghi"[i]},*${"abcdefghi"[i]},*${"abcdefghi"[i]},*${"abcdefghi"[i]}]`)
    .join("\n")}`;
  test.each([
    ["no front matter", "# Deploy\n\nRun make.", "does not begin with its front matter"],
    ["a front matter without end", "---\nname: deploy\ndescription: D.\n", "does not begin with its front matter"],
    ["an empty file", "", "does not begin with its front matter"],
    ["no description", card("name: deploy"), "no description"],
    ["an empty description", card("name: deploy\ndescription: ' '"), "no description"],
    ["a description that is a list", card("description: [a, b]"), "no description"],
    ["a description too long", card(`description: ${"x".repeat(1025)}`), "1025 characters; 1024 is the most"],
    ["a front matter too long", card(`description: D.\nnote: ${"x".repeat(4_000)}`), "4000 is the most"],
    ["nothing below", card("name: deploy\ndescription: D.", " "), "nothing below"],
    ["a list as front matter", card("- a\n- b"), "no description"],
    ["a bomb", card(bomb), "no description"],
  ])("%s", (_why, text, expected) => {
    expect(read(text)).toMatchObject({ why: expect.stringContaining(expected) });
  });

  test.each(["Deploy", "de ploy", "de_ploy", "-deploy", "deploy-", "de--ploy", "ünder", "x".repeat(65), ".."])(
    "a folder named %s",
    (name) => expect(nameProblem(name)).toMatch(/name/),
  );
  test.each(["deploy", "1password", "a-b-c", "x".repeat(64)])("%s is a name", (name) =>
    expect(nameProblem(name)).toBeUndefined(),
  );
});

test.each(["[".repeat(3900), "- ".repeat(1900)])(
  "front matter nested too deeply is refused before it is parsed",
  (deep) => {
    const parsed = vi.fn();
    expect(readManuscript(`---\nmetadata: x\n${deep}\n---\nwords\n`, "tools", parsed)).toEqual({
      why: "The front matter is nested too deeply.",
    });
    expect(parsed).not.toHaveBeenCalled();
  },
);
