/** The browser: pages in a real Chromium, one profile per agent, everything it loads judged by the rule of the fetcher. */
export { type BrowserTool, createBrowserTool } from "./browser.ts";
export { findChromium } from "./find.ts";
export type { BrowserDeps } from "./pool.ts";

/** Found on demand, not listed in every prompt. */
