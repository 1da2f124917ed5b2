/** Attaching through the page, in a real browser: button, paste, drop, what is refused, what is shown after a reload. */
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startModel, until } from "../support/index.ts";
import { complaints, needsBrowser, startBrowser, startInstance, type TestInstance } from "../ui/support.ts";
import { PNG, ZIP } from "./support.ts";

const file = (name: string, buffer: Buffer, mimeType = "application/octet-stream") => ({ name, mimeType, buffer });

/** Hands a file to the composer as the clipboard or a drag does. Code of the page, hence a string. */
const hand = (how: "paste" | "drop") => `(() => {
  const bytes = Uint8Array.from(atob("${PNG.toString("base64")}"), (c) => c.charCodeAt(0));
  const data = new DataTransfer();
  data.items.add(new File([bytes], "${how}.png", { type: "image/png" }));
  const box = document.querySelector("#composer");
  const event = ${
    how === "paste"
      ? `new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true })`
      : `new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true })`
  };
  box.dispatchEvent(event);
})()`;

const LOADED = `[...document.querySelectorAll("[role=log] img")].every((img) => img.complete && img.naturalWidth > 0)`;

describe.skipIf(!needsBrowser("attachments in the browser"))("attachments in the browser", () => {
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let instance: TestInstance;
  let model: Awaited<ReturnType<typeof startModel>>;
  let signedIn: Awaited<ReturnType<TestInstance["signIn"]>>;
  let wrong: string[] = [];

  beforeAll(async () => {
    model = await startModel();
    [browser, instance] = await Promise.all([startBrowser(), startInstance(model.env)]);
    signedIn = await instance.signIn(browser);
  });
  afterAll(async () => {
    await browser?.close();
    await model?.close();
    await instance?.dispose();
  });
  beforeEach(async () => {
    context = await browser.newContext({ viewport: { width: 1280, height: 800 }, storageState: signedIn });
    page = await context.newPage();
    wrong = complaints(page);
    await page.goto(`${instance.url}/chat/new`);
    await page.waitForSelector("#composer");
  });
  afterEach(() => context.close());

  const log = () => page.locator("[role=log]");
  const chips = () => page.getByRole("list", { name: "Attached files" }).getByRole("listitem");

  test("chosen, pasted and dropped files go with the message; the picture is shown, also after a reload", async () => {
    const chooser = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Attach files" }).press("Enter");
    await (await chooser).setFiles([file("notes.md", Buffer.from("# Notes"))]);
    await page.evaluate(hand("paste"));
    await page.evaluate(hand("drop"));
    await until("three chips", async () => (await chips().count()) === 3);
    await page.getByRole("button", { name: "Remove drop.png" }).click();
    await page.fill("#composer", "say:I have seen it");
    await page.press("#composer", "Enter");
    await log().getByText("I have seen it", { exact: true }).waitFor();
    expect(await chips().count()).toBe(0);
    const parts = model.requests.at(-1)!.messages.flatMap((m) => m.parts);
    expect(parts.filter((part) => part.type === "image")).toHaveLength(1);
    expect(parts.some((part) => part.type === "text" && part.text.includes("# Notes"))).toBe(true);
    for (const reload of [false, true]) {
      if (reload) await page.reload();
      const picture = log().getByRole("img", { name: "Attached image paste.png" });
      await picture.waitFor();
      await until("the picture to be loaded", () => page.evaluate(LOADED));
      await log()
        .getByRole("button", { name: /notes\.md/ })
        .waitFor();
      expect(await log().textContent()).not.toContain("material, not instructions");
    }
    expect(wrong).toEqual([]);
  });

  test("a refused file says so in its place, keeps the words, and is not left out in silence", async () => {
    await page.setInputFiles("input[type=file]", [file("secret.png", ZIP, "image/png")]);
    await chips().getByText("Archives can't be attached").waitFor();
    await page.fill("#composer", "say:sent");
    await page.press("#composer", "Enter");
    await page.getByText("A file failed to upload").waitFor();
    expect(await page.inputValue("#composer")).toBe("say:sent");
    await page.getByRole("button", { name: "Remove secret.png" }).click();
    await page.press("#composer", "Enter");
    await log().getByText("sent", { exact: true }).waitFor();
  });

  test("sending waits for an upload that is still on its way; a draft's files outlive a reload", async () => {
    let letGo = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    await page.route("**/attachments", async (route) => {
      await held;
      await route.continue();
    });
    await page.setInputFiles("input[type=file]", [file("slow.png", PNG, "image/png")]);
    await page.fill("#composer", "say:waited");
    await page.press("#composer", "Enter");
    await page.getByRole("progressbar", { name: "Uploading slow.png" }).waitFor();
    await page.getByRole("button", { name: "sending" }).waitFor();
    expect(await log().getByText("waited", { exact: true }).count()).toBe(0);
    letGo();
    await log().getByText("waited", { exact: true }).waitFor();
    await page.setInputFiles("input[type=file]", [file("kept.txt", Buffer.from("words"))]);
    await chips().getByText("5 bytes").waitFor();
    await page.reload();
    await chips().getByText("kept.txt").waitFor();
  });

  test("more than eight are refused with a sentence", async () => {
    const many = Array.from({ length: 9 }, (_, i) => file(`${i}.txt`, Buffer.from("x")));
    await page.setInputFiles("input[type=file]", many);
    await page.getByText("You can attach up to 8 files").waitFor();
    expect(await chips().count()).toBe(8);
  });
});
