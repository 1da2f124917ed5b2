/** `GET` of pages and files. Page addresses of the UI all get its first page; the UI finds its way from the address. */
import type { HttpApp } from "../http.ts";
import type { GatewayParts } from "../ports.ts";
import { staticFile } from "./files.ts";
import { pageHeaders } from "./headers.ts";
import { notBuiltPage } from "./pages.ts";

const PAGES =
  /^\/(?:$|(?:chat|sessions|board|schedule|memory|agents|activity|turns|approvals|usage|log|more|settings|channels|welcome)(?:\/|$))/;

/** Returns nothing when the path is no page and no file: then other routes have their say. */
export function staticRoutes(app: HttpApp, parts: GatewayParts): void {
  app.on("GET", ["/*"], async (c, next) => {
    const { path } = c.req;
    const isPage = PAGES.test(path);
    const file = await staticFile(parts.uiDir, isPage ? "/index.html" : path, c.req.header("accept-encoding") ?? "");
    if (!file) {
      if (!isPage) return next();
      return c.html(notBuiltPage(), 200, pageHeaders({ "cache-control": "no-store" }));
    }
    const headers = pageHeaders(file.headers);
    if (c.req.header("if-none-match") === file.headers.etag) return c.body(null, 304, headers);
    return c.body(file.body, 200, headers);
  });
}
