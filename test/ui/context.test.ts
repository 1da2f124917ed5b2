/** "What the model sees" on the page: every part of the next request, on a wide screen and on a phone. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startModelServer } from "../fakes/model-server/index.ts";
import { modelEnv, TOKEN } from "../support/index.ts";
import { complaints, needsBrowser, startBrowser, startInstance, type TestInstance } from "./support.ts";

describe.skipIf(!needsBrowser("what the model reads, on the page"))("what the model reads", () => {
  let browser: Browser;
  let instance: TestInstance;
  let model: Awaited<ReturnType<typeof startModelServer>>;
  beforeAll(async () => {
    model = await startModelServer();
    [browser, instance] = await Promise.all([startBrowser(), startInstance(modelEnv(model.url))]);
  });
  afterAll(async () => {
    await browser?.close();
    await instance?.dispose();
    await model?.close();
  });

  test.each([
    { name: "desktop", width: 1280, height: 900 },
    { name: "phone", width: 390, height: 844 },
  ])("shows each part with its cost and cache state on a $name", async ({ name, width, height }) => {
    const session = `agent:main:http:owner:${name}`;
    for (const text of ['look tool:list {"path":"."} then: say:Nothing here.', "say:Hello again."]) {
      const answer = await fetch(`${instance.url}/chat`, {
        method: "POST",
        headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
        body: JSON.stringify({ user_id: name, message: text }),
      });
      expect(answer.status).toBe(200);
    }
    const context = await browser.newContext({
      viewport: { width, height },
      storageState: await instance.signIn(browser),
    });
    const page = await context.newPage();
    const wrong = complaints(page);
    await page.goto(`${instance.url}/chat/${encodeURIComponent(session)}`);
    await page.getByText("Hello again.").first().waitFor();
    await page
      .getByRole("button", { name: /more|conversation/i })
      .first()
      .click();
    await page.getByRole("button", { name: "What the model sees" }).click();
    await page.getByText("Everything the model would see now").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/^About [\d,]+ tokens/).waitFor();
    const shown = await instance.rpc("context.request", { session });
    expect(await dialog.locator("details details").count()).toBe(shown.parts.length);
    expect(await dialog.getByText("cached up to here").count()).toBe(shown.parts.filter((part) => part.mark).length);
    await dialog.locator("summary", { hasText: "Place" }).click();
    await dialog.getByText("You are the agent main").waitFor();
    const shots = process.env.LARES_SHOTS;
    if (shots) await page.screenshot({ path: `${shots}/context-${name}.png` });
    await dialog.locator("summary", { hasText: "Result: list" }).scrollIntoViewIfNeeded();
    if (shots) await page.screenshot({ path: `${shots}/context-${name}-end.png` });
    expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
    expect(wrong).toEqual([]);
    await context.close();
  });
});
