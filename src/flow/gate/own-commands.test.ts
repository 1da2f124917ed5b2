import { expect, test } from "vitest";
import { ownCommand, ownRequest } from "./own-commands.ts";

const own = (text: string, isProgram = true) =>
  ownCommand(text.split(" "), { ends: (word) => [word], isProgram }) !== undefined;

test.each(["lares approve abc123", "/usr/bin/lares policy set", "npx lares tokens add", "lares --home status token"])(
  "%s would speak as the owner",
  (text) => expect(own(text)).toBe(true),
);
test.each(["lares status", "lares --json usage", "lares --help", "ls lares", "npm install lares"])(
  "%s would not",
  (text) => expect(own(text)).toBe(false),
);
test("behind a wrapper a word of Lares' own has to follow", () => {
  expect(own("lares approve", false)).toBe(true);
  expect(own("lares status", false)).toBe(false);
});

test.each([
  [["curl", "localhost:1/rpc/approvals.resolve"], true],
  [["curl", "localhost:1/rpc/./approvals%2Eresolve"], true],
  [["curl", "-d", '{"method":"config.set"}'], true],
  [["curl", "localhost:7777/chat", "-d", "/approve abc123"], true],
  [["curl", "localhost:1/rpc/approvals.list"], false],
  [["curl", "example.com/rpc/weather.set"], false],
])("whether %j asks at Lares' own doors: %s", (words, asks) => expect(ownRequest(words) !== undefined).toBe(asks));
