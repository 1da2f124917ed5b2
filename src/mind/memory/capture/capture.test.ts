import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { pretend } from "../../../../test/support/pretend.ts";
import { noCrash, silentLog } from "../../../core/kit/index.ts";
import { Capture, type CaptureParts } from "./capture.ts";

it("holds one timer for all conversations that wait to be looked through", async () => {
  let timers = 0;
  const clock = {
    now: () => 0,
    after: () => {
      timers++;
      return () => timers--;
    },
  };
  const config = () => ({ use: "rules", everyMessages: 10, idleSeconds: 300 });
  const records = { get: async () => ({ n: 1 }) };
  const capture = new Capture(pretend<CaptureParts>({ clock, config, records, log: silentLog }));
  for (let n = 0; n < 100; n++) capture.ended(`s${n}`);
  await setImmediate();
  expect(timers).toBe(1);
  await capture.stop();
  expect(timers).toBe(0);
});

it("does not read a conversation again at each turn once the day's calls are used up", async () => {
  let passes = 0;
  const records = {
    get: async (sql: string) => (sql.includes("COUNT") ? { n: 10 } : undefined),
    all: async () => {
      passes++;
      return [{ seq: 1, role: "user", content: '[{"type":"text","text":"I live in Kiel"}]', outside: 0, at: 0 }];
    },
  };
  const capture = new Capture(
    pretend<CaptureParts>({
      clock: { now: () => 0, after: () => () => {} },
      config: () => ({ use: "auto", everyMessages: 10, idleSeconds: 300, maxPerDay: 0 }),
      records,
      log: silentLog,
      crash: noCrash,
      asking: { model: () => "anthropic/some" },
      viewer: async () => ({ agent: "main" }),
      findZone: async () => "UTC",
    }),
  );
  const turns = async (count: number) => {
    for (let n = 0; n < count; n++) {
      capture.ended("s");
      await setImmediate();
      await setImmediate();
    }
  };
  await turns(8);
  expect(passes).toBe(1);
  // Now and then it is tried again: tomorrow there are calls left.
  await turns(8);
  expect(passes).toBe(2);
  await capture.stop();
});
