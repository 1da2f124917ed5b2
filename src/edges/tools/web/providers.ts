/** Search services: how each is asked, and what of its answer is a result. */

import { z } from "zod";
import { trimEndCharacters } from "../../../core/kit/index.ts";
import type { SearchConfig } from "./config.ts";
import type { FetchRequest } from "./fetcher.ts";

export interface WebResult {
  title: string;
  url: string;
  snippet: string;
}

export interface SearchProvider {
  /** Where requests go; the host a rule names. */
  base: URL;
  request(query: string, count: number): FetchRequest;
  /** The results in an answer's JSON. Throws a ZodError when it is not what the service documents. */
  results(answer: unknown): WebResult[];
}

export function providerFor(config: SearchConfig): SearchProvider {
  const base = new URL(config.baseUrl ?? BASES[config.provider]);
  return PROVIDERS[config.provider](base, config.key ?? "");
}

const BASES = {
  brave: "https://api.search.brave.com",
  tavily: "https://api.tavily.com",
  searxng: "http://localhost:8080",
};

const line = z
  .string()
  .nullish()
  .transform((text) => text ?? "");

const brave = z.object({
  web: z.object({ results: z.array(z.object({ title: line, url: line, description: line })) }).nullish(),
});
const withContent = z.object({ results: z.array(z.object({ title: line, url: line, content: line })) });

const PROVIDERS: Record<SearchConfig["provider"], (base: URL, key: string) => SearchProvider> = {
  brave: (base, key) => ({
    base,
    request: (query, count) => ({
      url: under(base, "res/v1/web/search", { q: query, count: String(count) }),
      headers: { "x-subscription-token": key, accept: "application/json" },
    }),
    results: (answer) =>
      (brave.parse(answer).web?.results ?? []).map(({ title, url, description }) => ({
        title,
        url,
        snippet: description,
      })),
  }),
  tavily: (base, key) => ({
    base,
    request: (query, count) => ({
      url: under(base, "search"),
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({ query, max_results: count }),
    }),
    results: contentResults,
  }),
  searxng: (base, key) => ({
    base,
    request: (query) => ({
      url: under(base, "search", { q: query, format: "json" }),
      headers: { accept: "application/json", ...(key ? { authorization: `Bearer ${key}` } : {}) },
    }),
    results: contentResults,
  }),
};

function contentResults(answer: unknown): WebResult[] {
  return withContent.parse(answer).results.map(({ title, url, content }) => ({ title, url, snippet: content }));
}

/** A base may have its own path: a SearXNG behind `/searx`. */
function under(base: URL, path: string, query: Record<string, string> = {}): URL {
  const url = new URL(`${trimEndCharacters(base.pathname, "/")}/${path}`, base);
  url.search = new URLSearchParams(query).toString();
  return url;
}
