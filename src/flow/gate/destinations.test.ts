import { expect, test } from "vitest";
import { findDestinations, hostsIn } from "./destinations.ts";
import { plainShell } from "./testing.ts";

test.each([
  ["curl https://example.com/x", ["example.com"]],
  ["git clone https://user@git.example.org/a.git", ["git.example.org"]],
  ["ls && curl http://a.example.com && curl http://b.example.com", ["a.example.com", "b.example.com"]],
  ["ls -la", []],
  ["cat notes.md", []],
])("%s reaches %j", (text, hosts) => {
  const found = findDestinations(plainShell(text));
  expect(found.hosts).toEqual(hosts);
  expect(found.isHidden).toBe(false);
});

test("each address in what is fed to a command counts, not only the last one", () => {
  const text = "tee x <<E\nhttps://evil.net/x\nhttps://example.com\nE";
  const shell = plainShell("tee x", { text, reasons: [{ kind: "heredoc", text: "" }] });
  expect(findDestinations(shell).hosts).toEqual(["evil.net", "example.com"]);
});

test("a program that talks and does not say where hides it", () => {
  expect(findDestinations(plainShell("unheard-of --upload notes.md")).isHidden).toBe(true);
});

test("addresses are found by their scheme, in lower case", () => {
  expect(hostsIn("see HTTPS://Example.COM/a and ftp://b.example.org:21")).toEqual(["example.com", "b.example.org"]);
  expect(hostsIn("no address here")).toEqual([]);
});
