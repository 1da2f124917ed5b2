/** A login whose server never answers; the others are in test/flows/mcp-login.test.ts. */
import { expect, test } from "vitest";
import { pretend } from "../../../../../test/support/pretend.ts";
import { ManualClock } from "../../../../core/kit/index.ts";
import { McpLogin } from "./login.ts";

test("a login whose server never answers ends in a sentence", async () => {
  const clock = new ManualClock();
  let kept: string | undefined;
  const login = new McpLogin({
    server: "sky",
    url: "https://sky.example/mcp",
    oauth: undefined,
    clock,
    store: {
      read: () => kept,
      async write(text) {
        kept = text;
      },
    },
    redirect: () => "http://127.0.0.1:7717/mcp/login/done",
    fetch: (_to, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
        setTimeout(() => clock.advance(60_000), 0);
      }),
  });
  await expect(login.begin()).rejects.toMatchObject({
    code: "NOT_READY",
    message: "You aren't logged in to sky: its login didn't answer in time.",
    hint: "Try again: lares mcp login sky",
  });
});

/** A server whose metadata names the issuer that `issuer()` says, and what was sent to token endpoints. */
function loginAt(issuer: () => string) {
  const clock = new ManualClock();
  const sent: { to: string; body: string }[] = [];
  let kept: string | undefined;
  const login = new McpLogin({
    server: "sky",
    url: "https://sky.example/mcp",
    oauth: pretend({ clientId: "ours", clientSecret: "s3cret" }),
    clock,
    store: {
      read: () => kept,
      async write(text) {
        kept = text;
      },
    },
    redirect: () => "http://127.0.0.1:7717/mcp/login/done",
    fetch: async (to, init) => {
      const { pathname, origin } = new URL(to);
      if (pathname.startsWith("/.well-known/oauth-protected-resource"))
        return Response.json({ resource: "https://sky.example/mcp", authorization_servers: [issuer()] });
      if (pathname.startsWith("/.well-known/"))
        return Response.json({
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          registration_endpoint: `${origin}/register`,
          response_types_supported: ["code"],
          code_challenge_methods_supported: ["S256"],
        });
      sent.push({ to: origin + pathname, body: `${JSON.stringify(init?.headers ?? {})} ${String(init?.body ?? "")}` });
      if (pathname === "/register")
        return Response.json({ client_id: "new", redirect_uris: ["http://127.0.0.1:7717/mcp/login/done"] });
      return Response.json({ access_token: "t", token_type: "Bearer", refresh_token: "r", expires_in: 3600 });
    },
  });
  return { login, sent };
}

test("a client secret from the definition goes to the issuer of the first login only (MC-19, MCP-33)", async () => {
  let issuer = "https://login.example";
  const { login, sent } = loginAt(() => issuer);
  const finish = async () => {
    const opened = new URL((await login.begin()) ?? "");
    await login.finish(`http://127.0.0.1:7717/mcp/login/done?code=c&state=${opened.searchParams.get("state")}`);
  };
  await finish();
  expect(sent.map(({ to }) => to)).toEqual(["https://login.example/token"]);
  issuer = "https://evil.example";
  await expect(login.begin()).rejects.toMatchObject({ message: expect.stringContaining("evil.example") });
  expect(sent.filter(({ to }) => to.includes("evil"))).toEqual([]);
});
