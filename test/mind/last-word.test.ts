/** At the cap of minutes the model is asked once more, without tools, as it is at the cap of calls. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { lastSaid, type Rig, startRig, textOf } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  // The clock is moved while the model is asked.
  const models = { firstByteTimeoutMs: 3_600_000, idleTimeoutMs: 3_600_000 };
  rig = await startRig({ config: { limits: { minutes: 10 }, models } });
});
afterAll(() => rig?.stop());

test("a turn that used up its minutes ends with the model's last word, not in failure", async () => {
  rig.model.use((request) => {
    if (textOf(request.messages.at(-1)!).includes("Answer now, without tools")) return { text: "half of it is done" };
    rig.clock.advance(6 * 60_000);
    return { toolCalls: [{ name: "list", input: { path: "." } }] };
  });
  const end = await rig.chat("slow", "go on and on");
  expect(end).toMatchObject({ state: "answered", response: "half of it is done" });
  expect(end.notices).toEqual(["The turn reached its limit of 10 minutes."]);
  expect(rig.model.requests).toHaveLength(3);
  expect(textOf(lastSaid(rig.last()))).toMatch(
    /^\[The turn reached its limit of 10 minutes\. Answer now, without tools: /,
  );
});

test("a model that goes on calling tools after its minutes gets nothing more run", async () => {
  rig.model.use(() => {
    rig.clock.advance(11 * 60_000);
    return { toolCalls: [{ name: "list", input: { path: "." } }] };
  });
  const before = rig.model.requests.length;
  const end = await rig.chat("stubborn", "go on");
  expect(end).toMatchObject({ state: "failed", reason: "The turn reached its limit of 10 minutes." });
  expect(rig.model.requests).toHaveLength(before + 2);
});
