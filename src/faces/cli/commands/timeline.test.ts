import { describe, expect, it } from "vitest";
import { readStepName } from "../../../core/domain/index.ts";
import { approval, NOW, openTurn, turnDetail } from "../testing.ts";
import { timeline } from "./timeline.ts";

const look = {
  hint: String.raw,
  paint: (text: string) => text,
  now: NOW + 5000,
  columns: 96,
};
const bar = (lines: string[], name: string) => {
  const line = lines.find((one) => one.includes(name)) ?? "";
  return { from: line.search(/[█░─]/), length: (/[█░─]+/.exec(line)?.[0] ?? "").length, line };
};
const step = (name: string, at: number, endedAt?: number) => ({
  segment: 0,
  index: 0,
  kind: "step" as const,
  name,
  does: readStepName(name),
  state: endedAt === undefined ? ("intent" as const) : ("done" as const),
  outcome: endedAt === undefined ? ("open" as const) : ("ok" as const),
  at: NOW + at,
  ...(endedAt === undefined ? {} : { endedAt: NOW + endedAt }),
});

describe("a turn as a timeline", () => {
  it("bars begin where the step began and are as long as it took", () => {
    const lines = timeline(turnDetail(), look);
    const [first, exec, second] = ["model call 1", "exec", "model call 2"].map((name) => bar(lines, name));
    expect(first!.from).toBeLessThan(exec!.from);
    expect(exec!.from).toBeLessThan(second!.from);
    expect(exec!.length).toBeGreaterThan(first!.length * 1.5);
    expect(exec!.line).toContain("█");
  });

  it("a step is called by what it does, never by an id", () => {
    const steps = [step("recheck:ap_1", 0, 1), step("replan:ap_1", 1, 2)];
    const text = timeline(turnDetail({ steps }), look).join("\n");
    expect(text).toContain("planned again");
    expect(text).not.toContain("ap_1");
  });

  it("what another runtime did has rows; the stretch of its run around them has none", () => {
    const notice = { ...step("notice", 2, 2), does: { kind: "notice" as const }, said: "Low on tokens." };
    const steps = [step("run:0", 0, 3), step("tool:bash:run-call-1", 1, 2), notice];
    const text = timeline(turnDetail({ steps }), look).join("\n");
    expect(text).toMatch(/bash.*\n.*notice .*Low on tokens\./);
    expect(text).not.toContain("run:0");
  });

  it("a wait in the queue is a thin line before the work", () => {
    const t = turnDetail({ startedAt: NOW + 2000, steps: [step("model:0", 2000, 4000)], endedAt: NOW + 4000 });
    const lines = timeline(t, look);
    expect(lines[1]).toMatch(/○ {2}queued .*─+ +2\.0 s/);
    expect(bar(lines, "queued").length).toBe(bar(lines, "model call 1").length);
  });

  it("a night of waiting for a person is hatched and leaves the work readable", () => {
    const night = 28_800_000;
    const t = turnDetail({
      approvals: [
        approval({ state: "allowed", askedAt: NOW + 1000, answeredAt: NOW + 1000 + night, answeredBy: "ana" }),
      ],
      steps: [step("model:0", 0, 1000), step("tool:exec:c", night + 1000, night + 2000)],
      endedAt: NOW + night + 2000,
    });
    const lines = timeline(t, look);
    const asked = bar(lines, "asked: exec");
    expect(asked.line).toMatch(/░+ +8 h +allowed by ana/);
    expect(asked.length).toBeLessThan(10);
    expect(bar(lines, "model call 1").length).toBeGreaterThan(12);
  });

  it("a step under way has a bar up to now, an unknown one says so", () => {
    const open = timeline(openTurn({ steps: [step("model:0", 0)] }), look);
    expect(open[1]).toMatch(/● {2}model call 1 .*█+ .*running/);
    const lost = timeline(
      turnDetail({ steps: [{ ...step("tool:exec:c", 0), state: "unknown", outcome: "unknown" }] }),
      look,
    );
    expect(lost[1]).toContain("outcome unknown");
  });

  it("a step that was done and failed is no success: class, exit code and reason are there", () => {
    const lines = timeline(
      turnDetail({
        steps: [
          { ...step("model:0", 0, 1000), outcome: "failed", failure: "auth", reason: "it rejected its key" },
          { ...step("tool:exec:c", 1000, 2000), outcome: "failed", exit: 7, reason: "no such file" },
          { ...step("judge:1", 2000, 2001), outcome: "denied", reason: "the policy forbids it" },
        ],
        endedAt: NOW + 3000,
      }),
      look,
    );
    expect(bar(lines, "model call 1").line).toMatch(/✕.*auth: it rejected its key/);
    expect(bar(lines, "exec").line).toMatch(/✕.*exit 7: no such file/);
    expect(bar(lines, "policy check").line).toMatch(/–.*the policy forbids it/);
    expect(lines.join("\n")).not.toContain("✓");
  });

  it("says what a model call cost, which tries failed, and when Lares was restarted", () => {
    const usage = { inputTokens: 900, outputTokens: 80, cacheReadTokens: 0, cacheWriteTokens: 0, cost: 0.013 };
    const failed = [{ at: NOW + 100, model: "a/b", failure: "overload" }];
    const t = turnDetail({
      steps: [{ ...step("model:0", 0, 1000), usage, failed }],
      restarts: [{ at: NOW + 2000, resumedAt: NOW + 2300 }],
      endedAt: NOW + 4000,
    });
    const lines = timeline(t, look);
    expect(bar(lines, "model call 1").line).toMatch(/\$0\.013 {2}↻ 1 failed: overload/);
    expect(lines.find((line) => line.includes("restarted"))).toMatch(/┆ {2}restarted .*0\.3 s {2}nothing finished/);
  });

  it("a turn without steps has none", () => {
    expect(timeline(openTurn(), { ...look, now: NOW })).toEqual([]);
  });
});
