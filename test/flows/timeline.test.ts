/** What the turn's page is drawn from: cost and failed tries per model call, and restarts in between. */
import { expect, it } from "vitest";
import { requestsWith, startLares, startModel, until } from "../support/index.ts";

it("a turn that was retried and survived a restart tells both, and what each call cost", async () => {
  const model = await startModel();
  const lares = await startLares({ env: model.env });
  try {
    const message = '#tl fail:overload*1 tool:list {"path":"."} then: stall*1 say:done';
    const { turn } = await lares.rpc("chat.send", { message, user: "ana", wait: false });
    await until("the second model call", () => requestsWith(model, "#tl").length === 3);
    await lares.restart();
    expect(await lares.rpc("turns.wait", { turn })).toMatchObject({ state: "answered", response: "done" });
    const { steps, restarts } = await lares.rpc("turns.get", { turn });
    const [first, second] = steps.filter((step) => step.name.startsWith("model:"));
    expect(first!.failed).toEqual([
      { at: expect.any(Number), model: expect.stringContaining("/"), failure: "overload" },
    ]);
    expect(first!.failed![0]!.at).toBeGreaterThanOrEqual(first!.at);
    expect(second!.failed).toBeUndefined();
    expect(second!.usage!.inputTokens).toBeGreaterThan(0);
    expect(second!.model).toBe(first!.model);
    expect(restarts).toHaveLength(1);
    expect(restarts[0]!.at).toBeGreaterThan(first!.endedAt!);
    expect(restarts[0]!.resumedAt).toBeGreaterThanOrEqual(restarts[0]!.at);
    expect(restarts[0]!.resumedAt).toBeLessThanOrEqual(second!.at);
    // What was finished before is not done again: the tool ran once.
    expect(steps.filter((step) => step.name.startsWith("tool:list"))).toHaveLength(1);
  } finally {
    await lares.dispose();
    await model.close();
  }
});
