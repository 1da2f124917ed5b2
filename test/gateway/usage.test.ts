/** What was spent is shown as far as it is known; what is not known is counted beside it and hides nothing. */
import { expect, test } from "vitest";
import { spent } from "../../src/faces/cli/format.ts";
import { startModelServer } from "../fakes/model-server/index.ts";
import { openInstance } from "./support.ts";

test("one call of unknown price does not hide what the others cost", async () => {
  const model = await startModelServer();
  const instance = await openInstance({
    config: `models:
  default: mine/priced
  providers:
    mine:
      api: openai-chat
      baseUrl: "${model.url}/v1"
      keys: [k]
      models: { priced: { price: { input: 1000, output: 1000 } }, other: {} }
`,
  });
  try {
    const say = (user: string, which?: string) =>
      instance.rpc("chat.send", { message: "say:x", user, ...(which ? { model: which } : {}) });
    await say("ana");
    const before = (await instance.rpc("status", {})).usageToday;
    expect(before.cost).toBeGreaterThan(0);
    expect(before).toMatchObject({ calls: 1, unknownPrice: 0 });
    const { session } = await say("ana", "mine/other");
    const { usageToday } = await instance.rpc("status", {});
    expect(usageToday).toMatchObject({ calls: 2, unknownPrice: 1, cost: before.cost });
    expect(spent(usageToday)).toBe(`${spent(before)}, unknown for 1 call`);
    const summary = await instance.rpc("usage.summary", {});
    expect(summary.total).toMatchObject({ cost: before.cost, unknownPrice: 1 });
    expect(summary.days[0]).toMatchObject({ cost: before.cost, unknownPrice: 1 });
    // Nothing is known of a model all of whose calls are unknown: that is not $0.
    expect(summary.models.find((m) => m.model === "mine/other")).toMatchObject({ cost: null, unknownPrice: 1 });
    const said = await instance.rpc("chat.send", { message: "/usage", session });
    expect(said.response).toMatch(/\$\d+\.\d{4}, unknown for 1 call\./);
  } finally {
    await instance.stop();
    await model.close();
  }
});

test("a budget that refuses says at which price a model of unknown price is counted", async () => {
  const model = await startModelServer();
  const instance = await openInstance({
    config: `models:
  default: mine/other
  providers: { mine: { api: openai-chat, baseUrl: "${model.url}/v1", keys: [k], models: { other: {} } } }
budgets: { perDay: { dollars: 0.000001 } }
`,
  });
  try {
    const answer = await instance.rpc("chat.send", { message: "say:x" });
    expect(answer).toMatchObject({ state: "declined", failure: "budget" });
    expect(answer.reason).toMatch(/price isn't known, so it is counted at \$\d+ per million tokens/);
  } finally {
    await instance.stop();
    await model.close();
  }
});
