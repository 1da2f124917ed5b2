import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { pretend } from "../../../../test/support/pretend.ts";
import { silentLog } from "../../../core/kit/index.ts";
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
