/** Servers elsewhere that want a login (OAuth 2.1), against an authorization server of the test's own. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { connected } from "../channels/support.ts";
import { startAuthorization } from "../fakes/mcp-login/server.ts";
import { startTelegram } from "../fakes/telegram/index.ts";
import { type RpcFailed, startLares, startModel, toolResults, until } from "../support/index.ts";
import { callTool, forecast, searchTools } from "../support/mcp.ts";

const PROGRAM = fileURLToPath(new URL("../../bin/lares.js", import.meta.url));
const AS_TERMINAL = "data:text/javascript,process.stdout.isTTY=true";

async function start({ apart = false, listed = true, more = {} } = {}) {
  const far = await startAuthorization([forecast], { apart });
  const model = await startModel();
  const lares = await startLares({
    env: model.env,
    config: {
      policy: { allow: { mcp: ["sky/*"] } },
      mcp: { servers: { sky: { url: far.url } } },
      ...more,
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
  const attention = async () => (await at.lares.rpc("attention.list", {})).items.map(({ text }) => text).join();
  expect(await attention()).toContain("lares mcp login sky");
  await at.lares.restart();
  expect([await at.state(), await attention()]).toEqual([
    "needs-login",
    expect.stringContaining("lares mcp login sky"),
  ]);
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
  // After the restart the gateway listens on another port, which is where the browser ends.
  expect(at.far.seen).toEqual(["registered", "granted", "registered", "granted sky:write"]);
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

it("a lost login reaches the owner in their own chat, once per loss and not per call, also when a guest's turn found it", async () => {
  const telegram = await startTelegram();
  onTestFinished(() => telegram.close());
  const main = { token: telegram.token, apiUrl: telegram.url, paceMs: 0, owners: ["42"], allow: ["7"] };
  const at = await start({ more: { channels: { telegram: { main } } } });
  await at.login();
  await connected(at.lares, "telegram/main");
  const say = async (from: number, text: string) => {
    const before = shown(from).length;
    telegram.say(from, { id: from, first_name: `p${from}` }, `${text} then: say:over`);
    await until("an answer", () =>
      shown(from)
        .slice(before)
        .some((one) => one.includes("over")),
    );
  };
  const shown = (chat: number) => telegram.sent.filter((one) => one.chat === chat).map(({ text }) => text);
  const notices = (chat: number) => shown(chat).filter((text) => text.includes("lares mcp login sky"));
  await say(42, searchTools);
  await say(42, callTool({ city: "Rome" }));
  expect(notices(42)).toEqual([]);
  const lose = () => {
    at.far.bent.forgets = true;
    at.far.revoke();
  };
  lose();
  await say(7, callTool({ city: "Rome" }));
  await until("the notice", () => notices(42).length === 1);
  expect(notices(42)[0]).toContain("The MCP server sky can't be used: it needs a login");
  expect(notices(7)).toEqual([]);
  await say(42, callTool({ city: "Oslo" }));
  await at.lares.restart();
  await connected(at.lares, "telegram/main");
  await say(42, callTool({ city: "Bern" }));
  expect(notices(42)).toHaveLength(1);
  // Logged in and lost again is another loss.
  at.far.bent.forgets = false;
  await at.login();
  await say(42, callTool({ city: "Rome" }));
  lose();
  await say(42, callTool({ city: "Rome" }));
  await until("the second notice", () => notices(42).length === 2);
});

it("a caller that fetches its answers reads about a lost login with the first one", async () => {
  const at = await start();
  await at.login();
  await at.lares.chat("ana", `${searchTools} then: say:ok`);
  at.far.bent.forgets = true;
  at.far.revoke();
  const ask = async () => (await at.lares.chat("ana", `${callTool({ city: "Rome" })} then: say:done`)).notices.join();
  expect(await ask()).toContain("lares mcp login sky");
  expect(await ask()).toBe("");
});

const INTERNAL =
  /fetch failed|Not fetched|\bat \w|Object\.|<h1>|Zod|schema|undefined|JSON|OAuth 2|\[\{|Incompatible|trying to load/;

it.each<[string, (far: Awaited<ReturnType<typeof startAuthorization>>) => void, RegExp, RegExp]>([
  ["is down", (far) => far.stop(), /127\.0\.0\.1.*could not be reached/, /mcp login sky/],
  [
    "describes no login",
    (far) => (far.bent.answers = { "/.well-known": 404, "/register": 404 }),
    /doesn't say how one logs in/,
    /mcp\.servers\.sky\.headers/,
  ],
  [
    "breaks over its metadata",
    (far) => (far.bent.answers = { "/.well-known/oauth-auth": 500 }),
    /answered with an error \(HTTP 500\)/,
    /mcp login sky/,
  ],
  ["refuses to register us", (far) => (far.bent.answers = { "/register": 403 }), /HTTP 403/, /oauth\.clientId/],
  [
    "registers nobody",
    (far) => (far.bent.metadata = { registration_endpoint: undefined }),
    /doesn't take new programs/,
    /oauth\.clientId/,
  ],
  [
    "calls itself otherwise",
    (far) => (far.bent.metadata = { issuer: "https://evil.example" }),
    /calls itself https:\/\/evil\.example/,
    /mcp login sky/,
  ],
  ["writes nonsense", (far) => (far.bent.metadata = { token_endpoint: 7 }), /can't be read/, /mcp login sky/],
])("a login to a server that %s fails in a sentence that says what to do", async (_, bend, says, next) => {
  const at = await start();
  bend(at.far);
  const failure = await at.lares.rpc("mcp.login", { name: "sky" }).catch(({ error }: RpcFailed) => error);
  expect(failure).toMatchObject({ message: expect.stringMatching(says), hint: expect.stringMatching(next) });
  expect((failure as RpcFailed["error"]).message).not.toMatch(INTERNAL);
  expect((failure as RpcFailed["error"]).code).not.toBe("INTERNAL");
});

it("the end of a login says in a sentence what went wrong: a no, another issuer, a code that isn't taken", async () => {
  const at = await start();
  const end = async (make: (link: string) => string) => {
    const { link } = await at.lares.rpc("mcp.login", { name: "sky" });
    return at.lares.rpc("mcp.login", { name: "sky", ended: make(link!) }).catch(({ error }: RpcFailed) => error);
  };
  const back = (link: string, query: Record<string, string>) => {
    const asked = new URL(link).searchParams;
    return `${asked.get("redirect_uri")}?${new URLSearchParams({ state: asked.get("state")!, ...query })}`;
  };
  const again = expect.stringContaining("lares mcp login sky");
  expect(await end((link) => back(link, { error: "access_denied" }))).toMatchObject({
    message: expect.stringMatching(/declined.*access_denied/),
    hint: again,
  });
  expect(await end((link) => back(link, { error: "server_error", error_description: "out of tea" }))).toMatchObject({
    message: expect.stringContaining("out of tea"),
    hint: again,
  });
  const wrong = (await end((link) => back(link, { code: "x", iss: at.far.issuer }))) as RpcFailed["error"];
  expect(wrong).toMatchObject({ message: expect.stringContaining("didn't take the code"), hint: again });
  at.far.bent.iss = "https://evil.example";
  const evil = (await end((link) => at.far.agree(link))) as RpcFailed["error"];
  expect(evil).toMatchObject({ message: expect.stringContaining("another login server"), hint: again });
  for (const { message, code } of [wrong, evil])
    expect([message, code]).toEqual([expect.not.stringMatching(INTERNAL), expect.not.stringMatching("INTERNAL")]);
});

it("while the login's server can't be reached, a token that can't be renewed isn't a lost login, and a login under way stays open", async () => {
  const at = await start();
  await at.login();
  await at.lares.chat("ana", `${searchTools} then: say:ok`);
  at.far.revoke();
  at.far.bent.answers = { "/token": 503 };
  const { link } = await at.lares.rpc("mcp.login", { name: "sky" });
  expect(await at.call()).not.toContain("needs a login");
  expect(await at.state()).not.toBe("needs-login");
  at.far.bent.answers = {};
  expect(await at.lares.rpc("mcp.login", { name: "sky", ended: at.far.agree(link!) })).toEqual({ done: true });
});

it("tool_search says which servers wait for a login, instead of nothing", async () => {
  const at = await start();
  await at.lares.chat("ana", `${searchTools} then: say:ok`);
  expect(toolResults(at.model.requests.at(-1)!).at(-1)!.text).toContain("The MCP server sky: it needs a login");
});

it("a browser on this machine ends the login by itself, only with the state of a login that is open (MCP-16, MCPSERVER-6)", async () => {
  const at = await start();
  const { link } = await at.lares.rpc("mcp.login", { name: "sky" });
  expect(new URL(link!).searchParams.get("redirect_uri")).toBe(`${at.lares.url}/mcp/login/done`);
  expect((await at.lares.rpc("mcp.list", {})).servers[0]).toMatchObject({ loggingIn: true });
  // As a browser asks when another site sends it here: a top-level navigation, without any credential.
  const headers = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
  const { ask } = await import("../gateway/support.ts");
  const go = async (address: string, more = {}) => {
    const { pathname, search } = new URL(address);
    const answer = await ask(at.lares.url, pathname + search, { headers: { ...headers, ...more } });
    return { status: answer.status, text: answer.text, policy: answer.headers["content-security-policy"] };
  };
  const end = at.far.agree(link!);
  const wrong = new URL(end);
  wrong.searchParams.set("state", "x".repeat(32));
  expect(await go(wrong.href)).toMatchObject({ status: 400, text: expect.stringContaining("open any more") });
  expect((await go(`${at.lares.url}/mcp/login/done`)).status).toBe(400);
  expect((await go(`${end}&x=${"y".repeat(9000)}`)).status).toBe(403);
  // Not from inside another page, and not under another name.
  expect((await go(end, { "sec-fetch-dest": "iframe" })).status).toBe(403);
  expect((await go(end, { host: "lares.example" })).status).toBe(403);
  expect(at.far.seen).not.toContain("granted");
  const done = await go(end);
  expect(done).toMatchObject({ status: 200, text: expect.stringContaining("Logged in to sky") });
  expect(done.policy).toContain("default-src 'none'");
  expect((await at.lares.rpc("mcp.list", {})).servers[0]).toMatchObject({ state: "ready" });
  expect((await at.lares.rpc("mcp.list", {})).servers[0]).not.toHaveProperty("loggingIn");
  // A second time it is over.
  expect((await go(end)).status).toBe(400);
});

it("a no in the browser ends the login, and the page shows nothing of the address as markup", async () => {
  const at = await start();
  const { link } = await at.lares.rpc("mcp.login", { name: "sky" });
  const state = new URL(link!).searchParams.get("state")!;
  const answer = await fetch(`${at.lares.url}/mcp/login/done?error=%3Cscript%3Eno&state=${state}`);
  expect([answer.status, await answer.text()]).toEqual([
    400,
    expect.stringContaining("The login failed: &#60;script&#62;no"),
  ]);
  expect((await at.lares.rpc("mcp.list", {})).servers[0]).not.toHaveProperty("loggingIn");
});

it("a login that was begun before a restart ends where it began, on another port too", async () => {
  const at = await start();
  const first = (await at.lares.rpc("mcp.login", { name: "sky" })).link!;
  await at.lares.restart();
  expect(await at.lares.rpc("mcp.login", { name: "sky", ended: at.far.agree(first) })).toEqual({ done: true });
  expect(at.far.seen).toEqual(["registered", "granted"]);
});

/** `lares mcp login sky` as a person runs it, who waits for the browser. */
async function loginInTerminal({ home, token }: { home: string; token: string }) {
  const env = { PATH: process.env.PATH ?? "", HOME: home, LARES_HOME: home, LARES_TOKEN: token, NO_COLOR: "1" };
  const child = spawn(process.execPath, ["--import", AS_TERMINAL, PROGRAM, "mcp", "login", "sky"], { env });
  onTestFinished(() => void child.kill("SIGKILL"));
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => (printed += piece));
  const ended = once(child, "close").then(([code]) => code as number);
  await until("the command to wait", () => printed.includes("Waiting for the browser"), {
    instead: () => printed,
  });
  const link = /https?:\/\/\S+\?\S+/.exec(printed)![0];
  return { child, ended, link, printed: () => printed };
}

it("in a terminal the login command waits until the browser is back", async () => {
  const at = await start();
  const one = await loginInTerminal(at.lares);
  expect((await fetch(at.far.agree(one.link))).status).toBe(200);
  expect(await one.ended).toBe(0);
  expect(one.printed()).toContain("Logged in to sky.");
});

it("Ctrl-C ends the wait for the browser with a sentence", async () => {
  const at = await start();
  const one = await loginInTerminal(at.lares);
  one.child.kill("SIGINT");
  expect(await one.ended).toBe(130);
  expect(one.printed()).toContain("Stopped waiting.");
});
