/** A server that runs elsewhere, over streamable HTTP. Loaded with the SDK. */
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createStreamFetch } from "../web/stream.ts";

/**
 * The owner's own address may be private (a server on this machine or the home network); what it redirects or points to may not, because
 * that is the server's choice.
 */
export function connectOver(url: string, headers: Readonly<Record<string, string>>): StreamableHTTPClientTransport {
  const own = new URL(url);
  const port = Number(own.port || (own.protocol === "https:" ? 443 : 80));
  const host = own.hostname.replace(/^\[|\]$/g, "").toLowerCase();
  return new StreamableHTTPClientTransport(own, {
    fetch: createStreamFetch({ mayReach: (name, _address, at) => name === host && at === port }),
    requestInit: { headers: { ...headers }, redirect: "manual" },
  });
}
