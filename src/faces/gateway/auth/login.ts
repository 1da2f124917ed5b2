/**
 * Browser login: a one-time code becomes a login, which is a cookie and a proof (see `identify.ts`, AUTH-3). `GET /login` is the page
 * behind the printed link; its script takes the code out of the address and posts it. The answer of `POST /login` is the one
 * time the proof is said: in a body that only a script from our own origin can read, never in an address or a header.
 */
import type { IncomingMessage } from "node:http";
import type { Context } from "hono";
import { z } from "zod";
import { AppError } from "../../../core/domain/index.ts";
import { parseJsonBody, truthy } from "../../../core/kit/index.ts";
import { type HttpApp, type HttpEnv, parse, readBody, unproven } from "../http.ts";
import type { GatewayParts } from "../ports.ts";
import { pageHeaders } from "../static/headers.ts";
import { loginPage, loginScript, PAGE_STYLE } from "../static/pages.ts";
import { canonicalAddress } from "./address.ts";
import { callerKey, type Failures } from "./failures.ts";
import { cookieName, type Identifier, sessionCookie } from "./identify.ts";

const given = z.strictObject({ code: z.string().min(1).max(256) });
/** A code and its field name; more is not a login. */
const LARGEST_BODY = 4096;

export function loginRoutes(app: HttpApp, parts: GatewayParts, who: Identifier, failures: Failures): void {
  const redeem = async (c: Context<HttpEnv>, code: string) => {
    const done = await parts.door.redeem(code, c.req.header("user-agent") ?? "");
    if (done.ok) {
      parts.log.info("a browser signed in");
      return done;
    }
    parts.log.warn("a login code was refused", { why: done.why });
    failures.add(callerKey(c.env.incoming));
    throw badCode(done.why);
  };

  // Opening the page uses nothing up, so a browser that looks ahead does no harm.
  app.get("/login", (c) => c.html(loginPage(), 200, pageHeaders({ "cache-control": "no-store" })));
  app.get("/login.css", (c) => c.body(PAGE_STYLE, 200, pageHeaders({ "content-type": "text/css; charset=utf-8" })));
  app.get("/login.js", (c) =>
    c.body(loginScript(parts.program), 200, pageHeaders({ "content-type": "text/javascript; charset=utf-8" })),
  );

  app.post("/login", async (c) => {
    const code = readCode(await readBody(c.env, LARGEST_BODY, unproven(parts.config())));
    const done = await redeem(c, code);
    return c.json({ ok: true, proof: done.proof }, 200, {
      "cache-control": "no-store",
      "set-cookie": cookie(c.env.incoming, parts, done.cookie, done.maxAgeS),
    });
  });

  app.post("/logout", async (c) => {
    const principal = who.identify(c.env.incoming);
    // A token is not ended by leaving a page; a browser's login is.
    if (principal.credential.startsWith("login_")) await parts.door.revoke(principal.credential);
    return c.json({ ok: true }, 200, {
      "cache-control": "no-store",
      "set-cookie": cookie(c.env.incoming, parts, "", 0),
    });
  });

  /** Whether this browser is signed in: a page asks before it opens a socket. Never an error. */
  app.get("/session", (c) => {
    const principal = quietly(() => who.tryIdentify(c.env.incoming));
    // A browser that brings a cookie was signed in once: its page says that it has to be done again.
    const wasIn = sessionCookie(c.env.incoming) !== undefined;
    const body = principal
      ? { signedIn: true, name: principal.name, scopes: [...principal.scopes], version: parts.version }
      : { signedIn: false, ...truthy({ wasIn }) };
    return c.json(body, 200, { "cache-control": "no-store" });
  });
}

function cookie(incoming: IncomingMessage, { config }: GatewayParts, value: string, maxAgeS: number): string {
  const secure = cameOverTls(incoming, config().trustedProxies) ? "; Secure" : "";
  return `${cookieName(incoming)}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeS}${secure}`;
}

/** The last word of the header is that of the proxy next to us; without a trusted one anybody could have said it. */
function cameOverTls(incoming: IncomingMessage, proxies: readonly string[]): boolean {
  const from = canonicalAddress(incoming.socket.remoteAddress);
  if (!proxies.some((address) => canonicalAddress(address) === from)) return false;
  return (
    String(incoming.headers["x-forwarded-proto"] ?? "")
      .split(",")
      .at(-1)!
      .trim()
      .toLowerCase() === "https"
  );
}

function readCode(body: Buffer): string {
  return parse(given, parseJsonBody(body, 'Send {"code": "…"}.')).code.trim();
}

function badCode(why: "used" | "expired" | "unknown"): AppError {
  const message = {
    used: "This code was already used.",
    expired: "This code is too old.",
    unknown: "This code is not known.",
  };
  return new AppError("UNAUTHORIZED", {
    message: message[why],
    hint: "Get a new link: lares dashboard",
    retry: "after-change",
    details: { why },
  });
}

function quietly<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}
