import { describe, expect, test } from "vitest";
import { addressedIn } from "../named.ts";
import { makePersonId, parseLine, readPerson, saidIn } from "./line.ts";

test("a line is taken apart", () => {
  expect(parseLine("@account=ann;msgid=a\\:b :Ann!~a@h.test PRIVMSG #towns :hello: you")).toEqual({
    tags: { account: "ann", msgid: "a;b" },
    from: "Ann!~a@h.test",
    command: "PRIVMSG",
    params: ["#towns", "hello: you"],
  });
  expect(parseLine("PING :x y")).toMatchObject({ command: "PING", params: ["x y"] });
  expect(parseLine(":irc.test 001 lares :Hi")).toMatchObject({ command: "001", params: ["lares", "Hi"] });
  expect(parseLine("@x")).toBeUndefined();
  expect(parseLine("")).toBeUndefined();
});

describe("who speaks (CH-01)", () => {
  const id = (raw: string) => makePersonId(readPerson(parseLine(raw)!)!);
  test("is the account the server names, or the whole mask; never the nick", () => {
    expect(id("@account=ann :Eve!~e@h.test PRIVMSG l :x")).toBe("ann");
    expect(id(":ann!~e@h.test PRIVMSG l :x")).toBe("ann!~e@h.test");
    expect(id("@account=* :ann!~e@h.test PRIVMSG l :x")).toBe("ann!~e@h.test");
    expect(id(":A[n]!~e@h.test PRIVMSG l :x")).toBe("a{n}!~e@h.test");
  });
  test("is nobody for a server's line", () => expect(readPerson(parseLine(":irc.test NOTICE l :x")!)).toBeUndefined());
});

test("colours and marks are no words; machines' questions are not heard", () => {
  expect(saidIn("\x0304,01red\x03 \x02bold\x02")).toBe("red bold");
  expect(saidIn("\x01ACTION waves\x01")).toBe("* waves");
  expect(saidIn("\x01VERSION\x01")).toBeUndefined();
});

test("the bot is addressed by its whole name", () => {
  expect(addressedIn("Lares: do it", "lares")).toEqual({ text: "do it", addressed: true });
  expect(addressedIn("ask lares, please", "lares").addressed).toBe(true);
  expect(addressedIn("lareshouse: no", "lares").addressed).toBe(false);
});
