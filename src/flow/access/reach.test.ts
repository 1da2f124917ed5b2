/** Which conversations a caller may begin, and which are its own. */
import { describe, expect, test } from "vitest";
import type { Principal, Scope } from "../../core/protocol/index.ts";
import { isOwnKey, mayBegin } from "./reach.ts";

const who = (id: string, ...scopes: Scope[]): Principal => ({ id, name: id, scopes: new Set(scopes), credential: id });
const writer = who("tok_1", "write");
const reader = who("tok_1", "read", "write");
const admin = who("owner", "read", "write", "approvals", "admin");
const isAgent = (name: string) => name === "main";

describe("a caller may begin (ACCESS-7)", () => {
  test.each<[string, string, Principal, boolean]>([
    ["none over HTTP, not even its own: `user` begins those", "agent:main:http:tok_1:ann", writer, false],
    ["none of a socket with a thread", "agent:main:ws:tok_1:ann:t1", writer, false],
    ["none of another token", "agent:main:http:tok_2:ann", writer, false],
    ["none without a chat", "agent:main:http:tok_1", writer, false],
    ["none with more parts than a chat has", "agent:main:http:tok_1:a:b:c:d", writer, false],
    ["a conversation of the page, with the right to read", "agent:main:web:notes", reader, true],
    ["none of the page without it", "agent:main:web:notes", writer, false],
    ["a named one, as admin", "agent:main:research", admin, true],
    ["none by name without that right", "agent:main:research", reader, false],
    ["none of an agent that does not exist", "agent:nobody:research", admin, false],
    ["no chat of a channel", "agent:main:telegram:main:42", admin, false],
    ["no job's session", "cron:job_1:2", admin, false],
    ["none with a part that could be read as two", "agent:main:http:tok_1:a b", writer, false],
    ["none with an empty part", "agent:main:http:tok_1:", writer, false],
  ])("%s", (_, session, principal, may) => {
    expect(mayBegin(session, principal, isAgent)).toBe(may);
  });
});

test("a caller's own conversations are those under its id, whoever else may read them", () => {
  expect(isOwnKey("agent:main:http:tok_1:ann", writer)).toBe(true);
  expect(isOwnKey("agent:main:http:tok_2:ann", admin)).toBe(false);
  expect(isOwnKey("agent:main:web:notes", reader)).toBe(false);
  expect(isOwnKey("nonsense", writer)).toBe(false);
});
