/**
 * Browser login: a one-time code becomes a cookie. `GET /login?code=…` is the printed link; it answers with a redirect, so
 * that the code stays in no address bar. `POST /login` takes a pasted code, as a form or as JSON.
 */
import type { IncomingMessage } from "node:http";
import type { Context } from "hono";
import { z } from "zod";
import { AppError } from "../../../core/domain/index.ts";
import { type App, type Env, parse, readBody, unproven } from "../http.ts";
import type { GatewayParts } from "../ports.ts";
import { pageHeaders } from "../static/headers.ts";
import { loginPage, PAGE_STYLE } from "../static/pages.ts";
import { formPage } from "../static/routes.ts";
import { canonicalAddress } from "./address.ts";
import { callerKey, type Failures } from "./failures.ts";
import { cookieName, type Identifier } from "./identify.ts";

const given = z.strictObject({ code: z.string().min(1).max(256) });
/** A code and its field name; more is not a login. */
const LARGEST_BODY = 4096;

export function loginRoutes(app: App, parts: GatewayParts, who: Identifier, failures: Failures): void {
  const redeem = async (c: Context<Env>, code: string) => {
    const caller = callerKey(c.env.incoming);
    failures.check(caller);
    const done = await parts.door.redeem(code, c.req.header("user-agent") ?? "");
    if (!done.ok) {
      failures.add(caller);
      parts.log.warn("a login code was refused", { why: done.why });
    } else parts.log.info("a browser signed in");
    return done;
  };

  app.get("/login", async (c) => {
    // A browser that only looks ahead, or a program that only asks for the headers, must not use the code up.
    const isLook = c.req.method === "HEAD" || (c.req.header("sec-purpose") ?? "").includes("prefetch");
    const code = isLook ? undefined : c.req.query("code");
    const noStore = formPage({ "cache-control": "no-store" });
    if (!code) return c.html(loginPage(), 200, noStore);
    const done = await redeem(c as never, code).catch((error: unknown) => tooOften(error));
    if (!done.ok) return c.html(loginPage(done.why), done.why === "busy" ? 429 : 401, noStore);
    return c.body(null, 303, {
      location: "/",
      "cache-control": "no-store",
      "set-cookie": cookie(c.env.incoming, parts, done.cookie, done.maxAgeS),
    });
  });

  app.get("/login.css", (c) => c.body(PAGE_STYLE, 200, pageHeaders({ "content-type": "text/css; charset=utf-8" })));

  app.post("/login", async (c) => {
    const isJson = (c.req.header("content-type") ?? "").startsWith("application/json");
    const code = readCode(await readBody(c.env, LARGEST_BODY, unproven(parts.config)), isJson);
    const noStore = { "cache-control": "no-store" };
    if (isJson) {
      const done = await redeem(c as never, code);
      if (!done.ok) throw badCode(done.why);
      return c.json({ ok: true }, 200, {
        ...noStore,
        "set-cookie": cookie(c.env.incoming, parts, done.cookie, done.maxAgeS),
      });
    }
    const done = await redeem(c as never, code).catch((error: unknown) => tooOften(error));
    if (!done.ok) return c.html(loginPage(done.why), done.why === "busy" ? 429 : 401, formPage(noStore));
    return c.body(null, 303, {
      location: "/",
      ...noStore,
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
    const body = principal
      ? { signedIn: true, name: principal.name, scopes: [...principal.scopes], version: parts.version }
      : { signedIn: false };
    return c.json(body, 200, { "cache-control": "no-store" });
  });
}

function cookie(incoming: IncomingMessage, { config }: GatewayParts, value: string, maxAgeS: number): string {
  const secure = cameOverTls(incoming, config.trustedProxies) ? "; Secure" : "";
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

function readCode(body: Buffer, isJson: boolean): string {
  const text = body.toString("utf8");
  if (!isJson) return parse(given, { code: new URLSearchParams(text).get("code") ?? "" }).code.trim();
  try {
    return parse(given, JSON.parse(text)).code.trim();
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError("BAD_JSON", { message: "The body is not JSON.", hint: 'Send {"code": "…"}.' });
  }
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

function tooOften(error: unknown): { ok: false; why: "busy" } {
  if (error instanceof AppError && error.code === "TOO_MANY") return { ok: false, why: "busy" };
  throw error;
}

function quietly<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}
