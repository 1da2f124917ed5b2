/** A channel is connected from the page, a stranger knocks and is let in: the real program, a real browser, a fake Telegram. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTelegram } from "../fakes/telegram/index.ts";
import { until } from "../support/index.ts";
import { complaints, needsBrowser, startBrowser, startInstance, type TestInstance } from "./support.ts";

describe.skipIf(!needsBrowser("channels in the browser"))("channels in the browser", () => {
  let browser: Browser;
  let instance: TestInstance;
  let telegram: Awaited<ReturnType<typeof startTelegram>>;

  beforeAll(async () => {
    [browser, instance, telegram] = await Promise.all([startBrowser(), startInstance(), startTelegram()]);
  });
  afterAll(async () => {
    await browser?.close();
    await instance?.dispose();
    await telegram?.close();
  });

  test("a wrong token is refused at once; the right one connects; who knocks is let in; the token stays nowhere", async () => {
    const context = await browser.newContext({
      viewport: { width: 380, height: 800 },
      storageState: await instance.signIn(browser),
    });
    const page = await context.newPage();
    const wrong = complaints(page);
    await page.goto(`${instance.url}/settings/channels`);
    await page.getByLabel("Platform").selectOption("telegram");
    await page.getByText("More fields").click();
    await page.getByLabel("One per line, as in lares.yaml").fill(`apiUrl: ${telegram.url}`);
    const token = page.getByLabel(/bot's token/);
    expect(await token.getAttribute("type")).toBe("password");
    await token.fill("1:wrong");
    await page.getByRole("button", { name: "Check" }).click();
    await page.locator(".note, [role=alert]").first().waitFor();
    // What is pasted is checked at once, without a button.
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(telegram.token)})`);
    await token.fill("");
    await token.focus();
    await page.keyboard.press("Control+V");
    await page.getByText("This is ").waitFor();
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await page.getByText(/telegram\/main is connected as .* choose “This is me”/).waitFor();
    await page.getByText(/^working · connected/).waitFor();
    await until("a poll", () => telegram.polling());
    telegram.say(77, { id: 77, first_name: "Eve" }, "hello?");
    await page.getByText("Requests to connect").waitFor();
    await page.getByRole("button", { name: "This is me" }).click();
    await page.getByText("you: can answer approvals").waitFor();
    await until("the welcome", () => telegram.sent.some((m) => /You're in/.test(m.text)));
    expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
    const { value } = await instance.rpc("config.get", { path: "channels.telegram.main" });
    expect(JSON.stringify(value)).not.toContain(telegram.token);
    await page.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await page.getByText("No channels connected").waitFor();
    expect(wrong).toEqual([]);
    await context.close();
  });
});
