/** A server that runs elsewhere, over streamable HTTP. Loaded with the SDK. */
import { type AuthProvider, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { AppError } from "../../../core/domain/index.ts";
import { defined } from "../../../core/kit/index.ts";
import { createStreamFetch, type FetchShape } from "../web/stream.ts";

/**
 * The owner's own address may be private (a server on this machine or the home network); what it redirects or points to may not, because
 * that is the server's choice.
 */
export function connectOver(
  url: string,
  headers: Readonly<Record<string, string>>,
  login: AuthProvider | undefined,
): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(url), {
    fetch: guardedFetch(url),
    requestInit: { headers: { ...headers }, redirect: "manual" },
    ...defined({ authProvider: login }),
  });
}

/** Reaches the owner's own address wherever it is; everything else only where it is public, and over https. */
export function guardedFetch(url: string): FetchShape {
  const own = new URL(url);
  const port = Number(own.port || (own.protocol === "https:" ? 443 : 80));
  const host = own.hostname.replace(/^\[|\]$/g, "").toLowerCase();
  const fetch = createStreamFetch({ mayReach: (name, _address, at) => name === host && at === port });
  return (given, init) => {
    const to = new URL(given);
    if (to.origin !== own.origin && to.protocol !== "https:") {
      throw new AppError("FORBIDDEN", { message: `Not reached: ${to.host} is named without https.` });
    }
    return fetch(to, init);
  };
}
