/** The first minute, every page at every width, and the bars for size and speed. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PROGRAM, startModel, until } from "../support/index.ts";
import { importLong, LONG, onDesktop, onPhone } from "./speed.ts";
import { complaints, needsBrowser, startBrowser, startInstance, type TestInstance } from "./support.ts";

const PAGES = [
  "/",
  "/chat",
  "/sessions",
  "/schedule",
  "/memory",
  "/more",
  "/agents",
  "/agents/main",
  "/activity",
  "/approvals",
  "/usage",
  "/log",
].concat(["models", "channels", "access", "look", "about"].map((tab) => `/settings/${tab}`));

/** A page as a reader without eyes or with a small screen meets it. Code of the page, hence a string. */
const SEEN = `({
  over: document.documentElement.scrollWidth - innerWidth,
  mains: document.querySelectorAll("main").length,
  navs: document.querySelectorAll("nav").length,
  titles: [...document.querySelectorAll("h1")].filter((h) => h.offsetParent).length,
  unnamed: [...document.querySelectorAll("button, a[href], input, textarea, select")].filter(
    (e) => !e.closest("[aria-hidden=true]") && !(e.textContent?.trim() || e.getAttribute("aria-label") || e.getAttribute("title") || e.labels?.length),
  ).length,
})`;

describe.skipIf(!needsBrowser("the pages"))("the pages", () => {
  let browser: Browser;
  let instance: TestInstance;
  let signedIn: Awaited<ReturnType<TestInstance["signIn"]>>;

  beforeAll(async () => {
    [browser, instance] = await Promise.all([startBrowser(), startInstance()]);
  });
  afterAll(async () => {
    await browser?.close();
    await instance?.dispose();
  });

  test("the first minute: without a login it says how; the link signs in; the practice model uses a tool and asks", async () => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    await page.goto(`${instance.url}/chat`);
    await page.getByText("lares dashboard").waitFor();
    await page.fill("#code", "not-a-code");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText(/not known/).waitFor();

    const link = await instance.loginLink();
    await page.goto(link);
    const wrong = complaints(page);
    await page.getByRole("heading", { name: "Say hello" }).waitFor();
    await page.getByText("Lares is running. Nothing needs you.").waitFor();
    await page.getByText("Connect a model").waitFor();
    await page.getByRole("button", { name: /List files/ }).click();
    await page.waitForURL(/\/chat\/agent/);
    const log = page.locator("[role=log]");
    await log.getByText(/answered/).waitFor();
    await page.locator("header").getByText("practice model").waitFor();
    await log.getByRole("button", { name: /list/ }).waitFor();

    await page.fill("#composer", "run echo hello-from-the-shell");
    await page.press("#composer", "Enter");
    await page.getByText("Run this command?").waitFor();
    await page.getByRole("link", { name: /^Now/ }).click();
    await page.getByText("One thing needs you.").waitFor();
    await page.getByRole("button", { name: /Allow once/ }).click();
    await page.getByText("Lares is running. Nothing needs you.").waitFor();
    await page.goBack();
    await log.getByText("hello-from-the-shell").last().waitFor();
    signedIn = await context.storageState();
    expect(wrong).toEqual([]);

    // A link works once and says so.
    const other = await (await browser.newContext()).newPage();
    await other.goto(link);
    await other.getByText(/already used/).waitFor();
    await other.context().close();
    await context.close();
  });

  test("a failed turn is on the first page until somebody has seen it, in every browser", async () => {
    const model = await startModel();
    model.use(() => ({ fail: { status: 401, message: "bad key" } }));
    const failing = await startInstance(model.env);
    const storageState = await failing.signIn(browser);
    const open = async () => {
      const page = await (await browser.newContext({ storageState })).newPage();
      await page.goto(failing.url);
      return page;
    };
    try {
      await failing.rpc("chat.send", { message: "hello", user: "ana" });
      const page = await open();
      await page.getByText("One thing needs you.").waitFor();
      await page.getByRole("button", { name: "Dismiss" }).click();
      await page.getByText("Lares is running. Nothing needs you.").waitFor();
      const other = await open();
      await other.getByText("Lares is running. Nothing needs you.").waitFor();
      expect((await failing.rpc("attention.list", {})).total).toBe(0);
      await page.context().close();
      await other.context().close();
    } finally {
      await failing.dispose();
      await model.close();
    }
  });

  test("deep links: a session, a turn with its steps, an approval", async () => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, storageState: signedIn });
    const page = await context.newPage();
    const wrong = complaints(page);
    const { turns } = await instance.rpc("turns.list", { limit: 1 });
    await page.goto(`${instance.url}/turns/${turns[0]!.turn}`);
    await page.getByText(/answered · 3 steps/).waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.locator(".row.selected").getByText("exec").waitFor();
    await page.getByText("hello-from-the-shell").first().waitFor();
    const { approvals } = await instance.rpc("approvals.list", { state: "all" });
    await page.goto(`${instance.url}/approvals/${approvals[0]!.id}`);
    await page.getByText("Answered").waitFor();
    await page.goto(`${instance.url}/chat/${encodeURIComponent(turns[0]!.session)}`);
    await page.locator("[role=log]").getByText("hello-from-the-shell").first().waitFor();
    // The palette and the keys.
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("usage");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/usage/);
    await page.keyboard.press("g");
    await page.keyboard.press("a");
    await page.waitForURL(/\/agents/);
    expect(wrong).toEqual([]);
    await context.close();
  });

  test("an agent's file is edited with a preview and is there afterwards", async () => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, storageState: signedIn });
    const page = await context.newPage();
    await page.goto(`${instance.url}/agents/main?file=USER.md`);
    await page.getByRole("button", { name: "Edit" }).click();
    await page.fill("textarea", "# Who you talk to\n\nAna, who likes **short** answers.");
    await page.locator(".preview strong").getByText("short").waitFor();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    expect((await instance.rpc("agents.files.get", { agent: "main", file: "USER.md" })).text).toContain("Ana");
    // Beside its files: its skills, with what is wrong with one.
    for (const [name, front] of Object.entries({ deploy: "description: Deploys the site.", mute: "name: mute" })) {
      mkdirSync(join(instance.home, "agents/main/skills", name), { recursive: true });
      writeFileSync(
        join(instance.home, "agents/main/skills", name, "SKILL.md"),
        `---\n${front}\n---\n\nRun **make**.\n`,
      );
    }
    await page.getByRole("link", { name: "Skills" }).click();
    await page.getByText("1 skill, 1 not used.").waitFor();
    await page.getByText(/no description/).waitFor();
    await page.getByText("Deploys the site.").click();
    await page.locator(".skills strong").getByText("make").waitFor();
    await context.close();
  });

  test("a schedule is made with what is folded away, stands in the week, and is changed", async () => {
    const context = await browser.newContext({ viewport: { width: 380, height: 800 }, storageState: signedIn });
    const page = await context.newPage();
    await page.goto(`${instance.url}/schedule`);
    await page.getByRole("button", { name: "Add a schedule" }).click();
    await page.getByText("More: script").click();
    await page.getByLabel(/^\s*Runs/).selectOption("script");
    await page.getByLabel("Which command should run?").fill("echo hello");
    await page.getByLabel("When?").fill("daily 18:30");
    await page.getByLabel("Only if").selectOption("exists");
    await page.getByLabel("File in the workspace").fill("inbox.txt");
    await page.getByLabel("Name (optional)").fill("evening");
    await page.getByRole("button", { name: "Add schedule" }).click();
    const week = page.getByRole("list", { name: "The next seven days" });
    await week
      .getByRole("link", { name: /evening/ })
      .first()
      .click();
    await page.getByText("a file exists: inbox.txt").waitFor();
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByText("More: script").click();
    await page.getByLabel("Only if").selectOption("");
    await page.getByLabel("Time limit, seconds").fill("60");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved “evening”.").waitFor();
    const job = (await instance.rpc("schedule.list", {})).jobs.find((one) => one.name === "evening");
    expect(job).toMatchObject({ script: "echo hello", timeoutS: 60, words: expect.stringMatching(/every day 18:30/) });
    expect(job?.condition).toBeUndefined();
    // A run that waits for an approval says so instead of "running".
    await instance.rpc("schedule.update", { id: "evening", script: "touch made.txt" });
    const { turn } = await instance.rpc("schedule.run", { id: "evening" });
    const asked = await until("the question", async () =>
      (await instance.rpc("approvals.list", {})).approvals.find((one) => one.turn === turn),
    );
    await page.goto(`${instance.url}/schedule/${job!.id}`);
    const run = page.getByRole("link", { name: /waiting for you/ });
    await run.getByText(`waiting for approval ${asked.id.slice(-6)}`).waitFor();
    await instance.rpc("approvals.resolve", { id: asked.id, decision: "deny" });
    await instance.rpc("schedule.remove", { id: "evening" });
    await context.close();
  });

  test("a goal stands on the schedule page with why it is blocked, and is cancelled there", async () => {
    // Without a language model nobody can judge it.
    const { id } = await instance.rpc("goals.add", { outcome: "The pantry is tidy", proof: "a list of what is in it" });
    await until("it to be blocked", async () => (await instance.rpc("goals.get", { id })).state === "blocked");
    const context = await browser.newContext({ viewport: { width: 380, height: 800 }, storageState: signedIn });
    const page = await context.newPage();
    await page.goto(`${instance.url}/schedule`);
    await page.getByText("No language model is connected to judge it.").waitFor();
    await page.getByText("What else can wake an agent").waitFor();
    await page.getByRole("button", { name: "Cancel goal" }).click();
    await until("it to be cancelled", async () => (await instance.rpc("goals.get", { id })).state === "cancelled");
    await page.getByText("The pantry is tidy").waitFor({ state: "detached" });
    await context.close();
  });

  test.each([320, 800, 1440])(
    "at %i px every page has its landmarks, no sideways scroll, no complaint",
    async (width) => {
      const context = await browser.newContext({ viewport: { width, height: 800 }, storageState: signedIn });
      const page = await context.newPage();
      const wrong = complaints(page);
      const sessions = (await instance.rpc("sessions.list", {})).sessions;
      const { jobs } = await instance.rpc("schedule.list", {});
      const job =
        jobs[0] ?? (await instance.rpc("schedule.add", { cron: "0 7 * * 1-5", name: "morning", prompt: "hello" }));
      const { turns } = await instance.rpc("turns.list", { limit: 1 });
      await page.goto(instance.url);
      for (const path of [
        ...PAGES,
        `/chat/${encodeURIComponent(sessions[0]!.session)}`,
        `/turns/${turns[0]!.turn}`,
        `/schedule/${job.id}`,
      ]) {
        await page.evaluate(
          `history.pushState(null, "", ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent("popstate"))`,
        );
        await until("the page to say something", () =>
          page.evaluate(`document.querySelector("main")?.textContent?.trim()`),
        );
        await settled(page);
        const seen = (await page.evaluate(SEEN)) as {
          over: number;
          mains: number;
          navs: number;
          titles: number;
          unnamed: number;
        };
        expect({ path, over: seen.over <= 0, mains: seen.mains, unnamed: seen.unnamed }).toEqual({
          path,
          over: true,
          mains: 1,
          unnamed: 0,
        });
        expect(seen.navs).toBeGreaterThan(0);
      }
      expect(wrong).toEqual([]);
      await context.close();
    },
  );

  test("sizes: first page, each page's chunk, style", () => {
    const folder = join(dirname(PROGRAM), "ui", "assets");
    const size = (name: string) => readFileSync(join(folder, name)).length / 1000;
    const files = readdirSync(folder).filter((name) => name.endsWith(".gz"));
    const sum = (pattern: RegExp) => files.filter((f) => pattern.test(f)).reduce((all, f) => all + size(f), 0);
    /** A page with all that it needs before it can be shown. */
    const page = (name: string) => {
      const needed = new Set<string>();
      const need = (file: string) => {
        if (needed.has(file)) return;
        needed.add(file);
        const text = readFileSync(join(folder, file), "utf8");
        for (const [, other] of text.matchAll(/(?:from|import)\s*"\.\/([\w.-]+\.js)"/g)) need(other!);
      };
      const chunks = files.map((file) => file.slice(0, -".gz".length));
      for (const start of [`index-`, `${name}-`]) need(chunks.find((f) => f.startsWith(start) && f.endsWith(".js"))!);
      return [...needed].reduce((all, file) => all + size(`${file}.gz`), 0);
    };
    const now = page("Now");
    const chat = page("Chat");
    process.stdout.write(
      `UI sizes, gzip: Now ${now.toFixed(1)} kB, Chat ${chat.toFixed(1)} kB, style ${sum(/\.css/).toFixed(1)} kB\n`,
    );
    expect(now).toBeLessThan(90);
    expect(chat).toBeLessThan(92);
    expect(sum(/\.css/)).toBeLessThan(12);
    for (const f of files) if (!/^(shell|text|style)/.test(f)) expect(size(f), f).toBeLessThan(30);
  });

  test("speed: first paint and a usable composer from a cold cache, few requests, a long conversation", async () => {
    await importLong(instance);

    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, storageState: signedIn });
    const page = await context.newPage();
    let requests = 0;
    page.on("request", () => requests++);
    const began = performance.now();
    await page.goto(`${instance.url}/chat/${encodeURIComponent(LONG)}`);
    await page.waitForSelector("#composer");
    const usable = performance.now() - began;
    await page.getByText("Answer 9999").waitFor();
    const paint = Number(
      await page.evaluate(`performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? -1`),
    );
    for (let i = 0; i < 12; i++) {
      await page.evaluate(`document.querySelector("[role=log]").scrollTo(0, 0)`);
      await settled(page);
    }
    const nodes = Number(await page.evaluate(`document.querySelectorAll("*").length`));
    const heap = Number(await page.evaluate("performance.memory.usedJSHeapSize")) / 1e6;
    process.stdout.write(
      `UI speed: first paint ${paint.toFixed(0)} ms, composer ${usable.toFixed(0)} ms, ${requests} requests; 10,000 messages: ${nodes} nodes, ${heap.toFixed(0)} MB\n`,
    );
    expect(paint).toBeGreaterThan(0);
    // A loaded machine is slow at everything; what it takes on a quiet one is in the line above and in `npm run bench`.
    expect(paint).toBeLessThan(15_000);
    expect(requests).toBeLessThanOrEqual(12);
    expect(nodes).toBeLessThan(2500);
    expect(heap).toBeLessThan(40);
    await page.getByRole("button", { name: /↓/ }).click();
    await page.getByText("Answer 9999").waitFor();
    await context.close();
  });

  // Times are only printed: on a loaded machine they say more about the others (`npm run bench` measures them).
  test("a slow phone loads little and waits seldom; a key and a page change cost little work", async () => {
    const phone = await onPhone(browser, instance, signedIn);
    const desk = await onDesktop(browser, instance, signedIn);
    process.stdout.write(`UI on a slow phone and at a desk: ${JSON.stringify({ ...phone, ...desk }, tenths)}\n`);
    expect(phone.bytes).toBeLessThan(200_000);
    expect(phone.requests).toBeLessThanOrEqual(12);
    expect(phone.trips).toBeLessThanOrEqual(4);
    expect(desk.changeRequests).toBeLessThanOrEqual(4);
    // 16 is the bar of `npm run bench`, on a quiet machine.
    expect(desk.keyWorkMs).toBeLessThan(50);
  });
});

const tenths = (_: string, value: unknown) => (typeof value === "number" ? Math.round(value * 10) / 10 : value);

/** Two frames without work: what a page wanted to draw is drawn. */
async function settled(page: Page): Promise<void> {
  const frames =
    "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30))))";
  await page.evaluate(frames);
}
