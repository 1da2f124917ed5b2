/** What it knows, from the page: told, found, corrected, forgotten. With the real program. */
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { complaints, needsBrowser, startBrowser, startInstance, type TestInstance } from "./support.ts";

describe.skipIf(!needsBrowser("the memory page"))("the memory page", () => {
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let instance: TestInstance;
  let signedIn: Awaited<ReturnType<TestInstance["signIn"]>>;
  let wrong: string[] = [];
  const facts = async () => (await instance.rpc("memory.list", {})).facts.map((f) => f.text);

  beforeAll(async () => {
    [browser, instance] = await Promise.all([startBrowser(), startInstance()]);
    signedIn = await instance.signIn(browser);
  });
  afterAll(async () => {
    await browser?.close();
    await instance?.dispose();
  });
  beforeEach(async () => {
    context = await browser.newContext({ viewport: { width: 1280, height: 800 }, storageState: signedIn });
    page = await context.newPage();
    page.setDefaultTimeout(25_000);
    wrong = complaints(page);
  });
  afterEach(async () => {
    expect(wrong).toEqual([]);
    await context.close();
  });

  test("empty it says how; what is told is there; search finds it; forgetting asks and deletes", async () => {
    await page.goto(instance.url);
    await page.getByRole("heading", { name: "Now" }).first().waitFor({ state: "attached" });
    await page.keyboard.press("g");
    await page.keyboard.press("m");
    await page.waitForURL(/\/memory$/);
    await page.getByText(/^No memories yet/).waitFor();
    await page.getByText('lares memory add "…"').waitFor();

    const tell = page.getByLabel("Add a fact");
    await tell.fill("Ana prefers green tea.");
    await tell.press("Enter");
    await page.getByText("One fact, from today.").waitFor();
    // Whoever tells one thing often tells another.
    await page.waitForFunction(`document.activeElement?.id === "tell"`);
    await tell.fill("The boiler is serviced by Weber.");
    await page.getByRole("button", { name: "Remember" }).click();
    await page.getByText("2 facts, the newest today.").waitFor();
    const rows = page.locator("[data-fact]");
    expect(await rows.locator(".text").allTextContents()).toEqual([
      "The boiler is serviced by Weber.",
      "Ana prefers green tea.",
    ]);
    await rows.first().getByText("from the owner").waitFor();

    await page.waitForFunction(`document.activeElement?.id === "tell"`);
    await page.locator("h1").focus();
    await page.keyboard.press("/");
    await page.keyboard.type("who likes green tea");
    // By words one, by meaning perhaps more; the best is first.
    await page
      .getByRole("status")
      .getByText(/^(One found|2 found, best match first)\.$/)
      .waitFor();
    expect(await rows.first().locator(".text").textContent()).toBe("Ana prefers green tea.");
    await rows.first().getByText("from the owner").waitFor();
    await page.getByLabel("Search memory").fill("");
    await page.getByText("found").waitFor({ state: "detached" });
    await rows.nth(1).waitFor();

    const dialog = page.getByRole("dialog", { name: "Forget this fact?" });
    await page.getByRole("button", { name: "Forget: Ana prefers green tea." }).click();
    await dialog.getByText("Ana prefers green tea.").waitFor();
    await dialog.getByText(/can't be undone/).waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    expect(await facts()).toHaveLength(2);
    await page.getByRole("button", { name: "Forget: Ana prefers green tea." }).click();
    await dialog.getByRole("button", { name: "Forget this fact" }).click();
    await page.getByText("Forgotten.").waitFor();
    await page.getByText("One fact, from today.").waitFor();
    expect(await facts()).toEqual(["The boiler is serviced by Weber."]);
  });

  test("a correction keeps whose fact it is and takes the place of the old one; the source leads to its conversation", async () => {
    const session = "agent:main:web:tea";
    await instance.rpc("chat.send", { message: "hello", session, wait: true });
    const { id } = await instance.rpc("memory.add", {
      text: "Bruno drinks black coffee.",
      scope: "agent:main",
      kind: "preference",
      source: `session:${session}`,
    });
    await page.goto(`${instance.url}/memory`);
    const row = page.locator("[data-fact]").filter({ hasText: "Bruno" });
    await row.getByText("for agent main").waitFor();
    expect(await row.getByRole("link").getAttribute("href")).toBe(`/chat/${encodeURIComponent(session)}`);
    await page.getByRole("button", { name: "Correct: Bruno drinks black coffee." }).click();
    await page.getByLabel("Corrected fact").fill("Bruno drinks coffee with milk.");
    await page.getByRole("button", { name: "Save correction" }).click();
    await page.getByText("Corrected.").waitFor();
    await row.getByText("Bruno drinks coffee with milk.").waitFor();
    const now = (await instance.rpc("memory.list", {})).facts.filter((f) => f.text.includes("Bruno"));
    expect(now).toMatchObject([{ text: "Bruno drinks coffee with milk.", scope: "agent:main", kind: "preference" }]);
    expect(now[0]!.id).not.toBe(id);

    // The same words written otherwise are the same fact: nothing is deleted.
    await page.getByRole("button", { name: "Correct: Bruno drinks coffee with milk." }).click();
    await page.getByLabel("Corrected fact").fill("bruno drinks coffee with milk");
    await page.getByRole("button", { name: "Save correction" }).click();
    await page.getByLabel("Corrected fact").waitFor({ state: "detached" });
    expect((await facts()).filter((f) => /bruno/i.test(f))).toHaveLength(1);
  });

  test("what waits is decided, a correction is undone, the page follows news, the graph leads to a search; also on a phone", async () => {
    await instance.rpc("memory.add", { text: "Nora works on the lighthouse film", scope: "shared" });
    await instance.rpc("memory.import", {
      trusted: true,
      facts: [
        {
          ...{ id: "mem_doubtful", text: "Nora owns a submarine", kind: "fact", scope: "shared", state: "pending" },
          ...{
            trust: "outside",
            at: 1,
            createdAt: 1,
            uses: 0,
            why: "Text from outside was part of this conversation.",
          },
        },
      ],
    });
    await page.setViewportSize({ width: 380, height: 800 });
    await page.goto(`${instance.url}/memory`);
    await page.getByText("One fact to confirm").waitFor();
    await page.getByText("Text from outside was part of this conversation.").waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    if (process.env.LARES_SHOTS)
      await page.screenshot({ path: `${process.env.LARES_SHOTS}/memory-380.png`, fullPage: true });
    await page.getByRole("button", { name: "Keep: Nora owns a submarine" }).click();
    await page.getByText("One fact to confirm").waitFor({ state: "detached" });
    await page.locator("[data-fact]").filter({ hasText: "submarine" }).waitFor();

    await page.setViewportSize({ width: 1280, height: 900 });
    // Told from elsewhere, it shows without a reload.
    await instance.rpc("memory.add", { text: "The kettle descales on Fridays" });
    await page.locator("[data-fact]").filter({ hasText: "kettle" }).waitFor();
    await page.getByRole("button", { name: "Correct: The kettle descales on Fridays" }).click();
    await page.getByLabel("Corrected fact").fill("The kettle descales on Mondays");
    await page.getByRole("button", { name: "Save correction" }).click();
    await page.locator("[data-fact]").filter({ hasText: "on Mondays" }).waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.locator("[data-fact]").filter({ hasText: "on Fridays" }).waitFor();
    expect((await facts()).filter((f) => f.includes("kettle"))).toEqual(["The kettle descales on Fridays"]);

    const graph = page.getByRole("group", { name: /names and \d+ relations/ });
    await graph.waitFor();
    if (process.env.LARES_SHOTS)
      await page.screenshot({ path: `${process.env.LARES_SHOTS}/memory-1280.png`, fullPage: true });
    await graph.getByRole("button", { name: /Search memory for nora/i }).press("Enter");
    await page.getByRole("status").getByText(/found/).waitFor();
  });
});
