/** The actions on an open page, each in a few lines of the driver's words. */
import type { Page } from "playwright-core";
import { AppError, assertNever } from "../../../core/domain/index.ts";
import { wrongInput } from "../paths/index.ts";
import { refused } from "../web/index.ts";
import type { BrowserInput } from "./input.ts";
import type { BrowserSession } from "./session.ts";

/** An element that is covered or does not come is not worth more of a turn's time. */
const ACTION_MS = 8_000;
const NAVIGATE_MS = 30_000;
const WAIT_MS = 30_000;
const ERROR_PAGE_MS = 2_000;

/** Does it and waits until the page has settled. Throws TOOL_INPUT for what the page does not offer. */
export async function act(session: BrowserSession, input: BrowserInput, signal: AbortSignal): Promise<void> {
  const { action, url = "", ref = "", text = "", tab } = input;
  const options = { timeout: ACTION_MS, signal };
  // One past the last is a new tab.
  if (action === "navigate" && tab === session.pages().length + 1) await session.newTab();
  else if (tab !== undefined) session.choose(findTab(session, tab));
  switch (action) {
    case "navigate":
      return session.settled((page) => navigate(page, url, signal), signal);
    case "click":
      return session.settled((page) => onElement(session, ref, () => page.getByRef(ref).click(options)), signal);
    case "type":
      return session.settled((page) => onElement(session, ref, () => page.getByRef(ref).fill(text, options)), signal);
    case "select":
      return session.settled(async (page) => {
        await onElement(session, ref, () => page.getByRef(ref).selectOption(text, options));
      }, signal);
    case "press":
      return session.settled(
        (page) =>
          onElement(session, ref, () => (ref ? page.getByRef(ref).press(text, options) : page.keyboard.press(text))),
        signal,
      );
    case "wait":
      return wait(await session.page(), text, signal);
    case "snapshot":
    case "screenshot":
    case "tabs":
    case "close":
      return undefined;
    default:
      return assertNever(action);
  }
}

export function findTab(session: BrowserSession, tab: number): Page {
  const page = session.pages()[tab - 1];
  if (!page)
    throw wrongInput(
      `browser: There is no tab ${tab}; ${session.pages().length} are open.`,
      'See them with action "tabs".',
    );
  return page;
}

/** The browser shows its error page a moment after the failure, and that would interrupt the next navigation. */
export async function leaveErrorPage(page: Page): Promise<void> {
  await page.waitForURL(/^chrome-error:/, { timeout: ERROR_PAGE_MS, waitUntil: "load" }).catch(() => {});
  await page.goto("about:blank").catch(() => {});
}

/** Places that are not of the web are left, however the page led there. */
export async function leaveOddPlaces(page: Page): Promise<void> {
  const at = page.url();
  const protocol = URL.canParse(at) ? new URL(at).protocol : "";
  if (at === "" || at === "about:blank" || /^(?:https?|blob|chrome-error):$/.test(protocol)) return;
  await page.goto("about:blank").catch(() => {});
  throw refused(`the page led to ${protocol || "an unknown place"}, which can't be opened`);
}

async function navigate(page: Page, url: string, signal: AbortSignal): Promise<void> {
  try {
    await page.goto(url, { timeout: NAVIGATE_MS, waitUntil: "load", signal });
  } catch (error) {
    signal.throwIfAborted();
    const text = error instanceof Error ? error.message : String(error);
    // Half a page after half a minute is still a page.
    if (/Timeout \d+ms exceeded/.test(text)) return;
    throw new AppError("NOT_READY", {
      message: `The page didn't open: ${firstLine(text)}`,
      hint: "Check the address, or try again in a moment.",
      retry: "later",
      cause: error,
    });
  }
}

async function wait(page: Page, text: string, signal: AbortSignal): Promise<void> {
  if (text !== "") {
    const found = page.getByText(text).first().waitFor({ state: "visible", timeout: WAIT_MS, signal });
    await found.catch((error: unknown) => {
      signal.throwIfAborted();
      throw new AppError("NOT_FOUND", {
        message: `"${text.slice(0, 100)}" didn't appear within ${WAIT_MS / 1000} s.`,
        hint: "Take a snapshot to see what the page says now.",
        cause: error,
      });
    });
    return;
  }
  await page.waitForLoadState("networkidle", { timeout: ACTION_MS, signal }).catch(() => signal.throwIfAborted());
}

async function onElement<T>(session: BrowserSession, ref: string, act: () => Promise<T>): Promise<void> {
  if (ref !== "" && session.describe(ref) === undefined) throw stale(ref);
  try {
    await act();
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    if (/Ref \S+ not found|not attached|was detached/i.test(text)) throw stale(ref);
    throw wrongInput(
      `browser: ${ref || "the page"} didn't accept the action: ${explained(text)}`,
      "Take a snapshot and look again.",
    );
  }
}

function stale(ref: string): AppError {
  return wrongInput(`browser: ${ref} is no longer on the page.`, "Take a snapshot to get the current refs.");
}

/** The driver's log names what was in the way; its last lines say it best. */
function explained(text: string): string {
  const plain = text.replace(/\u001b\[\d+m/g, "");
  const hint = plain.split("\n").map(obstacleIn).find(Boolean);
  return hint ? `${firstLine(plain)} (${hint.slice(0, 200)})` : firstLine(plain);
}

const IN_THE_WAY = " intercepts pointer events";

function obstacleIn(line: string): string | undefined {
  const [tag, end] = [line.indexOf("<"), line.indexOf(IN_THE_WAY)];
  if (tag >= 0 && end > tag) return line.slice(tag, end + IN_THE_WAY.length);
  const state = line.search(/element is not (?:visible|enabled|stable|editable)/);
  return state < 0 ? undefined : line.slice(state);
}

function firstLine(text: string): string {
  return text
    .replace(/\u001b\[\d+m/g, "")
    .split("\n")[0]!
    .slice(0, 300);
}
