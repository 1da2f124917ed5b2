/** The browser: pages in a real Chromium, one profile per agent, everything it loads judged by the rule of the fetcher. */
export { createBrowserTool } from "./browser.ts";
export { findChromium } from "./find.ts";

/** Found on demand, not listed in every prompt. */
