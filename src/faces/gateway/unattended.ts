/** Doors for programs that have their own credential: a platform's signature, or a hook's secret. */
import { type HttpApp, letGo, mustBeReady, readBody, unproven } from "./http.ts";
import type { GatewayParts } from "./ports.ts";

/** A platform's request: the adapter checks its signature over the raw body. */
export function channelRoute(app: HttpApp, parts: GatewayParts): void {
  app.on(["GET", "POST"], "/channels/:channel/:account", async (c) => {
    mustBeReady(parts);
    const { incoming } = c.env;
    const { channel, account } = c.req.param();
    const method = c.req.method as "GET" | "POST";
    const head = { method, headers: c.req.header(), query: c.req.query() };
    const most = parts.config().http.maxBodyBytes;
    const readThis = async () =>
      method === "POST" ? readBody(c.env, most, unproven(parts.config())) : Buffer.alloc(0);
    try {
      const answer = await parts.channel(channel, account, head, readThis);
      const { status, headers = {} } = answer;
      if (answer.body === undefined) return c.body(null, status as 200, { ...headers });
      if (typeof answer.body === "string") return c.text(answer.body, status as 200, { ...headers });
      return c.body(JSON.stringify(answer.body), status as 200, { "content-type": "application/json", ...headers });
    } finally {
      if (!incoming.readableEnded) letGo(incoming);
    }
  });
}

/** A hook's secret is in a header. Nothing of the query counts (WH-03, WH-07). */
export function hookRoute(app: HttpApp, parts: GatewayParts): void {
  app.post("/hooks/:name", async (c) => {
    mustBeReady(parts);
    const { incoming } = c.env;
    const headers = Object.fromEntries(
      Object.entries(incoming.headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
    );
    try {
      const answer = await parts.hook(c.req.param("name"), headers, (most) =>
        readBody(c.env, most, { ...unproven(parts.config()), key: "this hook's maxBytes" }),
      );
      return c.json(answer, 202);
    } finally {
      if (!incoming.readableEnded) letGo(incoming);
    }
  });
}
