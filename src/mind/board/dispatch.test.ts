import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Assignment, assign, type ReadyTask, type TaskMember } from "./dispatch.ts";
import { readEnd, waitAfter } from "./failure.ts";

const LIMITS = { atOnce: 3, perMember: 2, anybody: "main" };
const task = (number: number, more: Partial<ReadyTask> = {}): ReadyTask => ({
  id: `t${number}`,
  number,
  priority: 1,
  ...more,
});
const member = (agent: string, roles: string[] = [], team?: string): TaskMember => ({
  agent,
  roles,
  ...(team ? { team } : {}),
});
const given = (ready: ReadyTask[], members: TaskMember[], busy: Record<string, number> = {}, limits = LIMITS) =>
  assign(ready, members, new Map(Object.entries(busy)), limits);

describe("assign", () => {
  test("the urgent go first, then the older ones (DISPATCH-1)", () => {
    const ready = [task(3), task(2), task(9, { priority: 3 })];
    expect(given(ready, [member("main")]).map((one) => one.task)).toEqual(["t9", "t2"]);
  });

  test("a task goes to whom it is meant for, to a role or a team's member, or to anybody (DISPATCH-2)", () => {
    const members = [member("main"), member("a", ["builder"], "red"), member("b", ["builder"], "blue")];
    const cases: [Partial<ReadyTask>, Partial<Record<"agent" | "nobody" | "person", string>>][] = [
      [{}, { agent: "main" }],
      [{ assignee: { kind: "agent", name: "a" } }, { agent: "a" }],
      [{ assignee: { kind: "role", name: "builder" }, team: "blue" }, { agent: "b" }],
      [{ team: "red" }, { agent: "a" }],
      [{ assignee: { kind: "person", name: "ana" } }, { person: "ana" }],
      [{ assignee: { kind: "agent", name: "x" } }, { nobody: 'There is no agent "x".' }],
      [{ assignee: { kind: "role", name: "cook" } }, { nobody: 'Nobody has the role "cook".' }],
      [{ team: "green" }, { nobody: 'The team "green" has no members.' }],
    ];
    for (const [more, to] of cases) expect(given([task(1, more)], members)).toEqual([{ task: "t1", ...to }]);
  });

  test("a person's task and one that nobody can do don't wait for a free place", () => {
    const ready = [task(1, { assignee: { kind: "person", name: "ana" } }), task(2, { team: "none" }), task(3)];
    expect(given(ready, [member("main")], { main: 3 }).map((one) => one.task)).toEqual(["t1", "t2"]);
  });

  test("neither a member nor the board gets more than its limit, whatever is ready (DISPATCH-3)", () => {
    const agents = ["main", "a", "b", "c"];
    const anyTask = fc.record({
      priority: fc.integer({ min: 0, max: 3 }),
      name: fc.option(fc.constantFrom(...agents), { nil: undefined }),
    });
    fc.assert(
      fc.property(
        fc.array(anyTask, { maxLength: 60 }),
        fc.dictionary(fc.constantFrom(...agents), fc.integer({ min: 0, max: 2 })),
        fc.integer({ min: 1, max: 12 }),
        (tasks, busy, atOnce) => {
          const ready = tasks.map(({ priority, name }, i) =>
            task(i, { priority, ...(name ? { assignee: { kind: "agent", name } } : {}) }),
          );
          const given = assign(
            ready,
            agents.map((a) => member(a)),
            new Map(Object.entries(busy)),
            { ...LIMITS, atOnce },
          );
          const took = given.filter((one): one is Extract<Assignment, { agent: string }> => "agent" in one);
          const before = Object.values(busy).reduce((a, b) => a + b, 0);
          expect(took.length === 0 || before + took.length <= atOnce).toBe(true);
          for (const agent of agents) {
            const n = took.filter((one) => one.agent === agent).length;
            if (n > 0) expect((busy[agent] ?? 0) + n).toBeLessThanOrEqual(LIMITS.perMember);
          }
          expect(new Set(given.map((one) => one.task)).size).toBe(given.length);
        },
      ),
    );
  });
});

test.each([
  [{ state: "answered" }, false, "handed-in"],
  [{ state: "silent" }, false, "handed-in"],
  [{ state: "answered" }, true, "unknown"],
  [{ state: "failed", failure: "unknown-outcome" }, false, "unknown"],
  [{ state: "attention" }, false, "unknown"],
  [{ state: "stopped" }, false, "stopped"],
  [{ state: "declined" }, false, "block"],
  [{ state: "failed", failure: "auth" }, false, "block"],
  [{ state: "failed", failure: "budget" }, false, "block"],
  [{ state: "failed", failure: "stopped-lares" }, false, "block"],
  [{ state: "failed", failure: "rate-limit" }, false, "again"],
  [{ state: "failed", failure: "network" }, false, "again"],
  [{ state: "failed" }, false, "again"],
] as const)(
  "an attempt that ended as %o (unknown effect: %s) is %s (WORK-3, WORK-4)",
  (result, hasUnknown, meaning) => {
    expect(readEnd(result, hasUnknown)).toBe(meaning);
  },
);

test("waits grow with each failure, up to an hour", () => {
  expect([1, 2, 3, 20].map((spent) => waitAfter(spent, 0) / 1000)).toEqual([30, 60, 120, 3600]);
});
