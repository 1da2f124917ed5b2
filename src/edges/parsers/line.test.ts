import { expect, it } from "vitest";
import { WorkLine } from "./line.ts";

const limits = { atOnce: 2, mostWaiting: 2, mostWaitingBytes: 100, mostWaitMs: 60_000 };

/** Work that ends when told to. */
function held() {
  let end = () => {};
  const done = new Promise<void>((resolve) => {
    end = resolve;
  });
  let started = false;
  const work = async () => {
    started = true;
    await done;
  };
  return { work, end: () => end(), hasStarted: () => started };
}

it("runs two at once and the others in their order; one too many is turned away", async () => {
  const line = new WorkLine(limits);
  const works = [held(), held(), held(), held()];
  const runs = works.map(({ work }) => line.run(1, work));
  await expect(line.run(1, async () => {})).rejects.toMatchObject({ code: "TOO_MANY" });
  expect(works.map((one) => one.hasStarted())).toEqual([true, true, false, false]);
  works[1]!.end();
  await runs[1];
  await Promise.resolve();
  expect(works.map((one) => one.hasStarted())).toEqual([true, true, true, false]);
  for (const { end } of works) end();
  await Promise.all(runs);
  expect(await line.run(1, async () => "free again")).toBe("free again");
});

it("turns away what is too large to wait, waits too long, or is aborted, and lets the next one in", async () => {
  const line = new WorkLine({ ...limits, atOnce: 1, mostWaitMs: 20 });
  const first = held();
  const running = line.run(1, first.work);
  await expect(line.run(101, async () => {})).rejects.toMatchObject({ code: "TOO_MANY" });
  await expect(line.run(1, async () => {})).rejects.toThrow("busy");
  const stop = new AbortController();
  const aborted = line.run(1, async () => {}, stop.signal);
  stop.abort(new Error("not needed any more"));
  await expect(aborted).rejects.toThrow("not needed any more");
  const next = line.run(1, async () => "next");
  first.end();
  await running;
  expect(await next).toBe("next");
});

it("a failure frees the place", async () => {
  const line = new WorkLine({ ...limits, atOnce: 1 });
  await expect(line.run(1, () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  expect(await line.run(1, async () => "after it")).toBe("after it");
});
