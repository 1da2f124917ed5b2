/** Plugins from the page: looked at before the yes, switched on and off, and why Lares switched one off. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { spawnModel, until } from "../support/index.ts";
import { makePlugin } from "../support/plugin.ts";
import { complaints, needsBrowser, startBrowser, startInstance, type TestInstance } from "./support.ts";

describe.skipIf(!needsBrowser("plugins in the browser"))("plugins in the browser", () => {
  let browser: Browser;
  let instance: TestInstance;
  let model: Awaited<ReturnType<typeof spawnModel>>;

  beforeAll(async () => {
    model = await spawnModel();
    [browser, instance] = await Promise.all([startBrowser(), startInstance(model.env)]);
  });
  afterAll(async () => {
    await browser?.close();
    await instance?.dispose();
    await model?.stop();
  });
  // Also after one that failed in the middle: each begins without plugins.
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
    for (const { name } of (await instance.rpc("plugins.list", {})).plugins)
      await instance.rpc("plugins.remove", { name, deleteData: true });
    await instance.rpc("config.set", { path: "plugins.config", value: {} });
  });
  const open = async (width: number) => {
    const context = await browser.newContext({
      viewport: { width, height: 800 },
      storageState: await instance.signIn(browser),
    });
    const page = await context.newPage();
    const wrong = complaints(page);
    await page.goto(`${instance.url}/settings/plugins`);
    return { page, wrong };
  };
  const states = async () =>
    (await instance.rpc("plugins.list", {})).plugins.map(({ name, state }) => `${name} ${state}`);

  test.each([1280, 380])(
    "a plugin is shown before the yes, switched off and on, updated and removed (%i px)",
    async (width) => {
      const { page, wrong } = await open(width);
      const from = makePlugin("sky", { rights: { tools: ["act"], hosts: ["api.example.com"], hooks: ["turn.ended"] } });
      await page.getByText("No plugins yet").waitFor();
      await page.getByLabel("Where it is").fill(from);
      await page.getByRole("button", { name: "Look at it" }).click();
      const asked = page.getByRole("dialog", { name: "Install sky?" });
      for (const right of ["reach api.example.com", "hear and judge turn.ended", "offer the tool act"])
        await asked.getByText(right).waitFor();
      expect(await states()).toEqual([]);
      await asked.getByRole("button", { name: "Cancel" }).click();
      await asked.waitFor({ state: "detached" });
      expect(await states()).toEqual([]);
      await page.getByRole("button", { name: "Look at it" }).click();
      await asked.getByRole("button", { name: "Install" }).click();
      await page.getByText("Installed sky.").waitFor();
      expect(await states()).toEqual(["sky on"]);
      await page.locator("summary", { hasText: "sky" }).click();
      await page.getByRole("button", { name: "Switch off" }).click();
      await page.getByRole("button", { name: "Switch on" }).waitFor();
      expect(await states()).toEqual(["sky off"]);
      await page.getByRole("button", { name: "Switch on" }).click();
      await page.getByRole("button", { name: "Switch off" }).waitFor();
      const manifest = JSON.parse(readFileSync(join(from, "plugin.json"), "utf8"));
      manifest.version = "2.0.0";
      manifest.extensions["dev.lares"].rights.secrets = ["SKY_KEY"];
      writeFileSync(join(from, "plugin.json"), JSON.stringify(manifest));
      await page.getByRole("button", { name: "Look for an update" }).click();
      const update = page.getByRole("dialog", { name: "Update sky?" });
      await update.getByText("It newly asks to:").waitFor();
      await update.getByText("know your secret SKY_KEY").first().waitFor();
      await update.getByRole("button", { name: "Update", exact: true }).click();
      await page.locator("summary").getByText("2.0.0").waitFor();
      // The list says it, and the check says it once more.
      const lacks = "It wants the secret SKY_KEY, which isn't in the vault.";
      await page.locator("summary").getByText(lacks).waitFor();
      await page.getByRole("button", { name: "Check" }).click();
      await page.getByRole("status").getByText(lacks).waitFor();
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
      await page.getByRole("button", { name: "Remove" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
      await page.getByText("No plugins yet").waitFor();
      expect(wrong).toEqual([]);
      await page.context().close();
    },
  );

  test("a plugin that Lares switched off says why, and comes back with a click", async () => {
    await instance.rpc("config.set", { path: "plugins.config.sky", value: { start: "exits" } });
    const { digest } = await instance.rpc("plugins.stage", { from: makePlugin("sky") });
    await instance.rpc("plugins.accept", { digest });
    for (let i = 0; i < 3; i++) await instance.rpc("mcp.test", { name: "sky" });
    await until("it to be off", async () => (await states())[0] === "sky failed");
    const { page, wrong } = await open(380);
    await page.getByText("switched off by Lares").waitFor();
    await page.getByText(/It failed 3 times within 10 minutes/).waitFor();
    await page.locator("summary", { hasText: "sky" }).click();
    await page.getByRole("button", { name: "Switch on" }).click();
    await page.getByText("switched off by Lares").waitFor({ state: "detached" });
    expect(await states()).toEqual(["sky on"]);
    expect(wrong).toEqual([]);
    await page.context().close();
  });
});
