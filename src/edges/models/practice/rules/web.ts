/** Words for the web: search it, read a page, open one in the browser. */
import { END, type PracticeRule, row, unquote } from "./words.ts";

/** With or without the scheme: nobody types it. */
const URL = String.raw`(?<url>(?:https?:\/\/\S+?)|(?:(?:[a-z0-9-]+\.)+[a-z]{2,}(?:[:/]\S*?)?))`;
const whole = (url: string): string => (/^https?:\/\//i.test(url) ? url : `https://${url}`);

export const WEB: readonly PracticeRule[] = [
  row(
    "browser",
    "open https://example.com in the browser",
    `(?:open|show|load|visit|go to)(?: me)?(?: the page| the site)? ${URL} (?:in|with) (?:the|a|your) browser${END}`,
    ({ url }) => ({ action: "navigate", url: whole(url!) }),
  ),
  row(
    "browser",
    "browse example.com",
    `(?:browse(?: to)?|(?:open|show) in (?:the|a|your) browser:?) ${URL}${END}`,
    ({ url }) => ({ action: "navigate", url: whole(url!) }),
  ),
  row("browser", "take a screenshot", `(?:take|make) a screenshot(?: of (?:the|this) page)?${END}`, () => ({
    action: "screenshot",
  })),
  row("browser", "close the browser", `close (?:the|your) browser${END}`, () => ({ action: "close" })),
  row(
    "web_search",
    "search the web for tide tables",
    `(?:search|look on|look through) (?:the (?:web|internet)|online) for (?<query>.+?)${END}`,
    ({ query }) => ({ query: unquote(query!) }),
  ),
  row(
    "web_search",
    "look up tide tables online",
    `(?:search(?: for)?|look up|look for|find) (?<query>.+?) (?:online|on the (?:web|internet))${END}`,
    ({ query }) => ({ query: unquote(query!) }),
  ),
  row("web_search", "google tide tables", `google(?: for)? (?<query>.+?)${END}`, ({ query }) => ({
    query: unquote(query!),
  })),
  row(
    "web_fetch",
    "fetch https://example.com",
    String.raw`(?:(?:fetch|get|read|open|show|visit|go to)(?: me)?(?: the)?(?: page| site| url)?|what (?:does|is on)) (?<url>https?:\/\/\S+?)(?: say)?${END}`,
    ({ url }) => ({ url: url! }),
  ),
  row(
    "web_fetch",
    "read the page example.com",
    `(?:fetch|get|read|open|show|visit)(?: me)?(?: the)? (?:page|site|website) ${URL}${END}`,
    ({ url }) => ({ url: whole(url!) }),
  ),
];
