/**
 * Where a browser ends after a login to an MCP server (`lares mcp login`). It proves itself by the state that only the login's link
 * had, and by nothing else: a strict cookie doesn't come along from another site.
 *
 * MCPSERVER-6: only a browser on this machine ends a login here: the connection and the name it asks for are loopback.
 */
import type { IncomingMessage } from "node:http";
import { AppError } from "../../../core/domain/index.ts";
import { isLoopbackHost, LOGIN_END_PATH } from "../../../core/kit/index.ts";
import { type HttpApp, mustBeReady, publicShape } from "../http.ts";
import type { GatewayParts } from "../ports.ts";
import { pageHeaders } from "../static/headers.ts";
import { messagePage } from "../static/pages.ts";

/** A code and a state; some servers' codes are long. */
const MOST_QUERY = 8192;

export function loginEndRoute(app: HttpApp, parts: GatewayParts): void {
  app.get(LOGIN_END_PATH, async (c) => {
    mustBeReady(parts);
    const query = new URL(c.req.url).search;
    if (!isLocal(c.env.incoming) || query.length > MOST_QUERY) throw notHere();
    const show = (status: 200 | 400, title: string, text: string) =>
      c.html(messagePage(title, text), status, pageHeaders({ "cache-control": "no-store" }));
    try {
      const server = await parts.endLogin(query);
      if (server !== undefined) return show(200, `Logged in to ${server}`, "You can close this page.");
      return show(400, "This login isn't open any more", AGAIN);
    } catch (error) {
      if (!(error instanceof AppError)) parts.log.warn("a login to an MCP server failed", { error: String(error) });
      const why = error instanceof AppError ? publicShape(error.toShape(), parts.redact).message : UNKNOWN;
      return show(400, "The login didn't work", `${why} ${AGAIN}`);
    }
  });
}

const AGAIN = "Start again with: lares mcp login NAME";
const UNKNOWN = "The server's answer couldn't be used.";

function isLocal({ socket, headers }: IncomingMessage): boolean {
  const host = (headers.host ?? "").replace(/:\d+$/, "");
  return isLoopbackHost(socket.remoteAddress ?? "") && isLoopbackHost(host);
}

function notHere(): AppError {
  return new AppError("FORBIDDEN", {
    message: "A login ends here only in a browser on the machine that Lares runs on.",
    hint: "Copy the address from the browser: lares mcp login NAME --ended ADDRESS",
  });
}
