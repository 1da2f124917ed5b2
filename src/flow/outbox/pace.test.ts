import { expect, test } from "vitest";
import { editPause, Pace } from "./pace.ts";

const to = (chat: string) => ({ channel: "telegram", account: "main", chat });
const rule = { chatMs: 1000, accountMs: 40 };

test("a chat that must wait holds up no other chat of its account", () => {
  const pace = new Pace();
  expect(pace.next(to("a"), rule, 0)).toEqual({ at: 0, isMine: true });
  expect(pace.next(to("a"), rule, 0)).toEqual({ at: 1000, isMine: false });
  expect(pace.next(to("b"), rule, 0)).toEqual({ at: 40, isMine: true });
  expect(pace.next(to("c"), rule, 0)).toEqual({ at: 80, isMine: true });
  expect(pace.next(to("a"), rule, 1000)).toEqual({ at: 1000, isMine: true });
});

test("after a stall they do not leave all at once, and the pause counts from when one left", () => {
  const pace = new Pace();
  for (const chat of ["a", "b", "c"]) pace.next(to(chat), rule, 0);
  expect(pace.hold(to("a"), rule, 500)).toBe(0);
  expect(pace.hold(to("b"), rule, 500)).toBe(540);
  expect(pace.hold(to("b"), rule, 540)).toBe(0);
  expect(pace.next(to("a"), rule, 1000)).toEqual({ at: 1500, isMine: false });
  expect(pace.free(to("a"), rule)).toBe(1500);
  expect(pace.next({ ...to("a"), account: "other" }, rule, 0)).toEqual({ at: 0, isMine: true });
});

test("where the platform counts by the minute, no minute holds more; edits leave room for messages", () => {
  const pace = new Pace();
  const group = { ...rule, perMinute: (chat: string) => (chat.startsWith("-") ? 20 : undefined) };
  const left: number[] = [];
  for (let now = 0; now < 300_000; now += 100) {
    if (pace.free(to("-5"), group) > now) continue;
    pace.next(to("-5"), group, now);
    left.push(now);
  }
  for (const at of left) expect(left.filter((one) => one >= at && one < at + 60_000).length).toBeLessThanOrEqual(20);
  expect(left.length).toBeGreaterThan(90);
  expect(pace.free(to("5"), group)).toBeLessThan(300_000);
  expect(editPause(group, "-5", 2000)).toBeGreaterThan(60_000 / 15);
  expect(editPause(group, "5", 2000)).toBe(2000);
});

test("a clock that was set back a day leaves no pause of a day", () => {
  const pace = new Pace();
  const now = 1_750_000_000_000;
  const ahead = now + 86_400_000;
  const group = { ...rule, perMinute: () => 1 };
  pace.next(to("a"), group, ahead);
  pace.hold(to("a"), group, ahead);
  expect(pace.next(to("a"), group, now)).toEqual({ at: now, isMine: true });
  expect(pace.hold(to("a"), group, now)).toBe(0);
  // Small corrections of the clock change nothing.
  expect(pace.next(to("a"), rule, now - 500)).toEqual({ at: now + 1000, isMine: false });
});
