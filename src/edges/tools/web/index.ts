/** The web: the one fetcher with its rule, and the tools that read and search. */
import type { Tool } from "../../../core/contracts/index.ts";
import { type WebConfig, webConfig } from "./config.ts";
import { createFetcher, type FetcherDeps } from "./fetcher.ts";
import { createReach, listedHosts } from "./reach.ts";
import { createWebFetch, planUrl, type ReadPage } from "./web-fetch.ts";
import { createWebSearch } from "./web-search.ts";

export { ownDownloads } from "./download.ts";
export { createFetcher, type FetcherDeps } from "./fetcher.ts";
export { pinned, requirePinned } from "./hop.ts";
export { labelled } from "./outside.ts";
export {
  createReach,
  isListable,
  listedHosts,
  type Reach,
  type ReachRules,
  readHost,
  readPort,
  refused,
} from "./reach.ts";
export { planUrl, webConfig };

/** `web_fetch`, and `web_search`, which is offered while a service is configured. Both follow the configuration. `deps.mayReach` adds to `web.privateHosts`. */
export function createWebTools(config: () => WebConfig, readPage: ReadPage, deps: FetcherDeps = {}): Tool[] {
  const rules = withListed(config, deps);
  const fetch = createWebFetch({ fetcher: createFetcher(rules), reach: createReach(rules), readPage });
  return [fetch, createWebSearch(() => config().search, deps)];
}

/** The rules for whatever reaches the web on behalf of agents: what the operator listed, or `deps` allows. */
export function withListed<Deps extends FetcherDeps>(config: () => WebConfig, deps: Deps): Deps {
  const also = deps.mayReach;
  return {
    ...deps,
    mayReach: (host, address, port) =>
      listedHosts(config().privateHosts)(host, address, port) || also?.(host, address, port) === true,
  };
}
