/** Servers elsewhere that want a login (OAuth 2.1), against an authorization server of the test's own. */
import { expect, it, onTestFinished } from "vitest";
import { startAuthorization } from "../fakes/mcp-login/server.ts";
import { startLares, startModel, toolResults, until } from "../support/index.ts";
import { callTool, forecast, searchTools } from "../support/mcp.ts";

async function start({ apart = false, listed = true } = {}) {
  const far = await startAuthorization([forecast], { apart });
  const model = await startModel();
  const lares = await startLares({
    env: model.env,
    config: {
      policy: { allow: { mcp: ["sky/*"] } },
      mcp: { servers: { sky: { url: far.url } } },
      ...(apart && listed ? { web: { privateHosts: [new URL(far.issuer).host] } } : {}),
    },
  });
  onTestFinished(async () => {
    await lares.dispose();
    await model.close();
  });
  const call = async () => {
    await lares.chat("ana", `${callTool({ city: "Rome" })} then: say:done`);
    return toolResults(model.requests.at(-1)!).at(-1)!.text;
  };
  const login = async () => {
    const { link } = await lares.rpc("mcp.login", { name: "sky" });
    return lares.rpc("mcp.login", { name: "sky", ended: far.agree(link!) });
  };
  const state = async () => (await lares.rpc("mcp.list", {})).servers[0]!.state;
  return { far, lares, model, call, login, state };
}

it("a server that wants a login says so to the owner; the login survives a kill in between, and renewals are made once and early (MC-09, MCP-15, MCP-16)", async () => {
  const at = await start();
  expect(await at.lares.rpc("mcp.test", { name: "sky" })).toMatchObject({
    ok: false,
    why: expect.stringContaining("lares mcp login sky"),
  });
  expect(await at.state()).toBe("needs-login");
  const { items } = await at.lares.rpc("attention.list", {});
  expect(items.map(({ text }) => text).join()).toContain("lares mcp login sky");
  const { link } = await at.lares.rpc("mcp.login", { name: "sky" });
  const asked = new URL(link!).searchParams;
  expect(Object.fromEntries(asked)).toMatchObject({
    code_challenge_method: "S256",
    resource: at.far.url,
    response_type: "code",
  });
  await at.lares.restart();
  expect(await at.lares.rpc("mcp.login", { name: "sky", ended: at.far.agree(link!) })).toEqual({ done: true });
  await at.lares.chat("ana", `${searchTools} then: say:ok`);
  expect(await at.call()).toContain('far says {"city":"Rome"}');
  expect(await at.state()).toBe("ready");
  // Refused although it is young: renewed once, and the call goes through.
  at.far.revoke();
  expect(await at.call()).toContain("far says");
  expect(at.far.seen).toEqual(["registered", "granted", "renewed"]);
  // Old by our clock: renewed before it is refused.
  at.far.bent.lives = 1;
  at.far.revoke();
  await at.call();
  const granted = Date.now();
  await until("the token to be old", () => Date.now() > granted + 850);
  at.far.bent.lives = 3600;
  await Promise.all([at.call(), at.lares.rpc("mcp.test", { name: "sky" })]);
  expect(at.far.seen.slice(3)).toEqual(["renewed", "renewed"]);
  // The server no longer knows the login: a person has to log in again.
  at.far.bent.forgets = true;
  at.far.revoke();
  expect(await at.call()).toContain("needs a login");
  expect(await at.state()).toBe("needs-login");
  await at.login().catch(() => undefined);
});

it("an answer of another login, of another issuer, or without a yes is refused (MC-09)", async () => {
  const at = await start();
  const first = (await at.lares.rpc("mcp.login", { name: "sky" })).link!;
  const second = (await at.lares.rpc("mcp.login", { name: "sky" })).link!;
  await expect(at.lares.rpc("mcp.login", { name: "sky", ended: at.far.agree(first) })).rejects.toThrow("begun last");
  at.far.bent.iss = "https://evil.example";
  await expect(at.lares.rpc("mcp.login", { name: "sky", ended: at.far.agree(second) })).rejects.toThrow();
  expect(at.far.seen).not.toContain("granted");
  const denied = `${new URL(second).searchParams.get("redirect_uri")}?error=access_denied&state=${new URL(second).searchParams.get("state")}`;
  await expect(at.lares.rpc("mcp.login", { name: "sky", ended: denied })).rejects.toThrow("access_denied");
});

it.each([
  ["a cloud's metadata service", "http://169.254.169.254"],
  ["the home network", "https://192.168.1.1"],
  ["plain http elsewhere", "http://login.example.com"],
])("metadata that points to %s is not followed (MC-10)", async (_, where) => {
  const at = await start();
  at.far.bent.authorizationServer = where;
  await expect(at.lares.rpc("mcp.login", { name: "sky" })).rejects.toThrow(/Not reached|https/);
  expect(await at.lares.rpc("mcp.list", {})).toMatchObject({ servers: [{ name: "sky" }] });
});

it("a login at another host than the server's works, and only where the owner listed a private host (MC-09, MC-10)", async () => {
  const at = await start({ apart: true });
  await at.lares.rpc("mcp.test", { name: "sky" });
  const { link } = await at.lares.rpc("mcp.login", { name: "sky" });
  expect(new URL(link!).origin).toBe(at.far.issuer);
  expect(await at.lares.rpc("mcp.login", { name: "sky", ended: at.far.agree(link!) })).toEqual({ done: true });
  await at.lares.chat("ana", `${searchTools} then: say:ok`);
  expect(await at.call()).toContain("far says");
  const other = await start({ apart: true, listed: false });
  await expect(other.lares.rpc("mcp.login", { name: "sky" })).rejects.toThrow("Not reached");
  expect(other.far.seen).toEqual([]);
});

it("a server that wants more rights for a call asks the owner to log in again for them, also after a restart (MC-09)", async () => {
  const at = await start();
  await at.login();
  await at.lares.chat("ana", `${searchTools} then: say:ok`);
  at.far.bent.callScope = "sky:write";
  expect(await at.call()).toContain("more rights: sky:write");
  expect(await at.state()).toBe("needs-login");
  await at.lares.restart();
  await at.login();
  expect(at.far.seen).toEqual(["registered", "granted", "granted sky:write"]);
  expect(await at.call()).toContain("far says");
});

it.each(["javascript:alert(1)", "file:///etc/passwd", "ssh://example.com/"])(
  "a login page at %s is never given to a person to click (MC-10)",
  async (page) => {
    const at = await start();
    at.far.bent.authorizationEndpoint = page;
    const { link, error } = await at.lares.rpc("mcp.login", { name: "sky" }).then(
      (done) => ({ link: done.link, error: undefined }),
      (failure: unknown) => ({ link: undefined, error: failure }),
    );
    expect(link).toBeUndefined();
    expect(error).toBeDefined();
  },
);
