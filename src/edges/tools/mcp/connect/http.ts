/** A server that runs elsewhere, over streamable HTTP. Loaded with the SDK. */
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { AppError } from "../../../../core/domain/index.ts";
import { defined } from "../../../../core/kit/index.ts";
import { readPort } from "../../web/reach.ts";
import { createStreamFetch, type FetchShape } from "../../web/stream.ts";
import type { McpLogin } from "./login.ts";

/** Whether the owner listed this host of a private network (`web.privateHosts`). */
export type IsListed = (host: string, address: string, port: number) => boolean;

/**
 * The owner's own address may be private (a server on this machine or the home network); what it redirects or points to may not, because
 * that is the server's choice, unless the owner listed the host.
 */
export function connectOver(
  url: string,
  headers: Readonly<Record<string, string>>,
  { login, isListed }: { login?: McpLogin | undefined; isListed: IsListed },
): StreamableHTTPClientTransport {
  const fetch = guardedFetch(url, isListed);
  return new StreamableHTTPClientTransport(new URL(url), {
    fetch: async (to, init) => {
      const response = await fetch(to, init);
      if (response.status === 403) await login?.onForbidden(response);
      return response;
    },
    requestInit: { headers: { ...headers }, redirect: "manual" },
    ...defined({ authProvider: login }),
  });
}

/** Reaches the owner's own address and the hosts they listed wherever they are; everything else only where it is public, and over https. */
export function guardedFetch(url: string, isListed: IsListed): FetchShape {
  const own = new URL(url);
  const host = plainHost(own);
  const port = readPort(own);
  const fetch = createStreamFetch({
    mayReach: (name, address, at) => (name === host && at === port) || isListed(name, address, at),
  });
  return (given, init) => {
    const to = new URL(given);
    const isKnown = to.origin === own.origin || isListed(plainHost(to), "", readPort(to));
    if (!isKnown && to.protocol !== "https:") {
      throw new AppError("FORBIDDEN", { message: `Not reached: ${to.host} is named without https.` });
    }
    return fetch(to, init);
  };
}

function plainHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "").toLowerCase();
}
