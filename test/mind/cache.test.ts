/** How much of a request the provider reads from its cache, by the usage it reports. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PROTOCOLS, type Rig, startRig } from "./rig.ts";

describe.each(PROTOCOLS)("over %s", (protocol) => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ protocol });
  });
  afterAll(() => rig?.stop());

  /** Of what the model read in one turn, the share that came from the cache. */
  const share = async (user: string, text: string) => {
    const { usage } = await rig.chat(user, text);
    const { inputTokens, cacheReadTokens, cacheWriteTokens } = usage!;
    return cacheReadTokens / (inputTokens + cacheReadTokens + cacheWriteTokens);
  };

  test("turn 2 reads at least 95 % of its input from the cache", async () => {
    expect(await share("ana", "hello")).toBe(0);
    expect(await share("ana", "and you?")).toBeGreaterThanOrEqual(0.95);
  });

  test("so does turn 3 after a tool call, a pause and a restart, and another chat shares the tools and instructions", async () => {
    rig.model.reset();
    await share("bo", 'look tool:list {"path":"."} then: say:done');
    rig.clock.advance(4 * 3_600_000);
    await rig.restart();
    expect(await share("bo", "and now?")).toBeGreaterThanOrEqual(0.95);
    expect(await share("cy", "hello")).toBeGreaterThanOrEqual(0.95);
  });
});
