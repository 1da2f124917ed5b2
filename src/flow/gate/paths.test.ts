/** Paths as text: what a word names, and how a pattern lies to a place. */
import { describe, expect, test } from "vitest";
import { absolute, isInside, isInWorkspace, normalise, relation } from "./paths.ts";

test.each([
  ["/a/./b/../c", "/a/c"],
  ["//a///b/", "/a/b"],
  ["/../../etc", "/etc"],
  ["", "/"],
])("%j is %j", (path, plain) => {
  expect(normalise(path)).toBe(plain);
});

test.each([
  ["notes.txt", "/w/notes.txt"],
  ["../up", "/up"],
  ["/etc/passwd", "/etc/passwd"],
  ["~", "/home/ann"],
  ["~/x", "/home/ann/x"],
  ["~root/x", "/root/x"],
  ["~eve/x", "/home/eve/x"],
])("the word %j names %j", (word, path) => {
  expect(absolute(word, "/w", "/home/ann")).toBe(path);
});

test("a place is inside itself and what is below it, not beside a longer name", () => {
  expect(isInside("/w", "/w")).toBe(true);
  expect(isInside("/w/a", "/w")).toBe(true);
  expect(isInside("/well", "/w")).toBe(false);
  expect(isInside("/anything", "/")).toBe(true);
});

test("what an agent works in is its workspace and its folders", () => {
  const place = { workspace: "/w", roots: ["/project"] };
  expect(["/w/a", "/project/b", "/elsewhere"].map((path) => isInWorkspace(path, place))).toEqual([true, true, false]);
});

describe("a pattern and a place", () => {
  test.each<[string, string, ReturnType<typeof relation>]>([
    ["/", "/home/ann/.ssh", "above"],
    ["/home", "/home/ann/.ssh", "above"],
    ["/home/*", "/home/ann/.ssh", "above"],
    ["/home/ann/.ssh", "/home/ann/.ssh", "inside"],
    ["/home/ann/.ssh/id", "/home/ann/.ssh", "inside"],
    ["/home/a*n/.s?h", "/home/ann/.ssh", "inside"],
    ["/home/eve/.ssh", "/home/ann/.ssh", "apart"],
    // As in a shell, a wildcard at the beginning does not stand for a dot.
    ["/home/ann/*", "/home/ann/.ssh", "apart"],
    ["/home/ann/.*", "/home/ann/.ssh", "inside"],
  ])("%s lies to %s: %s", (pattern, place, how) => {
    expect(relation(pattern, place)).toBe(how);
  });

  test("one that is longer than any name is taken for one that fits", () => {
    expect(relation(`/${"*a".repeat(300)}`, "/secret")).toBe("inside");
  });
});
