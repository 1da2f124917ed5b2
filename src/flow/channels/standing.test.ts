import { describe, expect, test } from "vitest";
import type { AccountPolicy } from "../../core/contracts/index.ts";
import { trouble } from "./health.ts";
import { countsFor, LoopWatch } from "./limits.ts";
import { type Grant, type JudgedEvent, standing } from "./standing.ts";

const policy = (more: Partial<AccountPolicy> = {}): AccountPolicy => ({
  dm: "pairing",
  allow: [],
  owners: [],
  groups: {},
  bots: false,
  live: true,
  limits: {},
  ...more,
});
const direct = (sender: string, name?: string): JudgedEvent => ({
  kind: "message",
  chat: { id: sender, kind: "direct" },
  sender: { id: sender, ...(name ? { name } : {}) },
});
const inGroup = (sender: string, more: Partial<JudgedEvent> = {}): JudgedEvent => ({
  kind: "message",
  chat: { id: "g", kind: "group" },
  sender: { id: sender },
  addressed: true,
  ...more,
});
const may = (p: AccountPolicy, event: JudgedEvent, grants: Grant[] = []) => standing(p, event, grants).may;

describe("who may talk", () => {
  test("CH-01: a name equal to a listed id opens nothing (INTAKE-4)", () => {
    const listed = policy({ dm: "allowlist", allow: ["42"], owners: ["7"] });
    expect(may(listed, direct("99", "42"))).toBe(false);
    expect(may(listed, direct("99", "7"))).toBe(false);
    expect(may(listed, direct("42"))).toBe(true);
  });

  test("CH-03: an empty list is nobody, and a star in it is a name like any other (INTAKE-5)", () => {
    expect(may(policy({ dm: "allowlist" }), direct("1"))).toBe(false);
    expect(may(policy({ dm: "allowlist", allow: ["*"] }), direct("1"))).toBe(false);
    expect(may(policy({ groups: { g: { allow: [], mention: false } } }), inGroup("1"))).toBe(false);
  });

  test("CH-05: a grant for direct messages opens no group, and one for a group no other (INTAKE-6)", () => {
    const open = policy({ groups: { g: { allow: [], mention: false }, h: { allow: [], mention: false } } });
    const paired: Grant[] = [{ sender: "1", context: "direct", role: "known" }];
    expect(may(open, direct("1"), paired)).toBe(true);
    expect(may(open, inGroup("1"), paired)).toBe(false);
    const grouped: Grant[] = [{ sender: "1", context: "g", role: "known" }];
    expect(may(open, inGroup("1"), grouped)).toBe(true);
    expect(may(open, inGroup("1", { chat: { id: "h", kind: "group" } }), grouped)).toBe(false);
    expect(may(open, direct("1"), grouped)).toBe(false);
  });

  test.each(["message", "edit", "reaction", "button", "member"] as const)("%s passes the same rule", (kind) => {
    const closed = policy({ dm: "allowlist", allow: ["1"] });
    expect(may(closed, { ...direct("1"), kind })).toBe(true);
    expect(may(closed, { ...direct("2"), kind })).toBe(false);
    expect(may(closed, { ...inGroup("1"), kind })).toBe(false);
  });

  test("the table of direct messages", () => {
    const rows: [AccountPolicy["dm"], "owner" | "listed" | "granted" | "stranger", string | false][] = [
      ["pairing", "owner", "owner"],
      ["pairing", "listed", "known"],
      ["pairing", "granted", "known"],
      ["pairing", "stranger", false],
      ["allowlist", "stranger", false],
      ["allowlist", "granted", "known"],
      ["open", "stranger", "stranger"],
      ["open", "listed", "known"],
      ["off", "owner", false],
      ["off", "listed", false],
    ];
    for (const [dm, who, expected] of rows) {
      const p = policy({ dm, owners: ["owner"], allow: ["listed"] });
      const found = standing(p, direct(who), [{ sender: "granted", context: "direct", role: "known" }]);
      expect({ dm, who, got: found.may && found.authority }).toEqual({ dm, who, got: expected });
      if (!found.may) expect(found.pair).toBe(dm === "pairing");
      else expect(found.mayApprove).toBe(expected === "owner");
    }
  });

  test("groups: only listed ones, only when addressed, everybody only by a star; their agent and tools", () => {
    const p = policy({
      owners: ["o"],
      groups: { g: { allow: ["*"], mention: true, agent: "research", tools: ["read"] } },
    });
    expect(standing(p, inGroup("x"), [])).toMatchObject({
      may: true,
      authority: "stranger",
      agent: "research",
      tools: ["read"],
    });
    expect(may(p, inGroup("x", { addressed: false }))).toBe(false);
    expect(may(p, inGroup("x", { addressed: false, kind: "button" }))).toBe(true);
    expect(may(p, inGroup("o", { chat: { id: "other", kind: "group" } }))).toBe(false);
    expect(may(policy({ groups: { "*": { allow: ["*"], mention: false } } }), inGroup("x"))).toBe(true);
    expect(may(p, inGroup("x", { sender: { id: "x", isBot: true } }))).toBe(false);
  });
});

describe("limits", () => {
  test("what is counted for a message, per account, person and agent", () => {
    const counts = countsFor(
      { account: { maxMessagesPerHour: 10, maxMessagesPerUser: 3 }, agent: { maxTokensPerDay: 1000 } },
      { account: { channel: "telegram", account: "main" }, agent: "main", person: "telegram:1" },
    );
    expect(counts.map(({ scope, most, unit }) => [scope, most, unit])).toEqual([
      ["account:telegram/main", 10, "messages"],
      ["account:telegram/main/telegram:1", 3, "messages"],
      ["agent:main", 1000, "tokens"],
    ]);
  });

  test("two bots answering each other are stopped; a person who is quick once is not", () => {
    const loop = new LoopWatch();
    let now = 0;
    const verdicts = Array.from({ length: 14 }, () => {
      now += 500;
      return loop.judge("c", now, now - 300);
    });
    expect(verdicts.filter((v) => v === "fine")).toHaveLength(LoopWatch.MOST_ROUNDS);
    expect(verdicts.slice(LoopWatch.MOST_ROUNDS)).toEqual(["stop", "stopped", "stopped", "stopped"]);
    // A minute of quiet, and it listens again.
    expect(loop.judge("c", now + 70_000, now)).toBe("fine");
    // Somebody in a hurry writes before the answer to the last line is there.
    const hurry = new LoopWatch();
    for (let i = 0; i < 50; i++)
      expect(hurry.judge("c", i * 400, i < 2 ? undefined : Math.floor(i / 3) * 900)).toBe("fine");
    const person = new LoopWatch();
    for (let i = 0; i < 50; i++) expect(person.judge("c", i * 20_000, i * 20_000 - 9000)).toBe("fine");
  });
});

describe("whether a line still hears", () => {
  const vitals = { startedAt: 0, aliveAt: 1000, behind: 0, stuckSince: undefined, silenceMs: 90_000 };
  test("silence beyond what the platform promises, a start that never comes, a position that does not move", () => {
    expect(trouble(vitals, 50_000)).toBeUndefined();
    expect(trouble(vitals, 95_000)).toMatch(/Nothing was received for 94 s/);
    expect(trouble({ ...vitals, aliveAt: undefined }, 95_000)).toMatch(/didn't connect/);
    expect(trouble({ ...vitals, silenceMs: undefined, aliveAt: undefined }, 1e9)).toBeUndefined();
    expect(trouble({ ...vitals, aliveAt: 200_000, behind: 3, stuckSince: 1000 }, 200_000)).toMatch(/3 wait/);
  });
});
