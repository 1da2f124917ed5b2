import { expect, test } from "vitest";
import type { RunEventBody } from "../../core/contracts/index.ts";
import { NO_USAGE } from "../../core/domain/index.ts";
import { toSteps } from "./steps.ts";

const told = (...bodies: RunEventBody[]) => bodies.map((body, i) => ({ seq: i + 1, at: (i + 1) * 10, body }));
const started: RunEventBody = { type: "run_started", session: null, model: null, version: null };
const done: RunEventBody = { type: "done", outcome: "finished", text: "" };
const after = { segment: 1, index: 4 };

test("calls of models come from the ledger, with the time they took", () => {
  const events = told(
    started,
    { type: "text", text: "hi" },
    { type: "usage", usage: NO_USAGE, basis: "priced", model: "m" },
    done,
  );
  const call = { call: 0, model: "p/m", usage: NO_USAGE, at: 30 };
  expect(toSteps(events, [{ ...call, ms: 15 }], after)).toMatchObject([
    { segment: 1, index: 5, does: { kind: "model", call: 0 }, at: 15, endedAt: 30, model: "p/m", outcome: "ok" },
  ]);
  expect(toSteps(events, [{ ...call, ms: 0 }], after)).toMatchObject([{ at: 10, endedAt: 30 }]);
  expect(toSteps(events, [{ ...call, model: null, ms: 5 }], after)).toMatchObject([{ outcome: "failed" }]);
  // One that reports nothing wrote something all the same.
  expect(toSteps(events, [], after)).toMatchObject([{ does: { kind: "model", call: 0 }, at: 20, endedAt: 20 }]);
});

test("tools, thoughts, notices and errors are steps in order of time; a call without a result isn't done", () => {
  const events = told(
    started,
    { type: "thinking", text: "let me " },
    { type: "thinking", text: "see" },
    { type: "tool_call", call: "x", name: "bash", input: { command: "ls" } },
    { type: "tool_result", call: "x", isError: true, text: "no\nexit 2" },
    { type: "tool_call", call: "y", name: "bash", input: {} },
    { type: "notice", text: "a limit" },
    { type: "rate_limit", failure: "rate-limit", attempt: 1, retryAt: 95 },
    { type: "error", failure: "auth", text: "wrong key", hint: null },
  );
  expect(toSteps(events, [{ call: 0, model: "m", usage: NO_USAGE, ms: 1, at: 31 }], after)).toMatchObject([
    { does: { kind: "thinking" }, at: 20, endedAt: 30, said: "let me see" },
    { does: { kind: "model" } },
    {
      does: { kind: "tool", tool: "bash", call: "run-call-1" },
      at: 40,
      endedAt: 50,
      outcome: "failed",
      reason: "exit 2",
    },
    { does: { kind: "tool", call: "run-call-2" }, state: "intent", outcome: "open" },
    { does: { kind: "notice" }, said: "a limit" },
    { does: { kind: "notice" }, failure: "rate-limit", endedAt: 95 },
    { does: { kind: "notice" }, outcome: "failed", failure: "auth", reason: "wrong key" },
  ]);
  expect(toSteps([...events, { seq: 10, at: 100, body: done }], [], after)).toContainEqual(
    expect.objectContaining({ does: { kind: "tool", tool: "bash", call: "run-call-2" }, outcome: "unknown" }),
  );
});
