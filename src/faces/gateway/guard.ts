/**
 * Who may knock at all. A browser page from elsewhere must not reach the gateway, not even on loopback: names that are not
 * ours (DNS rebinding), origins that are not ours, and cross-site fetches are refused before anything is read.
 */
import type { IncomingMessage } from "node:http";
import { AppError } from "../../core/domain/index.ts";

const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);

export function guard(incoming: IncomingMessage, bind: string): void {
  const host = hostName(incoming.headers.host);
  if (!host || !(LOOPBACK.has(host) || host === bind || isAny(bind))) {
    throw new AppError("FORBIDDEN", { message: "This Host is not served here.", hint: "Use the address Lares printed." });
  }
  const { origin } = incoming.headers;
  if (origin !== undefined && !sameHost(origin, incoming.headers.host)) {
    throw new AppError("FORBIDDEN", { message: "Requests from this origin are refused.", hint: "Open Lares' own page." });
  }
  const site = incoming.headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none") {
    throw new AppError("FORBIDDEN", { message: "Cross-site requests are refused.", hint: "Open Lares' own page." });
  }
}

function hostName(host: string | undefined): string | undefined {
  return host?.replace(/:\d+$/, "").toLowerCase();
}

function isAny(bind: string): boolean {
  return bind === "0.0.0.0" || bind === "::";
}

function sameHost(origin: string, host: string | undefined): boolean {
  return URL.canParse(origin) && new URL(origin).host === host?.toLowerCase();
}
