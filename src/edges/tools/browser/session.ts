/**
 * One agent's browser: launched at the first use, closed when nobody has used it for a while. Actions of one agent run one
 * after the other; a tab that a page opens becomes the current one, as it does for a person.
 */
import type { BrowserContext, Dialog, Page, Request } from "playwright-core";
import { AppError } from "../../../core/domain/index.ts";
import { pause, systemClock, withoutHidden } from "../../../core/kit/index.ts";
import { visibleLine } from "../escape.ts";
import { readHost } from "../web/index.ts";
import { compact, type Wanted } from "./compact.ts";
import type { GuardProxy, Unreached } from "./proxy.ts";

/** A page that opens windows without end gets no further. */
const MOST_TABS = 20;
/** After an action: how long to watch whether it starts something, and how long to wait for what it started. */
const WATCH_MS = 150;
const MOST_WATCH_MS = 1_000;
const NAVIGATION_MS = 15_000;
const REQUESTS_MS = 3_000;
const SNAPSHOT_MS = 10_000;
const ANSWER_MS = 2_000;
const CLOSE_MS = 5_000;

export class BrowserSession {
  private readonly context: BrowserContext;
  private readonly proxy: GuardProxy;
  private readonly unreached: Unreached[] = [];
  private readonly notes: string[] = [];
  private chosen: Page | undefined;
  private failedNavigation: string | undefined;
  /** Hosts that pages asked for in vain; the browser's own errands are not among them. */
  private readonly failedHosts = new Set<string>();
  private queue: Promise<unknown> = Promise.resolve();
  private known: ReadonlyMap<string, string> = new Map();

  constructor(context: BrowserContext, proxy: GuardProxy) {
    this.context = context;
    this.proxy = proxy;
    for (const page of context.pages()) this.watch(page);
    context.on("page", (page) => {
      if (context.pages().length > MOST_TABS) void page.close().catch(() => {});
      else {
        this.watch(page);
        this.chosen = page;
      }
    });
  }

  /** Told by the proxy. */
  notReached(unreached: Unreached): void {
    if (this.unreached.length < 50) this.unreached.push(unreached);
  }

  /** Runs after all that was asked for before. */
  inTurn<T>(act: () => Promise<T>): Promise<T> {
    const done = this.queue.then(act);
    this.queue = done.catch(() => {});
    return done;
  }

  pages(): Page[] {
    return this.context.pages();
  }

  current(): Page | undefined {
    const pages = this.context.pages();
    return this.chosen && pages.includes(this.chosen) ? this.chosen : pages.at(-1);
  }

  async page(): Promise<Page> {
    return this.current() ?? (await this.context.newPage());
  }

  async newTab(): Promise<Page> {
    this.chosen = await this.context.newPage();
    return this.chosen;
  }

  choose(page: Page): void {
    this.chosen = page;
  }

  /** What a ref of the last snapshot is, in words; undefined when it had none such. */
  describe(ref: string): string | undefined {
    return this.known.get(ref);
  }

  async snapshot(
    signal: AbortSignal,
    wanted: Wanted = {},
  ): Promise<{ url: string; title: string; text: string; raw: string }> {
    const page = await this.page();
    const raw = await page.ariaSnapshot({ mode: "ai", timeout: SNAPSHOT_MS, signal }).catch(async (cause: unknown) => {
      signal.throwIfAborted();
      await this.replace(page);
      throw new AppError("NOT_READY", {
        message: "The page stopped responding and was closed.",
        hint: 'Open it again with action "navigate".',
        retry: "later",
        cause,
      });
    });
    const { text, refs } = compact(raw, await readPasswords(page), wanted);
    this.known = refs;
    return { url: page.url(), title: await readTitle(page), text, raw };
  }

  /** What happened beside: hosts that were not reached, dialogs that were dismissed, a page that did not come. Told once. */
  takeEvents(): { unreached: Unreached[]; notes: string[]; failedNavigation: string | undefined } {
    const { failedNavigation } = this;
    const unreached = this.unreached.splice(0).filter(({ host }) => this.failedHosts.has(host));
    this.failedNavigation = undefined;
    this.failedHosts.clear();
    return { unreached, notes: this.notes.splice(0), failedNavigation };
  }

  /** Acts and waits for what the action started: a page to load, or requests to be answered. */
  async settled<T>(act: (page: Page) => Promise<T>, signal: AbortSignal): Promise<T> {
    const page = await this.page();
    const pending = new Set<Request>();
    let navigates = false;
    const begun = (request: Request) => {
      if (isEndless(request)) return;
      pending.add(request);
      if (request.isNavigationRequest() && request.frame() === page.mainFrame()) navigates = true;
    };
    const over = (request: Request) => pending.delete(request);
    page.on("request", begun);
    page.on("requestfinished", over);
    page.on("requestfailed", over);
    try {
      const begunAt = performance.now();
      const result = await act(page);
      // A machine that was slow to act is as slow to show the result.
      const slow = Math.min(performance.now() - begunAt, MOST_WATCH_MS);
      await rest(Math.max(WATCH_MS, slow), signal);
      if (navigates) await page.waitForLoadState("load", { timeout: NAVIGATION_MS, signal }).catch(notAborted(signal));
      const deadline = Date.now() + REQUESTS_MS;
      while (pending.size > 0 && Date.now() < deadline) await rest(50, signal);
      const opened = this.current();
      if (opened && opened !== page) {
        await opened.waitForLoadState("load", { timeout: NAVIGATION_MS, signal }).catch(notAborted(signal));
      }
      return result;
    } finally {
      page.off("request", begun);
      page.off("requestfinished", over);
      page.off("requestfailed", over);
    }
  }

  /** A browser that does not end by itself loses its network at least, and its pipe with this process. */
  async close(): Promise<void> {
    await within(
      CLOSE_MS,
      this.context.close().catch(() => {}),
    );
    await this.proxy.close();
  }

  /** A page busy with itself forever would hold up everything that follows in its tab. */
  private async replace(page: Page): Promise<void> {
    await this.newTab().catch(() => {});
    await within(
      ANSWER_MS,
      page.close().catch(() => {}),
    );
  }

  private watch(page: Page): void {
    page.on("dialog", (dialog: Dialog) => {
      this.note(`the page asked (${dialog.type()}): ${dialog.message().slice(0, 300)}; it was dismissed`);
      void dialog.dismiss().catch(() => {});
    });
    page.on("download", (download) =>
      this.note(`a download was refused: ${download.suggestedFilename().slice(0, 100)}`),
    );
    page.on("requestfailed", (request) => {
      if (this.failedHosts.size < 1000 && URL.canParse(request.url()))
        this.failedHosts.add(readHost(new URL(request.url())));
      if (request.isNavigationRequest() && request.frame() === page.mainFrame()) this.failedNavigation = request.url();
    });
    page.on("crash", () => this.note("the page crashed"));
  }

  private note(text: string): void {
    if (this.notes.length < 20) this.notes.push(text);
  }
}

/** What stands in the password fields of all frames; the driver's snapshot tells it like any other value. */
async function readPasswords(page: Page): Promise<ReadonlySet<string>> {
  const reading = page.frames().map(async (frame) => {
    const fields = frame.locator("input[type=password]");
    return fields.evaluateAll((inputs: { value?: string }[]) => inputs.map((input) => String(input.value)));
  });
  const found = await within(ANSWER_MS, Promise.allSettled(reading));
  const values = (found ?? []).flatMap((each) => (each.status === "fulfilled" ? each.value : []));
  return new Set(values.filter((value) => value !== "").map((value) => value.trim()));
}

/** A page busy with itself does not tell its title, either. */
export async function readTitle(page: Page): Promise<string> {
  const title = await within(
    ANSWER_MS,
    page.title().catch(() => ""),
  );
  return visibleLine(withoutHidden(title ?? "")).slice(0, 300);
}

async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Streams stay open for as long as the page lives; nobody waits for their end. */
function isEndless(request: Request): boolean {
  return (
    request.resourceType() === "websocket" ||
    request.resourceType() === "eventsource" ||
    request.resourceType() === "media"
  );
}

async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await pause(systemClock, ms, signal);
  signal.throwIfAborted();
}

/** A page that does not finish loading is looked at as it is. */
function notAborted(signal: AbortSignal): () => void {
  return () => signal.throwIfAborted();
}
