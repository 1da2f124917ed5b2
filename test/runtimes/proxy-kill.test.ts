/** Lares is killed while a runtime's model call streams: what it cost is in the ledger afterwards, marked as a guess. */
import { expect, onTestFinished, test } from "vitest";
import { Child } from "../contracts/engine/child.ts";
import { startModelServer } from "../fakes/model-server/index.ts";
import { scratch, until } from "../support/index.ts";
import { allProviders, call, FORMATS, openProxyWorld } from "./proxy-world.ts";

test("BUDGET-6: kill -9 in the middle of an answer leaves one line in the ledger, as guessed, and nothing set aside (RT-05)", async () => {
  const model = await startModelServer({ script: () => ({ text: "a long story ".repeat(50), stall: true }) });
  onTestFinished(() => model.close());
  const home = scratch("proxy-kill");
  const child = new Child(new URL("./proxy-child.ts", import.meta.url), [home, model.url]);
  await child.says("streaming");
  await child.kill();
  await until("the provider's connection to close", () => model.requests[0]!.aborted);
  for (const life of [1, 2]) {
    const next = await openProxyWorld({ home, models: allProviders(model.url) });
    expect(await next.holds()).toEqual([]);
    expect(await next.ledger(), `life ${life}`).toEqual([
      expect.objectContaining({
        call: 0,
        runtime: "claude-code",
        basis: "guessed",
        model: "anthropic/claude-sonnet-4-5",
      }),
    ]);
    const [all] = await next.budget.use({ agent: "main", session: "agent:main:main" });
    expect([all!.reserved.dollars, all!.spent.calls]).toEqual([0, 1]);
    expect(all!.spent.dollars).toBe((await next.ledger())[0]!.cost);
    await next.close();
  }
  // The next attempt's calls don't take the number of the one that was cut off.
  model.use(() => ({ text: "whole" }));
  const next = await openProxyWorld({ home, models: allProviders(model.url) });
  onTestFinished(() => next.close());
  const { baseUrl, token } = await next.grant();
  await (await call(baseUrl, FORMATS.anthropic(token, "again", true))).text();
  await until("the ledger", async () => (await next.ledger()).length === 2);
  expect((await next.ledger()).map(({ call: number, basis }) => [number, basis])).toEqual([
    [0, "guessed"],
    [1, "priced"],
  ]);
});
