/** Connecting a model, planning something, the rules that were kept: from the page, with the real program. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { complaints, needsBrowser, startBrowser, startInstance, startTalker, type TestInstance } from "./support.ts";

const KEY = "sk-ant-pasted-by-hand-0123456789";

describe.skipIf(!needsBrowser("setting up in the browser"))("setting up in the browser", () => {
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let instance: TestInstance;
  let signedIn: Awaited<ReturnType<TestInstance["signIn"]>>;
  let talker: Awaited<ReturnType<typeof startTalker>>;
  let wrong: string[] = [];

  beforeAll(async () => {
    talker = await startTalker((said) =>
      /touch/.test(said)
        ? { toolCalls: [{ name: "exec", input: { command: "touch kept.txt" } }] }
        : { text: "Hello from the model." },
    );
    // No key: the practice model answers until one is pasted.
    [browser, instance] = await Promise.all([startBrowser(), startInstance()]);
    signedIn = await instance.signIn(browser);
  });
  afterAll(async () => {
    await browser?.close();
    talker?.close();
    await instance?.dispose();
  });
  beforeEach(async () => {
    context = await browser.newContext({ viewport: { width: 1280, height: 800 }, storageState: signedIn });
    page = await context.newPage();
    wrong = complaints(page);
  });
  afterEach(async () => {
    expect(wrong).toEqual([]);
    await context.close();
  });

  test("a key is pasted, tested and used; the next message is answered by the model; nothing stays in the browser", async () => {
    await page.goto(instance.url);
    await page.getByRole("link", { name: /Connect a model/ }).click();
    await page.waitForURL(/settings\/models/);
    await page.getByLabel("Provider").selectOption("anthropic");
    const key = page.getByLabel("Key", { exact: true });
    expect(await key.getAttribute("type")).toBe("password");
    await key.fill(KEY);
    await page.getByLabel("Model", { exact: true }).fill("claude-sonnet-5-5");
    await page.getByText("Custom address").click();
    await page.getByLabel("Address").fill("http://127.0.0.1:9");
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.locator(".result .fail").waitFor();
    await page.getByLabel("Address").fill(talker.env.ANTHROPIC_BASE_URL!);
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.getByText(/answered in/).waitFor();
    await page.getByRole("button", { name: "Use this model" }).click();
    await page.getByText("Now using anthropic/claude-sonnet-5-5.").waitFor();
    await page.getByText("key in the vault").waitFor();
    expect(await key.inputValue()).toBe("");
    expect(await page.evaluate("JSON.stringify({ ...localStorage, ...sessionStorage })")).not.toContain(KEY);
    expect(await page.content()).not.toContain(KEY);
    expect(readFileSync(join(instance.home, "lares.yaml"), "utf8")).not.toContain(KEY);

    await page.goto(`${instance.url}/chat/new`);
    await page.fill("#composer", "good morning");
    await page.press("#composer", "Enter");
    await page.locator("[role=log]").getByText("Hello from the model.").waitFor();
  });

  test("always allow shows the rule before it is kept; it is listed and removed", async () => {
    await page.goto(`${instance.url}/chat/new`);
    await page.fill("#composer", "please touch a file");
    await page.press("#composer", "Enter");
    const card = page.locator("[data-approval]");
    await card.getByText(/You, in this chat · agent main/).waitFor();
    await page.waitForTimeout(700);
    await card.getByRole("button", { name: "Always allow…" }).click();
    await card.locator(".rule pre").getByText("kept.txt").waitFor();
    await card.getByRole("button", { name: "Always allow this" }).click();
    await page.locator("[data-approval]").waitFor({ state: "detached" });
    await page.goto(`${instance.url}/approvals`);
    await page.getByRole("heading", { name: "Always allowed" }).waitFor();
    await page.getByRole("button", { name: /^Remove: .*touch/ }).click();
    await page.getByText("Removed. Lares will ask again.").waitFor();
    await page.getByRole("heading", { name: "Always allowed" }).waitFor({ state: "detached" });
  });

  test("a schedule is written in words with its next times, run, paused, resumed and removed", async () => {
    await page.goto(instance.url);
    await page.keyboard.press("g");
    await page.keyboard.press("s");
    await page.waitForURL(/\/schedule/);
    await page.getByText("Nothing scheduled.").waitFor();
    await page.getByText("lares schedule add").waitFor();
    await page.getByRole("button", { name: "Add a schedule" }).click();
    await page.getByLabel("What should it do?").fill("Say good morning");
    await page.getByLabel("When?").fill("whenever you like");
    await page.locator("#preview .fail").waitFor();
    await page.getByLabel("When?").fill("weekdays 7:00");
    await page
      .locator("#preview")
      .getByText(/weekdays 07:00/)
      .waitFor();
    expect(await page.locator("#preview li").count()).toBe(5);
    await page.getByLabel("Name (optional)").fill("morning");
    await page.getByRole("button", { name: "Add schedule" }).click();
    await page.getByText("Scheduled “morning”.").waitFor();
    await page.getByRole("button", { name: "Run now" }).click();
    await page.getByRole("link", { name: "Open the turn" }).click();
    await page.waitForURL(/\/turns\//);
    await page.getByText("Hello from the model.").first().waitFor();

    await page.goto(`${instance.url}/schedule`);
    await page.getByRole("list", { name: "Last ten runs" }).getByRole("link").waitFor();
    await page.getByRole("link", { name: "morning", exact: true }).click();
    await page.getByText("Say good morning").waitFor();
    await page.locator(".rowlink").getByText("done").waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByText("Paused").waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByText(/in \d/).first().waitFor();
    await page.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("button", { name: "Remove schedule" }).click();
    await page.getByText("Nothing scheduled.").waitFor();
  });

  test("the log shows the turns that ended; what is spent stands against its cap", async () => {
    await page.goto(`${instance.url}/log`);
    const log = page.getByRole("log");
    await log.getByText("Lares started").waitFor();
    await log
      .getByText(/turn answered/)
      .first()
      .waitFor();
    await page.goto(instance.url);
    await page.getByText(/of \$20\.00 a day/).waitFor();
  });

  test("on touch no keys are shown", async () => {
    const phone = await browser.newContext({
      viewport: { width: 390, height: 844 },
      isMobile: true,
      hasTouch: true,
      storageState: signedIn,
    });
    const small = await phone.newPage();
    const { turns } = await instance.rpc("turns.list", { limit: 1 });
    await small.goto(`${instance.url}/turns/${turns[0]!.turn}`);
    await small.getByText("Select a step").waitFor();
    expect(await small.getByText("j and k move between steps").isVisible()).toBe(false);
    await small.getByRole("link", { name: "More" }).click();
    await small.getByRole("link", { name: "Settings" }).click();
    await small.waitForURL(/settings/);
    await phone.close();
  });

  test("a provider is removed by name, and the practice model answers again", async () => {
    await page.goto(`${instance.url}/settings/models`);
    await page.getByRole("button", { name: "Remove Anthropic" }).click();
    await page.getByRole("button", { name: "Remove provider" }).click();
    await page.getByText(/Now using .*practice/).waitFor();
    expect((await instance.rpc("status", {})).model.practice).toBe(true);
  });
});
