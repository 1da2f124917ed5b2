import { expect, test } from "vitest";
import { ManualClock } from "../../core/kit/index.ts";
import { OwnCalls } from "./own-calls.ts";

const never = new AbortController().signal;
const announce = (call: string, name: string) => ({ type: "tool_call" as const, call, name, input: {} });

function open() {
  const clock = new ManualClock(0);
  const calls = new OwnCalls(clock);
  let woken = 0;
  calls.wake = () => woken++;
  return { clock, calls, woken: () => woken };
}

test("a call waits for the run's own word about it, so that what was read before is known (RUNTOOLS-1)", async () => {
  const { calls } = open();
  const result = calls.take("memory_save", { text: "x" }, never);
  expect(calls.next()).toBeUndefined();
  calls.heard(announce("1", "bash"));
  expect(calls.next()).toBeUndefined();
  calls.heard(announce("2", "mcp__lares__memory_save"));
  const ready = calls.next()!;
  expect(ready).toMatchObject({ name: "memory_save", input: { text: "x" }, isAnnounced: true });
  expect(calls.isServing).toBe(true);
  calls.settle(ready.call, { text: "Saved", isError: false });
  expect(await result).toEqual({ text: "Saved", isError: false });
  expect(calls.isServing).toBe(false);
});

test("one word announces one call, and none once its result is there (RUNTOOLS-2)", () => {
  const { calls } = open();
  calls.heard(announce("1", "lares_message"));
  void calls.take("message", {}, never);
  void calls.take("message", {}, never);
  expect(calls.next()).toMatchObject({ isAnnounced: true });
  expect(calls.next()).toBeUndefined();
  calls.heard(announce("2", "lares_message"));
  calls.heard({ type: "tool_result", call: "2", isError: false, text: "" });
  expect(calls.next()).toBeUndefined();
});

test("without a word it is ready after a while, as announced by nobody (RUNTOOLS-2)", () => {
  const { calls, clock, woken } = open();
  void calls.take("message", {}, never);
  const before = woken();
  clock.advance(3000);
  expect(woken()).toBe(before + 1);
  expect(calls.next()).toMatchObject({ name: "message", isAnnounced: false });
});

test("a call whose client went away before it was begun isn't begun; the end of the run refuses the rest", async () => {
  const { calls, clock } = open();
  const gone = new AbortController();
  const left = calls.take("message", {}, gone.signal);
  gone.abort();
  await expect(left).rejects.toThrow("This run is over.");
  clock.advance(3000);
  expect(calls.next()).toBeUndefined();
  const waiting = calls.take("message", {}, never);
  calls.end();
  await expect(waiting).rejects.toThrow("This run is over.");
  await expect(calls.take("message", {}, never)).rejects.toThrow("This run is over.");
});

test("more calls at once than a model makes are refused", async () => {
  const { calls } = open();
  const all = Array.from({ length: 33 }, () => calls.take("message", {}, never));
  for (const one of all) one.catch(() => {});
  expect(await all.at(-1)).toMatchObject({ isError: true, text: expect.stringContaining("Too many") });
  calls.end();
});
