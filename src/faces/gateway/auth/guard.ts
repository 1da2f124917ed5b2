/**
 * Who may knock at all. A browser page from elsewhere must not reach the gateway, not even on loopback: names that are not
 * ours (DNS rebinding), origins that are not ours, and cross-site fetches are refused before anything is read.
 *
 * AUTH-5: a Host is loopback, an IP address, the bound name or a listed name. An address cannot be rebound, a name can.
 *     A whole address as the request's target names the same place as Host.
 * AUTH-6: any request with an Origin comes from our own origin (WS-01); no loopback trust.
 * AUTH-7: cross-site requests are refused, except opening one of our pages in a tab: a page has no data, and a strict cookie
 *     does not come with it.
 * AUTH-9: a header that decides something is said once. Two Hosts would be read differently by a proxy and by us.
 * AUTH-8: credentials and addresses in a query are refused: queries are kept in histories and logs.
 */

import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { AppError } from "../../../core/domain/index.ts";
import { isLoopbackBind } from "../../../core/kit/index.ts";

export interface ServedHosts {
  bind: string;
  /** Names this gateway is known by besides its address, e.g. behind a proxy. */
  hosts: readonly string[];
}

/** Node keeps the first of two and joins or drops others; a proxy in front of us may choose otherwise. */
const SAID_ONCE = new Set(["host", "origin", "authorization", "sec-fetch-site", "x-lares-proof"]);
const REFUSED_QUERY = /[?&](gatewayurl|token|access_token|api_key)=/i;

export function guard(incoming: IncomingMessage, doors: ServedHosts): void {
  const { headers } = incoming;
  const twice = saidTwice(incoming.rawHeaders);
  if (twice) {
    throw new AppError("BAD_REQUEST", {
      message: `The header ${twice} came twice.`,
      hint: "Send it once. If a proxy adds it, let the proxy replace it instead.",
    });
  }
  const host = hostName(headers.host);
  if (!host || !isServed(host, doors)) {
    throw refusal("This Host is not served here.", "Use the address Lares printed, or list the name in gateway.hosts.");
  }
  if (!isOurTarget(incoming.url ?? "/", headers.host)) {
    throw refusal("This address is not served here.", "Ask for a path. Lares is no proxy.");
  }
  if (headers.origin !== undefined && !isOwnOrigin(headers.origin, headers.host)) {
    throw refusal("Requests from this origin are refused.", "Open Lares' own page.");
  }
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none" && !opensPage(incoming)) {
    throw refusal("Cross-site requests are refused.", "Open Lares' own page.");
  }
  if (incoming.url?.includes("?") && REFUSED_QUERY.test(incoming.url)) {
    throw new AppError("BAD_REQUEST", {
      message: "Credentials and gateway addresses are not taken from the query.",
      hint: "Send a token as Authorization: Bearer. A page always talks to the gateway it came from.",
    });
  }
}

/** A whole address as the target (`GET http://…`) overrules Host, so it has to name the same place. */
function isOurTarget(target: string, host: string | undefined): boolean {
  if (target.startsWith("/") || target === "*") return true;
  return URL.canParse(target) && new URL(target).protocol === "http:" && isOwnOrigin(target, host);
}

function saidTwice(raw: readonly string[]): string | undefined {
  const seen = new Set<string>();
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at]!.toLowerCase();
    if (!SAID_ONCE.has(name)) continue;
    if (seen.has(name)) return name;
    seen.add(name);
  }
  return undefined;
}

export function isOwnOrigin(origin: string, host: string | undefined): boolean {
  return URL.canParse(origin) && new URL(origin).host === host?.toLowerCase();
}

/** A person follows a link: the whole tab goes to our page. Frames, images and scripts are not that. */
function opensPage(incoming: IncomingMessage): boolean {
  const { headers, method } = incoming;
  const isRead = method === "GET" || method === "HEAD";
  return isRead && headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document";
}

function isServed(host: string, { bind, hosts }: ServedHosts): boolean {
  const bare = host.replace(/^\[|\]$/g, "");
  if (isLoopbackBind(bare) || host === bind) return true;
  const isOpen = !isLoopbackBind(bind);
  return (isOpen && isIP(bare) > 0) || hosts.includes(host);
}

function hostName(host: string | undefined): string | undefined {
  return host?.replace(/:\d+$/, "").toLowerCase();
}

function refusal(message: string, hint: string): AppError {
  return new AppError("FORBIDDEN", { message, hint });
}
