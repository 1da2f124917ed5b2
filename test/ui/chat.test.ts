/** Talking through the page, in a real browser with the real program: streaming, approvals, reloads, a killed gateway. */
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  complaints,
  gate,
  needsBrowser,
  type Scripted,
  startBrowser,
  startInstance,
  startTalker,
  type TestInstance,
} from "./support.ts";

const FIRST = "The first half of the answer stands here.";
const SECOND = "And this is the second half of it.";

/** What of a message's text became more than text. Code of the page, hence a string: the tests have no DOM types. */
const INSIDE = `(() => {
  const log = document.querySelector("[role=log]");
  const bad = "script, img, iframe, style, form, svg:not(.icon), math, [onerror], [onclick], [style]:not(.bar):not(.queue)";
  return {
    hacked: window.hacked,
    bad: [...log.querySelectorAll(bad)].map((e) => e.outerHTML),
    links: [...log.querySelectorAll("a[href]")].map((a) => ["href", "rel", "target"].map((name) => a.getAttribute(name))),
  };
})()`;

describe.skipIf(!needsBrowser("chat in the browser"))("chat in the browser", () => {
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let instance: TestInstance;
  let signedIn: Awaited<ReturnType<TestInstance["signIn"]>>;
  let talker: Awaited<ReturnType<typeof startTalker>>;
  let said: string[] = [];
  let script: (said: string, at: { results: string[]; n: number }) => Scripted = () => ({ text: "ok" });

  beforeAll(async () => {
    talker = await startTalker((text, at) => {
      said.push(text);
      return script(text, at);
    });
    [browser, instance] = await Promise.all([startBrowser(), startInstance(talker.env)]);
    signedIn = await instance.signIn(browser);
  });
  afterAll(async () => {
    await browser?.close();
    talker?.close();
    await instance?.dispose();
  });
  let wrong: string[] = [];
  beforeEach(async () => {
    said = [];
    context = await browser.newContext({ viewport: { width: 1280, height: 800 }, storageState: signedIn });
    page = await context.newPage();
    wrong = complaints(page);
    await page.goto(`${instance.url}/chat/new`);
    await page.waitForSelector("#composer");
  });
  afterEach(async () => {
    await context.close();
  });

  async function say(text: string): Promise<void> {
    await page.fill("#composer", text);
    await page.press("#composer", "Enter");
  }
  const log = () => page.locator("[role=log]");
  const times = async (text: string) => ((await log().textContent()) ?? "").split(text).length - 1;

  test("an answer is there word by word, with a live line and Stop, and ends with its cost", async () => {
    const door = gate();
    script = () => ({ text: `${FIRST}\n\n${SECOND}`, hold: door.wait });
    await say("tell me something");
    await log().getByText("The first half").waitFor();
    expect(await log().textContent()).not.toContain(SECOND);
    const live = page.locator(".liveline");
    expect(await live.textContent()).toMatch(/running/);
    await live.getByRole("button", { name: "Stop" }).waitFor();
    await page.getByText("Enter: add to current reply").waitFor();
    door.open();
    await log().getByText(SECOND).waitFor();
    await log()
      .getByText(/answered/)
      .waitFor();
    expect(await log().textContent()).toMatch(/1 step · \$0\.0\d+/);
    expect(await times(FIRST)).toBe(1);
    expect(await live.count()).toBe(0);
    expect(wrong).toEqual([]);
  });

  test("a reload in the middle shows what was there and goes on", async () => {
    const door = gate();
    script = () => ({ text: `${FIRST}\n\n${SECOND}`, hold: door.wait });
    await say("tell me in the middle");
    await log().getByText("The first half").waitFor();
    await page.reload();
    await log().getByText("The first half").waitFor();
    await log().getByText("tell me in the middle").waitFor();
    expect(await log().textContent()).not.toContain(SECOND);
    door.open();
    await log().getByText(SECOND).waitFor();
    await log()
      .getByText(/answered ·|· 1 step/)
      .first()
      .waitFor();
    expect(await times(FIRST)).toBe(1);
    expect(await times("tell me in the middle")).toBe(1);
  });

  test("a gateway killed in the middle: the page says so, comes back by itself, and the answer is there once (UI-1)", async () => {
    const door = gate();
    let calls = 0;
    script = () =>
      calls++ === 0 ? { text: `${FIRST}\n\n${SECOND}`, hold: door.wait } : { text: `${FIRST}\n\n${SECOND}` };
    await say("tell me over a crash");
    await log().getByText("The first half").waitFor();
    await instance.kill9();
    await page.getByText(/No connection since/).waitFor();
    // What is written meanwhile is kept and goes out later.
    await say("and this was written without a connection");
    await log().getByText("waiting here").waitFor();
    await instance.start();
    await log().getByText(SECOND).first().waitFor();
    await page.getByText(/No connection since/).waitFor({ state: "detached" });
    await page.locator(".end a").first().waitFor();
    await page.locator(".liveline").waitFor({ state: "detached" });
    expect(await times("tell me over a crash")).toBe(1);
    expect(await times("and this was written without a connection")).toBe(1);
    const [session] = (await instance.rpc("sessions.list", { limit: 1 })).sessions;
    const { messages } = await instance.rpc("chat.history", { session: session!.session });
    const answers = messages.filter((m) => m.role === "assistant").length;
    expect(await times(FIRST)).toBe(answers);
    door.open();
  });

  test("a tool that asks waits for a click, not for a stray one, and goes on", async () => {
    script = (_text, { results }) =>
      results.length
        ? { text: "The folder is made." }
        : { toolCalls: [{ name: "exec", input: { command: "mkdir fresh && echo made-it" } }] };
    await say("make a folder");
    const card = page.locator("[data-approval]");
    await card.waitFor();
    expect(await card.textContent()).toContain("mkdir fresh");
    expect(await card.textContent()).toMatch(/Because/);
    expect(await card.textContent()).toMatch(/Wherethis computer, \S+workspace, /);
    expect(await card.textContent()).not.toContain("[in ");
    // Deaf for 600 ms after it appeared.
    interface Button {
      getAttribute(name: string): string | null;
      click(): void;
    }
    // On a busy machine the time may be over before this runs; then there is no stray click to try.
    const stray = (button: unknown) => {
      const it = button as Button;
      if (it.getAttribute("aria-disabled") === "true") it.click();
    };
    await card.getByRole("button", { name: "Allow once" }).evaluate(stray);
    expect((await instance.rpc("approvals.list", {})).approvals).toHaveLength(1);
    await page.locator('[data-approval] .btn.main[aria-disabled="false"]').waitFor();
    await card.getByRole("button", { name: "Allow once" }).click();
    await log().getByText("The folder is made.").waitFor();
    await card.waitFor({ state: "detached" });
    await log()
      .getByText(/Allowed by owner/)
      .waitFor();
    await log().getByRole("button", { name: /exec/ }).click();
    await log().getByText("made-it").first().waitFor();
    expect(wrong).toEqual([]);
  });

  test("an approval can be denied by keyboard with a reason the model reads", async () => {
    script = (_text, { results }) =>
      results.length
        ? { text: `I was told: ${results.join().includes("too risky") ? "too risky" : "nothing"}` }
        : { toolCalls: [{ name: "exec", input: { command: "rm -r old" } }] };
    await say("remove the folder");
    const card = page.locator("[data-approval]");
    await card.waitFor();
    await page.locator('[data-approval] .btn.main[aria-disabled="false"]').waitFor();
    await card.focus();
    await page.keyboard.press("d");
    await page.keyboard.type("too risky");
    await page.keyboard.press("Enter");
    await log().getByText("I was told: too risky").waitFor();
    expect((await instance.rpc("approvals.list", { state: "all" })).approvals.at(-1)).toMatchObject({
      state: "denied",
      reason: "too risky",
    });
  });

  test("a message during a turn joins it, and Escape twice stops it", async () => {
    const door = gate();
    script = (_text, { n: _n }) => ({ text: `${FIRST}\n\n${SECOND}`, hold: door.wait });
    await say("begin");
    await log().getByText("The first half").waitFor();
    await say("and one more thing");
    await log().getByText("and one more thing").waitFor();
    await log().getByText("✓ accepted").last().waitFor();
    await page.press("#composer", "Escape");
    await page.press("#composer", "Escape");
    await log().getByText("stopped").first().waitFor();
    door.open();
  });

  test("the last message comes back with arrow up and takes the old one's place; a draft survives leaving and reloading (UI-2)", async () => {
    script = () => ({ text: "noted" });
    await say("first thought");
    await log().getByText("noted").waitFor();
    await page.press("#composer", "ArrowUp");
    expect(await page.inputValue("#composer")).toBe("first thought");
    script = (text) => ({ text: `heard ${text}` });
    await say("better thought");
    await log().getByText("heard better thought").waitFor();
    await log().getByText("Replaced: 2 messages").waitFor();
    expect(await log().getByText("first thought", { exact: true }).count()).toBe(0);
    await page.fill("#composer", "half a sent");
    await page.getByRole("link", { name: "Now", exact: true }).click();
    await page.getByRole("heading", { name: "Now" }).waitFor();
    await page.goBack();
    await page.waitForSelector("#composer");
    expect(await page.inputValue("#composer")).toBe("half a sent");
    await page.reload();
    await page.waitForSelector("#composer");
    expect(await page.inputValue("#composer")).toBe("half a sent");
    expect(await page.evaluate("JSON.stringify([{ ...localStorage }, document.cookie])")).not.toMatch(/token|lares_/);
  });

  test("behind the conversation's menu stands what the model reads of it, part by part; compacting and its undo are there", async () => {
    script = (text) => ({
      text: text.includes("Transcript:") ? "SUMMARY\nThey talked of the sea." : "long waves ".repeat(150),
    });
    const session = "agent:main:web:sea";
    for (let i = 0; i < 3; i++) {
      await instance.rpc("chat.send", { session, message: `wave ${i} ${"of the sea ".repeat(150)}`, wait: true });
    }
    await page.goto(`${instance.url}/chat/${encodeURIComponent(session)}`);
    await page.getByRole("button", { name: "More" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "What the model sees" }).click();
    await dialog.getByText(/^[\d,.]+ of [\d,.]+ tokens \(\d+ %\)$/).waitFor();
    await dialog.getByText("Instructions").waitFor();
    await dialog.getByText("6 messages in full, 0 older.").waitFor();
    await dialog.getByRole("button", { name: "Compact now" }).click();
    await dialog.getByText("Done. You can still read every message.").waitFor();
    await dialog.getByText("Carried over", { exact: true }).last().click();
    await dialog.getByText(/They talked of the sea/).waitFor();
    await dialog.getByRole("button", { name: "Undo last compaction" }).click();
    await dialog.getByText(/in full again/).waitFor();
    await dialog.getByText("6 messages in full, 0 older.").waitFor();
    expect(wrong).toEqual([]);
  });

  test("what a model or a tool writes cannot run, load or steer", async () => {
    const evil = [
      '<script>window.hacked=1</script><img src=x onerror="window.hacked=2">',
      "<svg onload=window.hacked=3><a xlink:href=javascript:window.hacked=4>s</a></svg><iframe srcdoc='<script>parent.hacked=5</script>'></iframe>",
      "[go](javascript:window.hacked=6) [data](data:text/html,<script>1</script>) [inside](/logout) [ok](https://example.com/a)",
      "![pixel](https://evil.example/p.png?leak=1)",
      "<style>body{display:none}</style><form action=https://evil.example><button>b</button></form>",
      '<a href="https://evil.example" onclick="window.hacked=7" style="position:fixed;inset:0">click</a>',
      "```html\n<script>window.hacked=8</script>\n```",
      '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=window.hacked=9&gt;">',
    ].join("\n\n");
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    script = (_text, { results }) =>
      results.length
        ? { text: evil }
        : { text: evil, toolCalls: [{ name: "read", input: { path: "<img src=x onerror=window.hacked=10>.txt" } }] };
    await say("<img src=x onerror=window.hacked=11>");
    await log()
      .getByText(/answered ·|steps/)
      .first()
      .waitFor();
    await page.keyboard.press("Escape");
    await page.locator("body").click({ position: { x: 600, y: 20 } });
    await page.keyboard.press("e");
    const inside = (await page.evaluate(INSIDE)) as { hacked?: number; bad: string[]; links: (string | null)[][] };
    expect(inside.hacked).toBeUndefined();
    expect(inside.bad).toEqual([]);
    const out = inside.links.filter(([href]) => !href!.startsWith("/turns/"));
    expect(out.length).toBeGreaterThan(0);
    for (const [href, rel, target] of out) {
      expect(href).toMatch(/^https:\/\/(example\.com|evil\.example)/);
      expect(rel).toBe("noopener noreferrer nofollow");
      expect(target).toBe("_blank");
    }
    expect(asked.filter((url) => !url.startsWith(instance.url) && !url.startsWith("ws://127.0.0.1"))).toEqual([]);
    expect(wrong).toEqual([]);
  });

  test.each([
    ["2,500 quotes", ">".repeat(2500)],
    ["2,500 quotes with blanks", "> ".repeat(2500)],
    ["8,000 lists", "1. ".repeat(8000)],
    ["50,000 stars around a letter", `${"*".repeat(50_000)}a${"*".repeat(50_000)}`],
    ["dots before an at sign", `${"a.".repeat(40_000)}@`],
    ["20,000 open links", "[a](".repeat(20_000)],
    ["100 KB of backslashes", "\\".repeat(100_000)],
    ["a word of 1 MB", "a".repeat(1_000_000)],
  ])("a conversation stays readable after %s", async (_what, hostile) => {
    script = (text) => ({ text: text.includes("more") ? "**Here** is the rest." : `${hostile}\n\nend of it` });
    await say("something hard");
    await log()
      .getByText(/answered/)
      .first()
      .waitFor();
    await say("more please");
    await log().getByText("is the rest.").waitFor();
    const begun = Date.now();
    await page.reload();
    await log().getByText("is the rest.").waitFor();
    await log().getByText("something hard").waitFor();
    expect(await log().locator("strong", { hasText: "Here" }).count()).toBe(1);
    expect(await log().textContent()).toContain("end of it");
    // The tab froze for 6 to 25 s on these; most of this is the page's start.
    expect(Date.now() - begun).toBeLessThan(20_000);
    expect(wrong).toEqual([]);
  });
});
