/** `web_search`: titles, addresses and snippets from the configured service. */
import { z } from "zod";
import type { Tool } from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import { visible, visibleLine } from "../escape.ts";
import { parseInput, wholeNumber } from "../input.ts";
import type { SearchConfig } from "./config.ts";
import { failed } from "./failure.ts";
import { createFetcher, type Fetched, type FetcherDeps } from "./fetcher.ts";
import { labelled } from "./outside.ts";
import { providerFor, type SearchProvider, type WebResult } from "./providers.ts";
import { listedHosts, readHost } from "./reach.ts";

export const COUNT = 5;
export const MOST = 20;
/** Two or three sentences: enough to choose by. */
const SNIPPET = 300;
const MAX_BYTES = 4 * 1024 * 1024;

const schema = z.strictObject({ query: z.string().trim().min(1).max(400), count: wholeNumber(1, MOST).optional() });

export function createWebSearch(config: () => SearchConfig | undefined, deps: FetcherDeps = {}): Tool {
  const service = () => {
    const found = config();
    if (!found) throw notSetUp();
    const provider = providerFor(found);
    return { name: found.provider, provider, host: readHost(provider.base) };
  };
  return {
    offered: () => config() !== undefined,
    spec: {
      name: "web_search",
      description: "Search the web: titles, addresses and a few words of each. Read the promising ones with web_fetch.",
      input: {
        type: "object",
        properties: {
          query: { type: "string", description: "a few words" },
          count: { type: "integer", description: `default ${COUNT}, max ${MOST}` },
        },
        required: ["query"],
      },
    },
    repeat: "safe",
    async plan(input) {
      const { query, count = COUNT } = parseInput("web_search", schema, input);
      const { name, host } = service();
      const shown = `Search with ${name} (${host}):\n${visible(query)}`;
      return { tool: "web_search", risk: "network", targets: [host], shown, binding: { host, query, count } };
    },
    async run(input, place, key, signal) {
      const { query, count = COUNT } = parseInput("web_search", schema, input);
      const { name, provider } = service();
      // The operator named this place: it may be on a private network. This fetcher goes nowhere else.
      const fetcher = createFetcher({ ...deps, mayReach: listedHosts([portNamed(provider.base)]) });
      const request = { ...provider.request(query, count), maxBytes: MAX_BYTES, follow: () => false };
      const found = parseResults(provider, name, await fetcher.fetch(request, signal)).slice(0, count);
      const meta = { provider: name, count: found.length };
      if (found.length === 0) return { text: nothingFound(query, name), meta };
      const shown = await labelled({ label: `Results for "${query}"`, text: found.map(render).join("\n"), place, key });
      return { text: shown.text, meta };
    },
  };
}

function nothingFound(query: string, service: string): string {
  const narrow = /["()]|\b(?:site|filetype|intitle|inurl):|\b(?:AND|OR|NOT)\b/.test(query);
  const tries = [
    ...(narrow ? ["leave out the quotes, filters and operators"] : []),
    "use fewer or more common words",
    "or read a likely address with web_fetch",
  ];
  return `${service} has no results for "${visibleLine(query)}". Try this: ${tries.join(", ")}. If that doesn't help either, say that you found nothing.`;
}

function notSetUp(): AppError {
  return new AppError("NOT_READY", {
    message: "Web search isn't set up.",
    hint: "The owner can set web.search in lares.yaml. Until then, read known addresses with web_fetch.",
    retry: "after-change",
    origin: "own",
  });
}

function parseResults(provider: SearchProvider, name: string, { status, body }: Fetched): WebResult[] {
  if (status === 401 || status === 403) {
    throw new AppError("FORBIDDEN", {
      message: `The search service ${name} refused (HTTP ${status}).`,
      hint:
        name === "searxng" ? "Allow the format json in its settings.yml (search.formats)." : "Check web.search.key.",
      retry: "after-change",
    });
  }
  if (status === 429)
    throw new AppError("TOO_MANY", {
      message: `The search service ${name} says there were too many searches.`,
      hint: "Wait a minute, or read a likely address with web_fetch.",
      retry: "later",
    });
  if (status !== 200) throw failed(`the search service ${name} answered HTTP ${status}`);
  try {
    return provider
      .results(JSON.parse(body.toString("utf8")))
      .map(cleaned)
      .filter(isUsable);
  } catch (cause) {
    throw failed(`the answer of the search service ${name} doesn't match its documentation`, cause);
  }
}

/** A hit as it is shown: words without tags, cut to a few lines. */
export function cleaned({ title, url, snippet }: WebResult): WebResult {
  return { title: plain(title).slice(0, 200), url, snippet: plain(snippet).slice(0, SNIPPET) };
}

function isUsable({ url }: WebResult): boolean {
  return /^https?:\/\/[^\s<>"]+$/i.test(url) && url.length <= 2048;
}

function render({ title, url, snippet }: WebResult, at: number): string {
  return `${at + 1}. ${visibleLine(title)}\n${url}${snippet ? `\n${visibleLine(snippet)}` : ""}`;
}

/** Services mark hits with tags and escape the rest. */
function plain(html: string): string {
  const signs: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " };
  return html
    .replace(/<\/?[a-z][^<>]*>/gi, "")
    .replace(/&#(x[\da-f]{1,6}|\d{1,7});/gi, (all, code: string) => {
      const value = Number(code.toLowerCase().startsWith("x") ? `0${code}` : code);
      return value <= 0x10ffff ? String.fromCodePoint(value) : all;
    })
    .replace(/&(\w+);/g, (all, name: string) => signs[name] ?? all)
    .replace(/\s+/g, " ")
    .trim();
}

function portNamed(url: URL): string {
  return url.port === "" ? `${url.hostname}:${url.protocol === "https:" ? 443 : 80}` : url.host;
}
