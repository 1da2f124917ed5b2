import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";

const base = process.env.BASE ?? "http://127.0.0.1:7791",
  home = process.env.HOMEDIR ?? "/tmp/uihome2";
export const token = readFileSync(`${home}/token`, "utf8").trim();
export const rpc = async (m, p = {}) =>
  (
    await fetch(`${base}/rpc/${m}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(p),
    })
  ).json();
export async function open(width = 1280, height = 800, opts = {}) {
  const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
  const page = await (await browser.newContext({ viewport: { width, height }, ...opts })).newPage();
  page.on("console", (m) => {
    if (m.type() !== "log") console.log("console", m.type(), m.text());
  });
  page.on("pageerror", (e) => console.log("pageerror", e.message, e.stack?.split("\n").slice(0, 4).join("\n")));
  const { url } = await rpc("login.code");
  await page.goto(url);
  return { browser, page, base };
}
