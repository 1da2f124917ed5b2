import { expect, test } from "vitest";
import { holdsSecrets, isPrecious, piecesIn, secret } from "./floor-places.ts";
import { PLACE } from "./testing.ts";

test.each(["/", "/*", "/etc", "/usr/*", "/home/ann", "/home/bob", "/home", PLACE.home, PLACE.agentDir])(
  "the loss of %s would be the machine's or a person's",
  (path) => expect(isPrecious(path, PLACE)).toBe(true),
);
test.each(["/tmp/x", `${PLACE.workspace}/build`, "/home/ann/project/dist"])("%s may go", (path) =>
  expect(isPrecious(path, PLACE)).toBe(false),
);

test.each([
  "/etc/shadow",
  "/home/ann/.ssh/id_ed25519",
  "/root/.aws",
  "/home/*/.ssh/id_rsa",
  "/home/ann/.lares/lares.db",
])("%s is off limits", (path) => expect(secret(path, PLACE)).toMatch(/off limits/));
test.each(["/etc/hostname", `${PLACE.workspace}/.npmrc`, "/home/ann/notes.md", `${PLACE.agentDir}/MEMORY.md`])(
  "%s is not",
  (path) => expect(secret(path, PLACE)).toBeUndefined(),
);
test("keys in the workspace are no work", () => {
  expect(secret(`${PLACE.workspace}/.ssh/id`, PLACE)).toBeDefined();
});

test("a folder above secrets holds them", () => {
  for (const path of ["/", "", "/home", "/home/bob", "/root", "/home/ann"])
    expect(holdsSecrets(path, PLACE)).toBe(true);
  expect(holdsSecrets("/usr/share", PLACE)).toBe(false);
});

test.each([
  ["of=/dev/sda", "/dev/sda"],
  ["@~/.netrc", "~/.netrc"],
  ["-I/etc", "/etc"],
  ["file:///etc/shadow", "/etc/shadow"],
  ["*/.ssh/id", "~/.ssh/id"],
])("%s may name %s", (word, path) => expect(piecesIn(word)).toContain(path));
test("a bare name lies where the command runs", () => expect(piecesIn("word")).toEqual([]));
