import { expect, test } from "vitest";
import { nextPlace, RUN_START, type RunEvent, type RunEventBody } from "./index.ts";

const event = (attempt: number, seq: number, body: RunEventBody = { type: "text", text: "a" }): RunEvent => ({
  run: "r",
  attempt,
  seq,
  at: 0,
  body,
});

test("RUNTIME-1: an event of a smaller attempt is never recorded, also when its number would fit", () => {
  const known = { attempt: 2, seq: 5, ended: false };
  expect(nextPlace(known, event(1, 6))).toBe("stale");
  expect(nextPlace(known, event(2, 6))).toEqual({ attempt: 2, seq: 6, ended: false });
  expect(nextPlace(known, event(3, 6))).toEqual({ attempt: 3, seq: 6, ended: false });
});

test("a known event is not recorded again, and a missing one is noticed", () => {
  const known = { attempt: 1, seq: 5, ended: false };
  expect(nextPlace(known, event(1, 5))).toBe("stale");
  expect(nextPlace(known, event(1, 7))).toBe("gap");
});

test("RUNTIME-2: nothing comes after done", () => {
  const ended = nextPlace(RUN_START, event(1, 1, { type: "done", outcome: "finished", text: "" }));
  expect(ended).toEqual({ attempt: 1, seq: 1, ended: true });
  expect(nextPlace(ended as typeof RUN_START, event(1, 2))).toBe("ended");
});
