/** Where the browser and its driver are. Only places that the system or the operator fills; never the PATH. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { BrowserType } from "playwright-core";
import { AppError } from "../../../core/domain/index.ts";
import { isProgram } from "../../../core/files/index.ts";

const DIRS = ["/usr/bin", "/usr/local/bin", "/snap/bin"];
const NAMES = ["chromium", "google-chrome", "google-chrome-stable", "chromium-browser"];
const MAC = [
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** The Chromium of this machine; undefined when there is none. */
export function findChromium(): string | undefined {
  return [...NAMES.flatMap((name) => DIRS.map((dir) => join(dir, name))), ...MAC].find(isProgram);
}

export function requireChromium(): string {
  const found = findChromium();
  if (found) return found;
  throw new AppError("NOT_READY", {
    message: "There is no Chromium on this machine, so pages can't be opened in a browser.",
    hint: "Install it (Debian: apt install chromium), or read the page with web_fetch.",
    retry: "after-change",
  });
}

/**
 * The driver, 14 MB that are not part of Lares: beside it, or installed globally. Loaded at the first use; it takes half a
 * second and 90 MB.
 */
export function loadDriver(): BrowserType {
  const globals = join(dirname(process.execPath), "..", "lib", "node_modules", "lares.js");
  for (const from of [import.meta.url, globals]) {
    const load = createRequire(from);
    let path: string;
    try {
      path = load.resolve("playwright-core");
    } catch {
      continue;
    }
    return (load(path) as { chromium: BrowserType }).chromium;
  }
  throw new AppError("NOT_READY", {
    message: "playwright-core is not installed, so pages can't be opened in a browser.",
    hint: "Install it with: npm i -g playwright-core",
    retry: "after-change",
  });
}
