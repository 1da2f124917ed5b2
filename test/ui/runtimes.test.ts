/** Runtimes from the page: what is here, tried out with one button, with its proofs. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { spawnModel } from "../support/index.ts";
import { describeModelled } from "../support/modelled-agent.ts";
import { complaints, needsBrowser, startBrowser, startInstance, type TestInstance } from "./support.ts";

describe.skipIf(!needsBrowser("runtimes in the browser"))("runtimes in the browser", () => {
  let browser: Browser;
  let instance: TestInstance;
  let model: Awaited<ReturnType<typeof spawnModel>>;

  beforeAll(async () => {
    model = await spawnModel();
    [browser, instance] = await Promise.all([startBrowser(), startInstance(model.env)]);
    await instance.rpc("config.set", { path: "runtimes", value: { mine: describeModelled() } });
  });
  afterAll(async () => {
    await browser?.close();
    await instance?.dispose();
    await model?.stop();
  });

  test.each([1280, 380])(
    "shows what is missing and the fix, and what was seen to work after a trial (%i px)",
    async (width) => {
      const context = await browser.newContext({
        viewport: { width, height: 800 },
        storageState: await instance.signIn(browser),
      });
      const page = await context.newPage();
      const wrong = complaints(page);
      await page.goto(`${instance.url}/settings/runtimes`);
      const goose = page.locator("details", { hasText: "Goose" });
      await goose.getByText("not installed").waitFor();
      await goose.locator("summary").click();
      await goose.getByText("Goose isn't installed").waitFor();
      const mine = page.locator("details", { hasText: "The agent" });
      await mine.locator("summary").click();
      await mine.getByRole("button", { name: "Try it out" }).click();
      await page.getByText(/The agent: \d+ of \d+ things that were tried worked/).waitFor();
      await mine.getByText("Asks before every action · seen here").waitFor();
      await mine.getByText("Takes tools over MCP · claimed").waitFor();
      const isWide = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
      expect([isWide, wrong]).toEqual([false, []]);
      await context.close();
    },
    60_000,
  );
});
