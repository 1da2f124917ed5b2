/** Messages that people had forgotten stay readable on the page, and it says that models no longer see them. At both widths. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { complaints, needsBrowser, startBrowser, startInstance, startTalker, type TestInstance } from "./support.ts";

const SESSION = "agent:main:web:garden";
const ONE = "Forgotten on request. Models no longer see this message.";
const THREE = "Forgotten on request. Models no longer see these 3 messages.";

describe.skipIf(!needsBrowser("forgotten messages on the page"))("forgotten messages on the page", () => {
  let browser: Browser;
  let instance: TestInstance;
  let signedIn: Awaited<ReturnType<TestInstance["signIn"]>>;
  let talker: Awaited<ReturnType<typeof startTalker>>;

  beforeAll(async () => {
    talker = await startTalker((said, { results }) => {
      if (!/airship/.test(said)) return { text: "Noted." };
      if (/find/.test(said) && !results.length)
        return {
          text: "I'll look for the airship.",
          toolCalls: [{ name: "memory_search", input: { query: "airship" } }],
        };
      return { text: results.length ? "The airship stands by the lake." : "How nice." };
    });
    [browser, instance] = await Promise.all([startBrowser(), startInstance(talker.env)]);
    for (const message of ["I like tea", "my aunt has an airship", "find the airship", "thanks, that's all"])
      await instance.rpc("chat.send", { session: SESSION, message });
    await instance.rpc("memory.forget", { about: "airship" });
    signedIn = await instance.signIn(browser);
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    talker?.close();
    await instance?.dispose();
  });

  test.each([
    ["a desk", { width: 1280, height: 900 }],
    ["a phone", { width: 390, height: 844 }],
  ])("at %s each turn has one mark, on the side of its message, and the words are dimmed", async (_where, viewport) => {
    const context = await browser.newContext({ viewport, storageState: signedIn });
    const page = await context.newPage();
    const wrong = complaints(page);
    await page.goto(`${instance.url}/chat/${encodeURIComponent(SESSION)}`);
    await page.getByText("that's all").waitFor();
    const log = page.getByRole("log");
    const marks = log.locator(".forgotten");
    expect(await marks.allTextContents()).toEqual([ONE, THREE]);

    const colour = (text: string) =>
      page.evaluate(
        `getComputedStyle([...document.querySelectorAll("[role=log] .bubble, [role=log] .answer p")]
          .find((element) => element.textContent === ${JSON.stringify(text)})).color`,
      );
    const plain = await colour("I like tea");
    for (const text of ["How nice.", "thanks, that's all"]) expect(await colour(text), text).toBe(plain);
    const dimmed = [
      "my aunt has an airship",
      "find the airship",
      "I'll look for the airship.",
      "The airship stands by the lake.",
    ];
    for (const text of dimmed) expect(await colour(text), text).not.toBe(plain);

    const box = async (of: ReturnType<typeof log.locator>) => (await of.boundingBox())!;
    const [own, answers] = [await box(marks.nth(0)), await box(marks.nth(1))];
    const bubble = await box(log.getByText("my aunt has an airship", { exact: true }));
    const words = await box(log.getByText("The airship stands by the lake.", { exact: true }));
    // Below its message, and flush with it.
    expect(own.y).toBeGreaterThanOrEqual(bubble.y + bubble.height);
    expect(Math.abs(own.x + own.width - (bubble.x + bubble.width))).toBeLessThanOrEqual(1);
    expect(answers.y).toBeGreaterThanOrEqual(words.y + words.height);
    expect(Math.abs(answers.x - words.x)).toBeLessThanOrEqual(1);
    // Nothing makes the page wider than the screen.
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(viewport.width);
    expect(wrong).toEqual([]);
    await context.close();
  });
});
