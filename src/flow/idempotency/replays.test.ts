/** Idempotency keys, on real records. */
import { expect, test } from "vitest";
import { testRecords } from "../../../test/support/records.ts";
import { AppError } from "../../core/domain/index.ts";
import { ManualClock } from "../../core/kit/index.ts";
import { Replays } from "./index.ts";
import { pruneReplays } from "./store.ts";

async function world() {
  const { records } = await testRecords("replays");
  const clock = new ManualClock();
  let runs = 0;
  const call = (over: { key?: string; params?: unknown; run?: () => Promise<number> } = {}) => ({
    principal: "owner",
    method: "x.add",
    key: "k",
    params: { a: 1 },
    run: async () => ++runs,
    ...over,
  });
  const countRows = async () => (await records.get<{ n: number }>("SELECT COUNT(*) AS n FROM replay"))!.n;
  return { records, clock, call, countRows, replays: new Replays(() => records, clock) };
}

test("two calls with one key at the same time are one call, and a later one gets the same, also after a restart (REPLAYS-1)", async () => {
  const { records, clock, call, replays } = await world();
  expect(await Promise.all([replays.once(call()), replays.once(call())])).toEqual([1, 1]);
  expect(await replays.once(call())).toBe(1);
  expect(await new Replays(() => records, clock).once(call())).toBe(1);
  expect(await replays.once(call({ key: "other" }))).toBe(2);
});

test("a failure is not kept: the same key may try again (REPLAYS-2)", async () => {
  const { call, replays } = await world();
  const failing = call({ run: async () => Promise.reject(new Error("no")) });
  await expect(replays.once(failing)).rejects.toThrow("no");
  expect(await replays.once(call())).toBe(1);
});

test("asking something else with a key is a conflict, at the same time and later (REPLAYS-3)", async () => {
  const { call, replays } = await world();
  const first = replays.once(call());
  await expect(replays.once(call({ params: { a: 2 } }))).rejects.toThrow(AppError);
  await first;
  await expect(replays.once(call({ params: { a: 2 } }))).rejects.toMatchObject({ code: "CONFLICT" });
});

test("a result is kept for a day, and the table is bounded (REPLAYS-4)", async () => {
  const { records, clock, call, countRows, replays } = await world();
  await replays.once(call());
  await clock.advance(86_400_000);
  expect(await replays.once(call())).toBe(2);
  for (const key of ["b", "c", "d"]) {
    await clock.advance(1000);
    await replays.once(call({ key }));
  }
  expect(await countRows()).toBe(4);
  await records.write((tx) => pruneReplays(tx, 0, 1));
  expect(await countRows()).toBe(2);
  await records.write((tx) => pruneReplays(tx, clock.now() + 1, 10));
  expect(await countRows()).toBe(0);
});
