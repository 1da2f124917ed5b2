import { expect, test } from "vitest";
import type { ActionPlan } from "../../core/contracts/index.ts";
import { decide, joinPolicy, ruleFor, strictest } from "./decide.ts";
import { execPlan, makePolicy, PLACE } from "./testing.ts";

const file = (risk: "read" | "write", target: string, over: Partial<ActionPlan> = {}): ActionPlan => ({
  tool: risk,
  risk,
  targets: [target],
  shown: "",
  binding: {},
  ...over,
});

test("a later word never softens an earlier one: floor, deny, remembered, allow, mode (I9)", () => {
  const allow = { exec: ["rm *", "git *", "ls *"] };
  const deny = { exec: ["git push *"] };
  const of = (text: string, over = {}) => decide(makePolicy({ allow, deny, ...over }), execPlan(text)).verdict;
  expect(of("rm -rf /", { mode: "ignore" })).toBe("deny");
  expect(of("git push origin", { mode: "ignore" })).toBe("deny");
  expect(of("ls -la")).toBe("allow");
  expect(of("make all")).toBe("ask");
  expect(of("make all", { mode: "record" })).toBe("allow");
  expect(of("make all", { remembered: new Set([ruleFor(execPlan("make all"))]) })).toBe("allow");
});

test("reading in the workspace needs nobody, reading elsewhere and writing do", () => {
  const inside = `${PLACE.workspace}/a.txt`;
  expect(decide(makePolicy(), file("read", inside)).verdict).toBe("allow");
  expect(decide(makePolicy(), file("read", "/srv/a.txt", { beyond: true })).verdict).toBe("ask");
  const secret = decide(makePolicy({ allow: { read: ["/srv/**"] } }), file("read", "/srv/.env", { beyond: true }));
  expect(secret).toMatchObject({
    verdict: "ask",
    because:
      "It reads /srv/.env, which is outside the workspace and probably holds passwords or keys. Rules for reading don't cover such files.",
  });
  expect(decide(makePolicy(), file("write", inside)).verdict).toBe("ask");
  expect(decide(makePolicy(), file("read", "/x", { outside: "Out of bounds." }))).toMatchObject({
    verdict: "deny",
    because: "Out of bounds.",
  });
});

test("a mode that trusts the agent doesn't reach turns caused from outside, nor commands after others have spoken", () => {
  const trusted = (over: object) => decide(makePolicy({ mode: "ignore", ...over }), execPlan("make all")).verdict;
  expect(trusted({})).toBe("allow");
  expect(trusted({ authority: "outside" })).toBe("ask");
  expect(trusted({ shared: true })).toBe("ask");
  expect(trusted({ authority: "stranger" })).not.toBe("allow");
});

test("an agent's mode replaces the general one, its lists are added", () => {
  const general = { mode: "ask", allow: { exec: ["ls *"] }, deny: { exec: ["rm *"] } } as const;
  const joined = joinPolicy(
    general,
    { mode: "record", allow: { exec: ["git *"] }, deny: {} },
    {
      place: PLACE,
      remembered: new Set<string>(),
    },
  );
  expect(joined).toMatchObject({ mode: "record", allow: { exec: ["ls *", "git *"] }, deny: { exec: ["rm *"] } });
  expect(joined.authority).toBe("owner");
});

test("the hardest word counts, and a settled form stays one", () => {
  const word = (verdict: "allow" | "ask" | "deny") => ({ verdict, because: verdict, parts: [] });
  expect(strictest([word("allow"), word("deny"), word("ask")]).verdict).toBe("deny");
  expect(strictest([{ ...word("allow"), settled: true }, word("allow")]).settled).toBe(true);
});
