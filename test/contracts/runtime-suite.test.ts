/** The runtime contract itself: it can be passed, and its look at a stream finds each broken promise. */
import { describe, expect, test } from "vitest";
import type { RunEvent, RunEventBody } from "../../src/core/contracts/index.ts";
import { NO_USAGE } from "../../src/core/domain/index.ts";
import { PARROT_CAN, parrotStage } from "./runtime/parrot.ts";
import { unfit } from "./runtime/rig.ts";
import { faultsIn } from "./runtime/stream.ts";
import { runtimeContract } from "./runtime.ts";

runtimeContract({ name: "parrot", open: async () => parrotStage() });

describe("a look at a run's events", () => {
  const START: RunEventBody = { type: "run_started", session: "s", model: null, version: null };
  const DONE: RunEventBody = { type: "done", outcome: "finished", text: "" };
  const call: RunEventBody = { type: "tool_call", call: "c", name: "x", input: {} };
  const result: RunEventBody = { type: "tool_result", call: "c", isError: false, text: "" };
  const about = { kind: "tool", call: "c", name: "x", input: {}, summary: "", editable: false } as const;
  const ask: RunEventBody = { type: "ask", ask: "a", about, expires: null };
  const answered: RunEventBody = { type: "answered", ask: "a", how: "allow" };
  const less: RunEventBody = { type: "usage", usage: { ...NO_USAGE, inputTokens: -1 }, basis: "priced", model: null };
  const at = (bodies: readonly RunEventBody[]): RunEvent[] =>
    bodies.map((body, i) => ({ run: "r", attempt: 1, seq: i + 1, at: 0, body }));
  const request = { run: "r", attempt: 1, lastSeq: 0 };

  test("finds nothing in a good one", () => {
    expect(faultsIn(at([START, call, ask, answered, result, DONE]), request)).toEqual([]);
    expect(faultsIn(at([START, call, ask]), request, { ended: false })).toEqual([]);
  });

  test.each<[string, RunEventBody[], string]>([
    ["no start", [DONE], "RUNTIME-2: it begins with event 1 (done)"],
    ["a second start", [START, START, DONE], "RUNTIME-2: event 2 (run_started) is a second start"],
    ["no end", [START], "RUNTIME-2: it never ends with done"],
    ["a second end", [START, DONE, DONE], "RUNTIME-1: event 3 (done) is ended"],
    ["a result without a call", [START, result, DONE], "RUNTIME-5: event 2 (tool_result) is of c, which nobody called"],
    ["a call twice", [START, call, call, DONE], "RUNTIME-5: event 3 (tool_call) announces c again"],
    ["two results", [START, call, result, result, DONE], "RUNTIME-5: event 4 (tool_result) is a second result of c"],
    [
      "an ask without a call",
      [START, ask, answered, DONE],
      "RUNTIME-5: event 2 (ask) asks about c, which nobody called",
    ],
    [
      "an ask after the act",
      [START, call, result, ask, answered, DONE],
      "RUNTIME-6: event 4 (ask) asks about c, which is done",
    ],
    ["an ask left open", [START, call, ask, DONE], "RUNTIME-6: a is open after the end"],
    ["an ask twice", [START, call, ask, ask, answered, DONE], "RUNTIME-6: event 4 (ask) asks a again"],
    ["an answer to nothing", [START, answered, DONE], "RUNTIME-6: event 2 (answered) answers a, which isn't open"],
    ["a total that fell", [START, less, DONE], "RUNTIME-7: event 2 (usage) is less than nothing"],
  ])("finds %s", (_what, bodies, sentence) => {
    expect(faultsIn(at(bodies), request)).toEqual([sentence]);
  });

  test("finds a gap, another run's event and one of an earlier attempt", () => {
    const [start, done] = at([START, DONE]) as [RunEvent, RunEvent];
    expect(faultsIn([start, { ...done, seq: 3 }], request)).toContain("RUNTIME-1: event 3 (done) is gap");
    expect(faultsIn([start, { ...done, run: "q" }], request)).toEqual([
      "RUNTIME-1: event 2 (done) belongs to the run q",
    ]);
    expect(faultsIn([start, done], { ...request, attempt: 2 })).toContain("RUNTIME-1: event 1 (run_started) is stale");
  });
});

test("a rig that can't try what its adapter claims is unfit", () => {
  const stage = parrotStage();
  const { think: _, ...prompts } = stage.prompts;
  const { heard: __, ...rest } = stage;
  expect(unfit(PARROT_CAN, stage)).toEqual([]);
  expect(unfit(PARROT_CAN, { ...rest, prompts })).toHaveLength(2);
});
