/** A question of an MCP server as people meet it on the page: filled in, refused, declined, and closed when it is answered elsewhere. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { spawnModel, until } from "../support/index.ts";
import { callTool, forecast, MCP_SERVER, searchTools } from "../support/mcp.ts";
import { complaints, needsBrowser, startBrowser, startInstance, type TestInstance } from "./support.ts";

const properties = {
  city: { type: "string", title: "City", description: "Where you are going.", minLength: 2, maxLength: 40 },
  days: { type: "integer", title: "Days", minimum: 1, maximum: 7, default: 3 },
  unit: { type: "string", title: "Unit", enum: ["c", "f"], enumNames: ["Celsius", "Fahrenheit"] },
  alerts: { type: "boolean", title: "Send alerts", default: true },
  region: { type: "string", enum: ["north", "south", "east", "west", "centre"] },
  topics: { type: "array", title: "Topics", items: { type: "string", enum: ["rain", "wind", "sun"] }, maxItems: 2 },
  note: { type: "string", title: "Note", default: "none" },
};
const question = {
  method: "elicitation/create",
  params: {
    mode: "form",
    message: "Before I can look:\n<b>which</b> city, and for how long?",
    requestedSchema: { type: "object", properties, required: ["city", "days", "unit"] },
  },
};
const SHOTS = process.env.LARES_SHOTS;

describe.skipIf(!needsBrowser("questions of MCP servers in the browser"))("questions of MCP servers", () => {
  let browser: Browser;
  let instance: TestInstance;
  let model: Awaited<ReturnType<typeof spawnModel>>;
  let asked = 0;
  const log = () => join(instance.home, "mcp.log");

  beforeAll(async () => {
    model = await spawnModel();
    [browser, instance] = await Promise.all([startBrowser(), startInstance(model.env)]);
    const file = join(instance.home, "script.json");
    const asks = { forecast: { requests: { a: question }, state: "s" } };
    writeFileSync(file, JSON.stringify({ tools: [forecast], era: "modern", asks, log: log() }));
    const sky = { command: process.execPath, args: [MCP_SERVER, file] };
    await instance.rpc("mcp.add", { text: JSON.stringify({ mcpServers: { sky } }) });
    await instance.rpc("config.set", { path: "mcp.servers.sky.sandbox", value: false });
    await instance.rpc("config.set", { path: "policy.allow.mcp", value: ["sky/*"] });
    await instance.rpc("chat.send", { message: `${searchTools} then: say:ok`, user: "ana", wait: true });
  });
  afterAll(async () => {
    await browser?.close();
    await instance?.dispose();
    await model?.stop();
  });

  const open = async (path: string, width: number) => {
    const context = await browser.newContext({
      viewport: { width, height: 900 },
      storageState: await instance.signIn(browser),
    });
    const page = await context.newPage();
    const wrong = complaints(page);
    await page.goto(`${instance.url}${path}`);
    return { page, wrong };
  };
  /** Lets the server ask, and gives the question as it waits. */
  const ask = async () => {
    const message = `${callTool({ city: `city ${++asked}` })} then: say:done ${asked}`;
    await instance.rpc("chat.send", { message, user: `ana${asked}`, wait: false });
    return until("a question", async () => (await instance.rpc("approvals.list", {})).approvals[0]);
  };
  const card = (page: Page) => page.getByRole("region", { name: "sky asks you something" });
  const sent = () =>
    readFileSync(log(), "utf8")
      .split("\n")
      .filter((line) => line.startsWith("went on"));
  const shoot = async (page: Page, name: string) => {
    if (SHOTS && existsSync(SHOTS)) await page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true });
  };

  test.each([
    ["on a desktop", 1280],
    ["on a phone", 380],
  ])(
    "%s, it says who asks, shows what is wrong beside its field, sends what was filled in, and closes everywhere",
    async (_, width) => {
      await ask();
      const [here, there] = [await open("/approvals", width), await open("/", width)];
      const form = card(here.page);
      await form.getByText("an MCP server, a program outside Lares").waitFor();
      await form.getByText("<b>which</b> city").waitFor();
      await card(there.page).waitFor();
      await shoot(here.page, `question-${width}`);
      expect(await form.getByLabel("Days").inputValue()).toBe("3");
      expect(await form.getByRole("radio", { name: "Yes" }).isChecked()).toBe(true);
      const send = form.getByRole("button", { name: "Send answer" });
      // It takes no click in its first moment, which was meant for something else.
      await form.locator("button:not([aria-disabled=true])", { hasText: "Send answer" }).waitFor();
      await send.click();
      await form.getByText("This is missing.").waitFor();
      await form.locator("input:focus").waitFor();
      expect(await form.locator("input:focus").getAttribute("aria-describedby")).toContain("wrong");
      await form.getByLabel("City").fill("Rome");
      await form.getByLabel("Days").fill("9");
      await form.getByRole("radio", { name: "Celsius" }).check();
      await form.getByLabel("City").press("Enter");
      await form.getByText("This must be at most 7.").waitFor();
      await shoot(here.page, `question-wrong-${width}`);
      await form.getByLabel("Days").fill("2");
      await form.getByRole("radio", { name: "No" }).check();
      await form.getByLabel("region").selectOption("west");
      await form.getByRole("checkbox", { name: "rain" }).check();
      await form.getByRole("checkbox", { name: "sun" }).check();
      await form.getByLabel("Note").fill("");
      expect(await here.page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
      const before = sent().length;
      await send.click();
      await Promise.all([form.waitFor({ state: "detached" }), card(there.page).waitFor({ state: "detached" })]);
      await until("the server's answer", () => sent().length > before);
      const content = { city: "Rome", days: 2, unit: "c", alerts: false, region: "west", topics: ["rain", "sun"] };
      expect(sent().at(-1)).toBe(`went on forecast ${JSON.stringify({ a: { action: "accept", content } })} s`);
      expect([...here.wrong.filter((line) => !line.includes("400")), ...there.wrong]).toEqual([]);
      await Promise.all([here.page.context().close(), there.page.context().close()]);
    },
  );

  test("in the chat that led to it, what is typed survives other news, and a decline needs no reason", async () => {
    const { session } = await ask();
    const { page } = await open(`/chat/${encodeURIComponent(session)}`, 1280);
    await card(page).getByLabel("City").fill("Rom");
    await shoot(page, "question-chat");
    const other = await instance.rpc("chat.send", {
      message: 'tool:exec {"command":"touch x"}',
      user: "ben",
      wait: false,
    });
    await until("another question", async () => (await instance.rpc("approvals.list", {})).approvals.length === 2);
    expect(await card(page).getByLabel("City").inputValue()).toBe("Rom");
    // Letters that answer other cards are words here.
    await card(page).press("a");
    await card(page).locator("button:not([aria-disabled=true])", { hasText: "Decline" }).click();
    await card(page).waitFor({ state: "detached" });
    await until("the server to hear of it", () => sent().at(-1)?.includes('{"a":{"action":"decline"}}'));
    await instance.rpc("chat.abort", { turn: other.turn });
    await page.context().close();
  });
});
