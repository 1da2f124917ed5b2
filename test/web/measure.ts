/**
 * For `npm run bench`: how many tokens a snapshot costs beside a picture of the same page.
 *
 * Text counts as characters / 4. A picture counts as pixels / 750, Anthropic's published rule, at the size in which it can be
 * read: a whole page in as many window-sized pieces as it takes. One picture of a long page would be shrunk by the provider
 * to about 1,600 tokens, and its text with it beyond reading.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserDeps, Pool } from "../../src/edges/tools/browser/pool.ts";
import { end, standingSite } from "./servers.ts";

export interface Measured {
  url: string;
  /** Of what the model gets, and of the driver's own snapshot; four characters to a token. */
  snapshotTokens: number;
  rawTokens: number;
  /** Of a picture of the whole page and of the window: width × height / 750. */
  fullPageTokens: number;
  windowTokens: number;
  /** Full page to snapshot. */
  ratio: number;
}

const CHARACTERS_PER_TOKEN = 4;
const PIXELS_PER_TOKEN = 750;

/** Pages of six usual kinds, served from this machine. */
export async function benchSnapshots(): Promise<Measured[]> {
  const site = await standingSite((request, response) => {
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end(PAGES[request.url!] ?? "");
  });
  try {
    const urls = Object.keys(PAGES).map((path) => `${site.url}${path}`);
    return await measureSnapshots(urls, { mayReach: (_host, _address, port) => port === site.port });
  } finally {
    await end(site);
  }
}

/** One line for people. */
export function say({ url, snapshotTokens, rawTokens, fullPageTokens, windowTokens, ratio }: Measured): string {
  const figures = `snapshot ${snapshotTokens} tokens (driver's own ${rawTokens}), picture ${fullPageTokens} (window ${windowTokens})`;
  return `${new URL(url).pathname.slice(1)}: ${figures}: ${ratio.toFixed(0)} × smaller`;
}

const STYLE =
  "<style>body{font:16px/1.5 sans-serif;margin:0 auto;max-width:1100px}.card{display:inline-block;width:340px}</style>";
const MENU =
  "<nav><ul><li><a href=/a>Home</a></li><li><a href=/b>Products</a></li><li><a href=/c>Help</a></li></ul></nav>";
const list = (count: number, item: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => item(n + 1)).join("");
const SENTENCE = "The household gods were honoured at every meal, and a share of the food was set aside for them. ";
const picture = (width: number, height: number) =>
  `<svg width=${width} height=${height}><rect width=100% height=100% fill=teal /></svg>`;

const PAGES: Record<string, string> = {
  "/login": `<title>Log in</title>${STYLE}<h1>Log in</h1><form><label>User <input></label><label>Password
    <input type=password></label><label><input type=checkbox> Stay</label><button>Log in</button></form><a href=/f>Forgotten?</a>`,
  "/dashboard": `<title>Team</title>${STYLE}${MENU}<main>${list(
    12,
    (n) =>
      `<section style="padding:60px 0"><h2>Report ${n}</h2>${picture(1000, 300)}<p>Up by ${n} %.</p><button>Open</button></section>`,
  )}</main>`,
  "/shop": `<title>Shop</title>${STYLE}${MENU}<main>${list(
    36,
    (n) =>
      `<div class=card>${picture(320, 320)}<h3><a href=/p${n}>Lamp ${n}</a></h3><p>${n}9.00 €</p><button>Add to cart</button></div>`,
  )}</main>`,
  "/article": `<title>Lares</title>${STYLE}${MENU}<article><h1>Lares</h1>${list(
    25,
    (n) => `<h2>Part ${n}</h2><p>${SENTENCE.repeat(5)}</p>`,
  )}</article>`,
  "/news": `<title>News</title>${STYLE}<table>${list(
    60,
    (n) =>
      `<tr><td>${n}.<td><a href=/i${n}>A story about household ${n} and its keepers</a> (<a href=/s${n}>site${n}.example</a>)
      <tr><td><td>${n * 3} points by <a href=/u${n}>user${n}</a> 3 hours ago | <a href=/c${n}>${n} comments</a>`,
  )}</table>`,
  "/index": `<title>Index</title>${STYLE}<ul>${list(200, (n) => `<li><a href=/e${n}>Entry ${n} of the index</a></li>`)}</ul>`,
};

/** Opens each page in a fresh profile. Needs Chromium and playwright-core; throws NOT_READY without them. */
export async function measureSnapshots(urls: readonly string[], deps: BrowserDeps = {}): Promise<Measured[]> {
  const dir = await mkdtemp(join(tmpdir(), "lares-measure-"));
  const pool = new Pool(deps);
  try {
    return await pool.use(dir, async (session) => {
      const found: Measured[] = [];
      for (const url of urls) {
        const page = await session.page();
        await page.goto(url);
        const { text, raw } = await session.snapshot(new AbortController().signal);
        const picture = await page.screenshot({ fullPage: true, type: "png" });
        // The header of a PNG: width and height as big-endian words behind the signature and the chunk's name.
        const [width, height] = [picture.readUInt32BE(16), picture.readUInt32BE(20)];
        const window = page.viewportSize() ?? { width, height };
        const snapshotTokens = Math.ceil(text.length / CHARACTERS_PER_TOKEN);
        const fullPageTokens = Math.ceil((width * height) / PIXELS_PER_TOKEN);
        found.push({
          url,
          snapshotTokens,
          rawTokens: Math.ceil(raw.length / CHARACTERS_PER_TOKEN),
          fullPageTokens,
          windowTokens: Math.ceil((window.width * window.height) / PIXELS_PER_TOKEN),
          ratio: fullPageTokens / Math.max(snapshotTokens, 1),
        });
      }
      return found;
    });
  } finally {
    await pool.closeAll();
    await rm(dir, { recursive: true, force: true });
  }
}
