import { describe, expect, test } from "vitest";
import { pretend } from "../../../../test/support/pretend.ts";
import type { RuntimeCapabilities, RuntimeClaim, RuntimeClass } from "../../../core/contracts/index.ts";
import { type PlannedRun, plan, type RunTask, withProofs } from "../index.ts";

const yes = <T>(value: T, proof: "proven" | "claimed" = "proven") => ({ proof, value });
const no = { proof: "absent" as const };
const CLASSES: readonly RuntimeClass[] = ["in-process", "one-shot", "session", "attached", "hosted", "peer", "human"];
type Approvals = RuntimeCapabilities["approvals"];
const every = (proof: "proven" | "claimed", waits: "parked" | "forever" | { ms: number } = "parked"): Approvals =>
  yes({ covers: "every-call", denied: "goes-on", waits }, proof);

/** Everything there is, all of it proven. */
const BEST: RuntimeCapabilities = {
  class: "session",
  stream: yes("token"),
  thinking: yes(true as const),
  steer: yes("mid-turn"),
  interrupt: yes(true as const),
  resume: yes("same-host"),
  approvals: every("proven"),
  questions: yes(true as const),
  mcp: yes(["http"] as const),
  usage: yes({ tokens: "per-call", money: true } as const),
  proxy: yes(["anthropic"] as const),
  rateLimits: yes(true as const),
  children: yes("visible"),
  boundary: yes(["sandbox", "container"] as const),
  home: yes({ scope: "identity", keeps: ["sessions"] } as const),
  ownScheduler: no,
  ownChannels: no,
};
const TASK: RunTask = { writes: true, repository: true, trust: "own", machine: ["sandbox"] };

function planned(can: Partial<RuntimeCapabilities> = {}, task: Partial<RunTask> = {}) {
  const made = plan({ ...BEST, ...can }, { ...TASK, ...task });
  if (!made.ok) throw new Error(made.reasons.map(({ text }) => text).join(" "));
  return made.plan;
}
const codes = (can: Partial<RuntimeCapabilities>, task: Partial<RunTask> = {}) =>
  planned(can, task).shortfalls.map(({ code }) => code);

test("a runtime that can do everything, all of it proven, has no shortfalls", () => {
  expect(planned()).toEqual({
    drive: "keep",
    home: "kept",
    keeps: ["sessions"],
    boundary: "sandbox",
    worktree: true,
    judge: "gate",
    asks: "parked",
    spend: "before-each-call",
    shortfalls: [],
  });
});

test.each<[RuntimeClass, object]>([
  ["in-process", { drive: "call", home: "kept", boundary: "none", judge: "gate", spend: "before-each-call" }],
  ["one-shot", { drive: "spawn", home: "kept", boundary: "sandbox", judge: "gate", spend: "before-each-call" }],
  ["session", { drive: "keep", home: "kept", boundary: "sandbox", judge: "gate", spend: "before-each-call" }],
  ["attached", { drive: "attach", home: "theirs", boundary: "none", judge: "gate", spend: "after-each-report" }],
  ["hosted", { drive: "wake", home: "theirs", boundary: "remote", judge: "gate", spend: "after-each-report" }],
  ["peer", { drive: "send", home: "theirs", boundary: "remote", judge: "theirs", spend: "after-each-report" }],
  ["human", { drive: "notify", home: "theirs", boundary: "remote", judge: "theirs", spend: "never" }],
])("a runtime of the class %s is driven as such", (kind, expected) => {
  expect(planned({ class: kind })).toMatchObject(expected);
});

test("a person has no shortfalls, even without a single capability", () => {
  const nothing = pretend<RuntimeCapabilities>(Object.fromEntries(Object.keys(BEST).map((key) => [key, no])));
  expect(codes({ ...nothing, class: "human" })).toEqual([]);
});

test.each<[string, Partial<RuntimeCapabilities>, Partial<RunTask>, string[]]>([
  ["an unproven ask", { approvals: every("claimed") }, {}, ["asking-claimed"]],
  ["asking for some calls only", { approvals: yes({ ...value(BEST.approvals), covers: "some" }) }, {}, ["not-asked"]],
  ["no asking", { approvals: no }, {}, ["not-asked"]],
  ["no sandbox, words from outside", {}, { machine: [], trust: "outside" }, ["unconfined"]],
  ["no sandbox, the owner's words", {}, { machine: [] }, []],
  ["an ask that holds its process", { approvals: every("proven", "forever") }, {}, ["asks-held"]],
  ["an ask that expires", { approvals: every("proven", { ms: 300_000 }) }, {}, ["asks-expire"]],
  ["a denial that ends it", { approvals: yes({ ...value(BEST.approvals), denied: "ends-turn" }) }, {}, ["denial-ends"]],
  ["no proxy", { proxy: no }, {}, ["spend-late", "own-key"]],
  [
    "no proxy, usage at the end",
    { proxy: no, usage: yes({ tokens: "per-run", money: false }) },
    {},
    ["spend-after", "own-key"],
  ],
  ["no proxy, no usage", { proxy: no, usage: no }, {}, ["spend-unknown", "own-key"]],
  ["a home for each run", { home: yes({ scope: "run", keeps: ["memory"] }) }, {}, ["forgets"]],
  ["no home", { home: no }, {}, ["forgets"]],
  ["somebody else's daemon", { class: "attached" }, {}, ["spend-late", "no-worktree"]],
  ["somebody else's daemon, reading only", { class: "attached" }, { writes: false }, ["spend-late"]],
  [
    "somebody else's daemon that asks about some calls",
    { class: "attached", approvals: yes({ ...value(BEST.approvals), covers: "some" }) },
    { writes: false },
    ["judged-partly", "spend-late"],
  ],
  ["a peer", { class: "peer" }, {}, ["judged-elsewhere", "spend-late"]],
  ["a scheduler", { ownScheduler: yes(true as const, "claimed") }, {}, ["own-scheduler"]],
  ["blocks of text", { stream: yes("block") }, {}, ["no-stream"]],
  ["no stream", { stream: no }, {}, ["no-stream"]],
  ["no steering", { steer: no }, {}, ["no-steer"]],
  ["late steering", { steer: yes("next-turn") }, {}, ["steer-late"]],
  ["no interrupt", { interrupt: no }, {}, ["no-interrupt"]],
  ["no resume", { resume: no }, {}, ["no-resume"]],
  ["resume within a process", { resume: yes("same-process") }, {}, ["no-resume"]],
  ["no MCP", { mcp: no }, {}, ["no-tools"]],
  ["hidden agents", { children: yes("hidden") }, {}, ["hidden-children"]],
])("PLAN-3: %s is said, and nothing else", (_what, can, task, expected) => {
  expect(codes(can, task)).toEqual(expected);
});

function value<T>(claim: RuntimeClaim<T>): T {
  if (claim.proof === "absent") throw new Error("absent");
  return claim.value;
}

test("the sentences are whole ones, with the time in words", () => {
  const [expires] = planned({ approvals: every("proven", { ms: 45_000 }) }).shortfalls;
  expect(expires!.text).toBe("It waits at most 45 s for an approval; after that the action is denied.");
  expect(planned({ approvals: every("proven", { ms: 600_000 }) }).shortfalls[0]!.text).toContain("at most 10 min");
});

describe("every combination", () => {
  const approvals: Approvals[] = [
    no,
    yes({ covers: "some", denied: "goes-on", waits: "forever" }),
    every("claimed"),
    every("proven"),
  ];
  const boundaries: RuntimeCapabilities["boundary"][] = [
    no,
    yes(["none", "worktree"] as const),
    yes(["sandbox"] as const, "claimed"),
    yes(["own"] as const, "claimed"),
    yes(["own"] as const),
    yes(["container", "sandbox", "own"] as const),
  ];
  const homes: RuntimeCapabilities["home"][] = [
    no,
    yes({ scope: "run", keeps: ["memory"] }),
    yes({ scope: "identity", keeps: ["memory"] }),
  ];
  const usages: RuntimeCapabilities["usage"][] = [no, yes({ tokens: "per-call", money: false })];
  const proxies: RuntimeCapabilities["proxy"][] = [no, yes(["anthropic"] as const, "claimed")];
  const machines: RunTask["machine"][] = [[], ["sandbox"], ["container"]];
  const all: [RuntimeCapabilities, RunTask, PlannedRun][] = [];
  for (const kind of CLASSES)
    for (const a of approvals)
      for (const boundary of boundaries)
        for (const home of homes)
          for (const usage of usages)
            for (const proxy of proxies)
              for (const machine of machines)
                for (const trust of ["own", "outside"] as const)
                  for (const writes of [true, false]) {
                    const can = { ...BEST, class: kind, approvals: a, boundary, home, usage, proxy };
                    const task = { machine, trust, writes, repository: true };
                    all.push([can, task, plan(can, task)]);
                  }
  const CONFINED = ["sandbox", "container", "own", "remote"];
  const isChild = ({ class: kind }: RuntimeCapabilities) => kind === "one-shot" || kind === "session";

  test.each(CLASSES)("of the class %s keeps the promises", (kind) => {
    for (const [can, task, made] of all.filter(([one]) => one.class === kind)) {
      const at = JSON.stringify({ can, task, made });
      const canAsk = can.approvals.proof === "proven" && can.approvals.value.covers === "every-call";
      const isOwnDaemon = kind === "attached" && task.trust === "own";
      const isOutOfReach = kind === "in-process" || kind === "peer" || kind === "human";
      if (!made.ok) {
        // PLAN-1: refused for exactly one reason, and only where neither asking nor a boundary is there.
        expect(made.reasons, at).toHaveLength(1);
        expect(canAsk || isOutOfReach || kind === "hosted", at).toBe(false);
        continue;
      }
      const { plan: one } = made;
      const says = new Set(one.shortfalls.map(({ code }) => code));
      const isConfined = CONFINED.includes(one.boundary);
      expect(isConfined || canAsk || isOutOfReach || isOwnDaemon, at).toBe(true);
      // PLAN-2
      if (one.boundary === "own") expect(can.boundary.proof, at).toBe("proven");
      if (one.boundary === "sandbox" || one.boundary === "container") {
        expect(task.machine, at).toContain(one.boundary);
        expect(isChild(can), at).toBe(true);
      }
      if (one.judge === "boundary")
        expect([isConfined, says.has("not-asked"), one.asks], at).toEqual([true, true, "none"]);
      expect(one.keeps.length > 0, at).toBe(one.home === "kept");
      expect(one.home === "theirs", at).toBe(!isChild(can) && kind !== "in-process");
      expect(says.has("forgets"), at).toBe(one.home === "thrown-away");
      expect(one.worktree, at).toBe(isChild(can) && task.writes);
      if (isChild(can) && can.proxy.proof !== "absent") expect(one.spend, at).toBe("before-each-call");
      if (kind !== "human") expect(says.has("spend-unknown"), at).toBe(one.spend === "never");
    }
  });
});

describe("a claim", () => {
  const claimed: RuntimeCapabilities = { ...BEST, steer: yes("mid-turn", "claimed"), mcp: no };

  test("is proven by what was seen with this version, and by nothing else", () => {
    const seen = [
      { skill: "steer" as const, version: "1.0", worked: true },
      { skill: "mcp" as const, version: "1.0", worked: true },
    ];
    expect(withProofs(claimed, "1.0", seen).steer).toEqual({ proof: "proven", value: "mid-turn" });
    expect(withProofs(claimed, "1.1", seen).steer).toEqual({ proof: "claimed", value: "mid-turn" });
    expect(withProofs(claimed, "1.0", seen).mcp).toEqual({ proof: "absent" });
  });

  test("that was seen to fail is absent, and what was seen last counts", () => {
    const worked = { skill: "steer" as const, version: "1.0", worked: true };
    const failed = { ...worked, worked: false, note: "It ignored the words." };
    expect(withProofs(claimed, "1.0", [worked, failed]).steer).toEqual({
      proof: "absent",
      note: "It ignored the words.",
    });
    expect(withProofs(claimed, "1.0", [failed, worked]).steer).toMatchObject({ proof: "proven" });
  });
});
