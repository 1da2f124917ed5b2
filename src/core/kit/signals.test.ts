import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { deadline, following } from "./signals.ts";

test("aborts with its parent, or when the time is up, and not after it was let go", async () => {
  const parent = new AbortController();
  const followed = deadline(parent.signal, 60_000);
  const released = deadline(parent.signal, 5);
  const timed = deadline(parent.signal, 1);
  released.done();
  await new Promise<void>((resolve) => timed.signal.addEventListener("abort", () => resolve()));
  expect((timed.signal.reason as Error).name).toBe("TimeoutError");
  parent.abort(new Error("stop"));
  expect((followed.signal.reason as Error).message).toBe("stop");
  expect(released.signal.aborted).toBe(false);
  expect(deadline(parent.signal, 1000).signal.aborted).toBe(true);
  followed.done();
});

test("follows several, aborts with the first, and leaves nothing at a parent that lives on", () => {
  const [program, turn] = [new AbortController(), new AbortController()];
  const left = () => getEventListeners(program.signal, "abort").length;
  const [kept, released] = [following(program.signal, turn.signal), following(program.signal, turn.signal)];
  expect(left()).toBe(2);
  released.done();
  expect(left()).toBe(1);
  turn.abort("stop");
  expect(kept.signal.reason).toBe("stop");
  expect(released.signal.aborted).toBe(false);
  // It has aborted, so there is nothing left to wait for.
  expect(left()).toBe(0);
  expect(following(program.signal, turn.signal).signal.reason).toBe("stop");
  expect(left()).toBe(0);
});
