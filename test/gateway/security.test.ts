// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references as they stand in lares.yaml
/** The gateway's share of the security reference: WS, AU, LK and DO. Each test names its case. */

import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { canonicalAddress } from "../../src/faces/gateway/auth/address.ts";
import { callerKey, Failures } from "../../src/faces/gateway/auth/failures.ts";
import { pretend } from "../support/pretend.ts";
import { bearer, openInstance, openScripted, Socket, signIn, type TestInstance, TOKEN, until } from "./support.ts";

let instance: TestInstance;
beforeAll(async () => {
  instance = await openScripted();
});
afterAll(() => instance.stop());

const own = () => ({ origin: instance.app.url, host: new URL(instance.app.url).host });

/** What the login page's script sends. */
function enter(at: TestInstance, link: string, headers: Record<string, string> = {}) {
  const body = JSON.stringify({ code: /code=(.+)$/.exec(link)?.[1] });
  return at.ask("/login", { method: "POST", headers: { "content-type": "application/json", ...headers }, body });
}

async function scoped(scopes: ("read" | "write" | "approvals" | "admin")[], name = scopes.join("+")) {
  return instance.rpc("tokens.create", { name, scopes });
}

describe("WS: browser, WebSocket, HTTP surface", () => {
  test("WS-01 a page of another origin cannot open a socket, not even with the right token or cookie (AUTH-6)", async () => {
    const login = await signIn(instance);
    for (const headers of [{}, bearer(), login] as Record<string, string>[]) {
      const socket = new Socket(instance.app.url, { ...headers, origin: "https://evil.example" });
      expect(await socket.until("the refusal", () => socket.refused)).toBe(403);
    }
    const answer = await instance.ask("/rpc/health", {
      method: "POST",
      headers: { ...bearer(), origin: "https://evil.example" },
      body: "{}",
    });
    expect(answer.status).toBe(403);
    expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
  });

  test("WS-01 a name that is not ours is refused, so a rebound DNS name reaches nothing (AUTH-5)", async () => {
    for (const host of ["evil.example", "127.0.0.1.evil.example:80", "10.0.0.7", "localhost.evil.example"]) {
      const answer = await instance.ask("/rpc/health", { method: "POST", headers: { ...bearer(), host }, body: "{}" });
      expect([400, 403], host).toContain(answer.status);
    }
    const { host } = own();
    expect((await instance.ask("/healthz", { headers: { host: host.replace("127.0.0.1", "localhost") } })).status).toBe(
      200,
    );
  });

  test("a whole address as the target has to name the same place as Host", async () => {
    const { host } = new URL(instance.app.url);
    const ask = (target: string) =>
      new Promise<string>((resolve, reject) => {
        const raw = connect(instance.app.port, "127.0.0.1", () =>
          raw.write(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
        );
        let got = "";
        raw.on("data", (data) => (got += String(data)));
        raw.on("end", () => resolve(got)).on("error", reject);
      });
    expect(await ask(`http://${host}/healthz`)).toContain("200 OK");
    for (const target of [
      "http://evil.example/healthz",
      `https://${host}/healthz`,
      `http://${host}@evil.example/healthz`,
    ])
      expect(await ask(target), target).toMatch(/^HTTP\/1\.1 40[03] /);
  });

  test("WS-01 a second Host, Origin or credential is refused: a proxy may read the other one (AUTH-9)", async () => {
    const { host } = new URL(instance.app.url);
    const twice = (lines: string[]) =>
      new Promise<string>((resolve, reject) => {
        const raw = connect(instance.app.port, "127.0.0.1", () =>
          raw.write(
            `${["GET /healthz HTTP/1.1", `Host: ${host}`, "Connection: close", ...lines].join("\r\n")}\r\n\r\n`,
          ),
        );
        let got = "";
        raw.on("data", (data) => (got += String(data)));
        raw.on("end", () => resolve(got)).on("error", reject);
      });
    expect(await twice([])).toContain("200 OK");
    expect(await twice(["Host: evil.example"])).toContain("400 Bad Request");
    expect(await twice([`host: ${host}`])).toContain("400 Bad Request");
    const origin = `Origin: ${instance.app.url}`;
    expect(await twice([origin])).toContain("200 OK");
    expect(await twice([origin, "Origin: https://evil.example"])).toContain("400 Bad Request");
    expect(await twice(["Authorization: Bearer a", "Authorization: Bearer b"])).toContain("400 Bad Request");
  });

  test("WS-01 a null origin and an origin with our host but another port are refused", async () => {
    for (const origin of ["null", "http://127.0.0.1:1", "https://127.0.0.1", "file://", "http://user@evil.example"]) {
      const answer = await instance.ask("/rpc/health", {
        method: "POST",
        headers: { ...bearer(), host: own().host, origin },
        body: "{}",
      });
      expect(answer.status, origin).toBe(403);
    }
  });

  test("WS-03 wrong tokens over loopback are counted, and never lock out the right one (AUTH-10)", async () => {
    const at = await openInstance();
    try {
      const page = { origin: at.app.url, host: new URL(at.app.url).host };
      const guess = (n: number) =>
        at.ask("/rpc/health", { method: "POST", headers: { ...bearer(`guess-${n}`), ...page }, body: "{}" });
      const seen: number[] = [];
      for (let n = 0; n < 25; n++) seen.push((await guess(n)).status);
      expect(seen.slice(0, 20).every((status) => status === 401)).toBe(true);
      expect(seen.slice(20).every((status) => status === 429)).toBe(true);
      // The right one is let in from the same place, at once.
      expect(
        (await at.ask("/rpc/health", { method: "POST", headers: { ...bearer(), ...page }, body: "{}" })).status,
      ).toBe(200);
      const socket = new Socket(at.app.url, { ...page });
      await socket.opened();
      socket.send("connect", { token: "guess-again" });
      expect((await socket.over()).code).toBe(4029);
      const right = new Socket(at.app.url, { ...page });
      await right.opened();
      expect(await right.call("connect", { token: TOKEN })).toMatchObject({ ok: true });
      expect((await at.rpc("health", {})).ok).toBe(true);
    } finally {
      await at.stop();
    }
  });

  test("WS-05 a form of another site changes nothing with the browser's cookie (AUTH-4)", async () => {
    const { cookie, "x-lares-proof": proof } = await signIn(instance);
    const body = JSON.stringify({ name: "made by a form", scopes: ["admin"] });
    const post = (headers: Record<string, string>) =>
      instance.ask("/rpc/tokens.create", {
        method: "POST",
        headers: { cookie, "content-type": "text/plain", ...headers },
        body,
      });
    expect((await post({})).status).toBe(401);
    expect((await post({ "sec-fetch-site": "cross-site", "x-lares-proof": proof })).status).toBe(403);
    expect((await post({ "sec-fetch-site": "same-site", "x-lares-proof": proof })).status).toBe(403);
    expect((await post({ ...own() })).status).toBe(401);
    expect((await post({ "x-lares-proof": proof })).status).toBe(403);
    expect((await instance.rpc("tokens.list", {})).tokens.map((t) => t.name)).not.toContain("made by a form");
    const good = await instance.ask("/rpc/health", {
      method: "POST",
      headers: { cookie, ...own(), "x-lares-proof": proof },
      body: "{}",
    });
    expect(good.status).toBe(200);
    const socket = new Socket(instance.app.url, { cookie });
    expect(await socket.until("the refusal of a socket without Origin", () => socket.refused)).toBe(403);
  });

  test("WS-05 opening a page from a link elsewhere works, fetching or framing it does not (AUTH-7)", async () => {
    const open = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
    expect((await instance.ask("/approvals", { headers: open })).status).toBe(200);
    expect((await instance.ask("/approvals", { headers: { ...open, "sec-fetch-dest": "iframe" } })).status).toBe(403);
    expect((await instance.ask("/approvals", { headers: { ...open, "sec-fetch-mode": "no-cors" } })).status).toBe(403);
    expect(
      (await instance.ask("/rpc/health", { method: "POST", headers: { ...open, ...bearer() }, body: "{}" })).status,
    ).toBe(403);
  });

  test("WS-07 forwarding headers give no rights and no other place to be counted at", async () => {
    const at = await openInstance();
    try {
      const forged = (n: number) => ({
        "x-forwarded-for": `10.0.0.${n}, 127.0.0.1`,
        forwarded: `for=10.0.0.${n}`,
        "x-real-ip": `10.0.0.${n}`,
        "x-forwarded-host": "127.0.0.1",
      });
      expect((await at.ask("/rpc/health", { method: "POST", headers: forged(1), body: "{}" })).status).toBe(401);
      const seen: number[] = [];
      for (let n = 0; n < 22; n++) {
        seen.push(
          (await at.ask("/rpc/health", { method: "POST", headers: { ...bearer("wrong"), ...forged(n) }, body: "{}" }))
            .status,
        );
      }
      expect(seen.at(-1)).toBe(429);
    } finally {
      await at.stop();
    }
  });

  test("WS-09 nothing made by an agent can run in our pages: they take scripts, frames and connections from us alone", async () => {
    const policy = String((await instance.ask("/")).headers["content-security-policy"]);
    for (const part of [
      "default-src 'none'",
      "script-src 'self'",
      "connect-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ]) {
      expect(policy).toContain(part);
    }
    expect(policy).not.toContain("unsafe");
    expect((await instance.ask("/")).headers["x-frame-options"]).toBe("DENY");
  });

  test("a token or a gateway address in the query is refused and logged once (AUTH-8)", async () => {
    const before = instance.written.length;
    for (const path of [
      `/rpc/health?token=${TOKEN}`,
      "/?gatewayUrl=ws://evil.example",
      "/chat/x?a=1&gatewayurl=//evil",
    ]) {
      expect((await instance.ask(path, { headers: bearer() })).status).toBe(400);
      expect((await instance.ask(path, { headers: bearer() })).status).toBe(400);
    }
    const socket = new Socket(`${instance.app.url}`, {});
    await socket.opened();
    socket.close();
    const lines = instance.written.slice(before).filter((line) => line.includes("refused"));
    expect(lines).toHaveLength(1);
    expect(lines.join("")).not.toContain(TOKEN);
  });
});

describe("AU: auth, scopes", () => {
  test("AU-01 scopes are computed by the server, whatever a client asks for", async () => {
    const reader = await scoped(["read"], "a reader");
    const socket = new Socket(instance.app.url);
    await socket.opened();
    const hello = await socket.call("connect", { token: reader.token, scopes: ["admin"], role: "owner" });
    expect(hello).toMatchObject({ ok: true, payload: { scopes: ["read"] } });
    expect(await socket.call("tokens.list", {})).toMatchObject({ ok: false, error: { code: "FORBIDDEN" } });
    expect(await socket.call("tokens.list", { scopes: ["admin"] })).toMatchObject({
      ok: false,
      error: { code: "FORBIDDEN" },
    });
    socket.close();
  });

  test("AU-03 a new token's rights are a part of its maker's (ACCESS-4)", async () => {
    const admin = await scoped(["admin"], "only admin");
    await expect(
      instance.rpc("tokens.create", { name: "more", scopes: ["admin", "write"] }, { token: admin.token }),
    ).rejects.toMatchObject({
      status: 403,
      body: { details: { missingScope: "write" } },
    });
    const same = await instance.rpc("tokens.create", { name: "same", scopes: ["admin"] }, { token: admin.token });
    expect(same.scopes).toEqual(["admin"]);
    await expect(instance.rpc("tokens.create", { name: "Owner", scopes: ["read"] })).rejects.toMatchObject({
      code: "BAD_REQUEST",
    });
  });

  test("AU-03 a login made with a token has that token's rights and ends with it", async () => {
    const admin = await scoped(["admin", "read"], "admin and read");
    const { url } = await instance.rpc("login.code", {}, { token: admin.token });
    const login = await signIn(instance, url);
    const post = (method: string, body: object) =>
      instance.ask(`/rpc/${method}`, {
        method: "POST",
        headers: { ...login, ...own() },
        body: JSON.stringify(body),
      });
    expect((await post("status", {})).status).toBe(200);
    expect((await post("chat.send", { message: "hello" })).status).toBe(403);
    await instance.rpc("tokens.revoke", { id: admin.id });
    expect((await post("status", {})).status).toBe(401);
  });

  test("AU-05 a socket that logs in again or claims more keeps the rights of its credential", async () => {
    const reader = await scoped(["read"], "claims more");
    const socket = new Socket(instance.app.url, bearer(reader.token));
    await socket.event("hello");
    expect(await socket.call("connect", { token: TOKEN, platform: "other", commands: ["exec"] })).toMatchObject({
      payload: { scopes: ["read"] },
    });
    expect(await socket.call("chat.send", { message: "hello" })).toMatchObject({ error: { code: "FORBIDDEN" } });
    socket.close();
  });

  test("AU-07 a write-only token cannot approve by a slash command, an approver can", async () => {
    const writer = await scoped(["write", "read"], "a writer");
    const approver = await scoped(["write", "read", "approvals"], "an approver");
    const started = await instance.rpc("chat.send", {
      message: 'tool:exec {"command":"touch au07"} then: say:done',
      user: "au07",
      wait: false,
    });
    const asked = await until(
      "the approval",
      async () => (await instance.rpc("approvals.list", { session: started.session })).approvals[0],
    );
    const say = (token: string) =>
      instance.rpc("chat.send", { message: `/approve ${asked.id.slice(-6)}`, user: "au07" }, { token });
    expect((await say(writer.token)).response).toContain("can't answer approvals");
    expect((await instance.rpc("approvals.get", { id: asked.id })).state).toBe("pending");
    await expect(
      instance.rpc("approvals.resolve", { id: asked.id, decision: "allow-once" }, { token: writer.token }),
    ).rejects.toMatchObject({ status: 403 });
    expect((await say(approver.token)).response).toContain("Allowed");
    expect((await instance.rpc("approvals.get", { id: asked.id })).state).toBe("allowed");
  });

  test("AU-09 nothing is answered without a credential (AUTH-1)", async () => {
    const tries: [string, string][] = [
      ["POST", "/rpc/health"],
      ["POST", "/rpc/config.set"],
      ["POST", "/chat"],
      ["GET", "/v1/models"],
      ["POST", "/v1/chat/completions"],
      ["GET", "/metrics"],
      ["POST", "/logout"],
      ["DELETE", "/rpc/health"],
    ];
    for (const [method, path] of tries)
      expect((await instance.ask(path, { method, ...(method === "POST" ? { body: "{}" } : {}) })).status, path).toBe(
        401,
      );
    for (const headers of [
      bearer(""),
      bearer("x"),
      { authorization: "Basic b3duZXI6eA==" },
      { authorization: TOKEN },
    ] as Record<string, string>[]) {
      expect((await instance.ask("/rpc/health", { method: "POST", headers, body: "{}" })).status).toBe(401);
    }
    const socket = new Socket(instance.app.url);
    await socket.opened();
    socket.send("health");
    expect((await socket.over()).code).toBe(4003);
  });

  test("the login cookie is Secure when a trusted proxy says that the browser came over TLS", async () => {
    const proxied = await openInstance({ config: "gateway:\n  trustedProxies: [127.0.0.1]\n" });
    try {
      const cookie = async (at: TestInstance, headers: Record<string, string>) => {
        const answer = await enter(at, at.app.loginUrl(), headers);
        return String(answer.headers["set-cookie"]);
      };
      expect(await cookie(proxied, { "x-forwarded-proto": "http, https" })).toContain("; Secure");
      expect(await cookie(proxied, { "x-forwarded-proto": "https, http" })).not.toContain("Secure");
      expect(await cookie(proxied, {})).not.toContain("Secure");
      // Without a trusted proxy it is anybody's word.
      expect(await cookie(instance, { "x-forwarded-proto": "https" })).not.toContain("Secure");
    } finally {
      await proxied.stop();
    }
  });

  test("a code signs in once; neither it nor the proof is in an address, a header or a log", async () => {
    const link = instance.app.loginUrl();
    // What a browser sends of the link: nothing behind the #. Opening the page uses nothing up.
    expect(new URL(link)).toMatchObject({ pathname: "/login", search: "" });
    const opened = await instance.ask("/login");
    expect(opened).toMatchObject({ status: 200 });
    expect(opened.headers["set-cookie"]).toBeUndefined();
    const first = await enter(instance, link);
    const { proof } = first.json as { proof: string };
    expect(first).toMatchObject({ status: 200, json: { ok: true } });
    const cookie = String(first.headers["set-cookie"]);
    for (const part of ["HttpOnly", "SameSite=Strict", "Path=/"]) expect(cookie).toContain(part);
    expect(JSON.stringify(first.headers)).not.toContain(proof);
    expect(first.headers["cache-control"]).toBe("no-store");
    const again = await enter(instance, link);
    expect(again).toMatchObject({ status: 401, json: { error: { details: { why: "used" } } } });
    expect(again.headers["set-cookie"]).toBeUndefined();
    expect((await enter(instance, "#code=nonsense")).status).toBe(401);
    expect((await instance.ask("/login", { method: "POST", body: "code=1" })).status).toBe(400);
  });

  test("a login survives a restart; leaving ends it and closes its sockets", async () => {
    const at = await openInstance({ port: 0 });
    try {
      const { cookie, "x-lares-proof": proof } = await signIn(at);
      const socket = new Socket(at.app.url, { cookie, origin: at.app.url });
      await socket.opened();
      expect(await socket.call("connect", { proof })).toMatchObject({ ok: true });
      const headers = { cookie, "x-lares-proof": proof, origin: at.app.url, host: new URL(at.app.url).host };
      expect((await at.ask("/logout", { method: "POST", headers })).status).toBe(200);
      expect((await socket.over()).code).toBe(4004);
      const after = { signedIn: false, wasIn: true };
      expect((await at.ask("/session", { headers: { cookie, "x-lares-proof": proof } })).json).toEqual(after);
      const kept = await signIn(at);
      const { port } = at.app;
      await at.restart();
      // The cookie's name carries the port; behind another port the same secret is sent under the new name.
      const moved = { ...kept, cookie: kept.cookie.replace(String(port), String(at.app.port)) };
      expect((await at.ask("/session", { headers: moved })).json).toMatchObject({ signedIn: true });
      expect((await at.ask("/session", { headers: { cookie: moved.cookie } })).json).toEqual(after);
    } finally {
      await at.stop();
    }
  });

  test("revoking a token closes its sockets at once, and nothing it sent is served any more (LIVE-5)", async () => {
    const one = await scoped(["read", "write"], "to be revoked");
    const socket = new Socket(instance.app.url, bearer(one.token));
    await socket.event("hello");
    await instance.rpc("tokens.revoke", { id: one.id });
    expect(await socket.over()).toMatchObject({ code: 4004 });
    await expect(instance.rpc("health", {}, { token: one.token })).rejects.toMatchObject({ status: 401 });
    await expect(instance.rpc("tokens.revoke", { id: one.id })).rejects.toMatchObject({ status: 404 });
  });

  test("tokens are stored as hashes and survive a restart (ACCESS-3)", async () => {
    const at = await openInstance();
    try {
      const made = await at.rpc("tokens.create", { name: "kept", scopes: ["read"] });
      await at.restart();
      expect((await at.rpc("health", {}, { token: made.token })).ok).toBe(true);
      const { readFileSync } = await import("node:fs");
      for (const file of ["lares.db", "lares.db-wal"]) {
        let bytes = Buffer.alloc(0);
        try {
          bytes = readFileSync(`${at.home}/${file}`);
        } catch {
          continue;
        }
        expect(bytes.includes(made.token)).toBe(false);
      }
    } finally {
      await at.stop();
    }
  });
});

describe("LK: leakage", () => {
  test("LK-01 an error does not repeat a secret, and neither does the log", async () => {
    const { json } = await instance.ask(`/rpc/agents.get`, {
      method: "POST",
      headers: bearer(),
      body: JSON.stringify({ agent: TOKEN.slice(0, 20).toLowerCase(), [TOKEN]: 1 }),
    });
    expect(JSON.stringify(json)).not.toContain(TOKEN);
    await instance.ask("/rpc/health", {
      method: "POST",
      headers: { ...bearer("sk-live-aaaaaaaaaaaaaaaaaaaaaa"), origin: "https://evil.example" },
      body: "{}",
    });
    expect(instance.written.join("")).not.toContain("sk-live-aaaaaaaaaaaaaaaaaaaaaa");
    expect(instance.written.join("")).not.toContain(TOKEN);
  });

  test("LK-03 saving a setting keeps references as references, and reading masks secrets", async () => {
    const at = await openInstance({
      env: { HOOK_SECRET: "hook-secret-value-123456" },
      config: "# mine\nchannels:\n  webhook:\n    shop:\n      secret: ${HOOK_SECRET} # keep\nlimits:\n  dollars: 3\n",
    });
    try {
      await at.rpc("config.set", { path: "limits.dollars", value: 4 });
      const { readFileSync } = await import("node:fs");
      const text = readFileSync(`${at.home}/lares.yaml`, "utf8");
      expect(text).toContain("${HOOK_SECRET} # keep");
      expect(text).toContain("# mine");
      expect(text).not.toContain("hook-secret-value");
      const shown = await at.rpc("config.get", {});
      expect(JSON.stringify(shown)).not.toContain("hook-secret-value");
      expect(await at.rpc("config.get", { path: "channels.webhook.shop.secret" })).toMatchObject({
        value: "••••3456",
        written: "${HOOK_SECRET}",
      });
      await expect(
        at.rpc("config.set", { path: "channels.webhook.shop.secret", value: "••••3456" }),
      ).rejects.toMatchObject({ status: 400 });
    } finally {
      await at.stop();
    }
  });

  test("LK-05 an export has no keys, neither known ones nor ones that look like keys", async () => {
    const canary = "sk-canary-0123456789abcdefgh";
    const { session } = await instance.rpc("chat.send", {
      message: `say:the key is ${canary} and ${TOKEN}`,
      user: "lk05",
    });
    const text = JSON.stringify(await instance.rpc("sessions.export", { session }));
    expect(text).not.toContain(canary);
    expect(text).not.toContain(TOKEN);
    expect(text).toContain("[redacted]");
  });

  test("LK-07 codes, cookies and tokens are independent random values", async () => {
    const code = new URL(instance.app.loginUrl()).hash.slice("#code=".length);
    const login = await signIn(instance);
    const cookie = login.cookie.split("=")[1]!;
    const { token } = await scoped(["read"], "independent");
    const all = [code, cookie, login["x-lares-proof"], token.replace("lares_", ""), TOKEN];
    for (const a of all) for (const b of all) if (a !== b) expect(a.includes(b.slice(0, 8))).toBe(false);
    expect(new Set([1, 2, 3].map(() => instance.app.loginUrl())).size).toBe(3);
  });
});

describe("DO: denial of service", () => {
  test("DO-01 sockets without a credential are few, their frames small, and others still get in (LIVE-1)", async () => {
    const at = await openInstance();
    const sockets = Array.from({ length: 60 }, () => new Socket(at.app.url));
    try {
      const settled = await Promise.all(
        sockets.map((s) => s.until("open or refused", () => s.refused ?? (s.raw.readyState === 1 ? 101 : undefined))),
      );
      expect(settled.filter((status) => status === 101).length).toBeLessThanOrEqual(32);
      expect(settled).toContain(503);
      const known = new Socket(at.app.url, bearer());
      await known.event("hello");
      const open = sockets.find((s) => s.raw.readyState === 1)!;
      open.raw.send(JSON.stringify({ type: "req", id: "1", method: "connect", params: { token: "x".repeat(65_536) } }));
      expect((await open.over()).code).toBe(4009);
      known.close();
    } finally {
      for (const socket of sockets) socket.raw.terminate();
      await at.stop();
    }
  });

  test("DO-01 a body is not read before the credential, and a large one is refused", async () => {
    const large = "x".repeat(2_000_000);
    expect((await instance.ask("/rpc/chat.send", { method: "POST", headers: bearer(), body: large })).status).toBe(413);
    // Says 5 GB, sends nothing: the answer does not wait for it.
    const text = await new Promise<string>((resolve, reject) => {
      const { hostname, port, host } = new URL(instance.app.url);
      const raw = connect(Number(port), hostname, () =>
        raw.write(`POST /rpc/health HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 5000000000\r\n\r\n`),
      );
      let got = "";
      raw.on("data", (data) => {
        got += String(data);
        raw.destroy();
        resolve(got);
      });
      raw.on("error", reject);
    });
    expect(text).toContain("401");
    const headers = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`x-many-${i}`, "y".repeat(400)]));
    expect((await instance.ask("/healthz", { headers })).status).toBe(431);
  });

  test("DO-03 a search that looks like a pattern is a plain text", async () => {
    const began = Date.now();
    await instance.rpc("sessions.list", { search: "(a+)+$" });
    await instance.rpc("sessions.list", { search: "%_".repeat(90) });
    expect(Date.now() - began).toBeLessThan(5000);
  });

  test("DO-05 a flood of wrong codes does not keep the owner out", async () => {
    const at = await openInstance();
    try {
      for (let n = 0; n < 40; n++) await enter(at, `#code=${n}`);
      expect((await enter(at, "#code=no")).status).toBe(429);
      expect((await at.rpc("health", {})).ok).toBe(true);
      expect((await enter(at, at.app.loginUrl())).status).toBe(200);
    } finally {
      await at.stop();
    }
  });

  test("DO-07 a flood of callers fills a bounded table (AUTH-11)", () => {
    const failures = new Failures(() => 0);
    for (let n = 0; n < 20_000; n++) failures.add(`program 2001:db8:0:${n.toString(16)}::/64`);
    expect(failures.size).toBeLessThanOrEqual(4096);
  });

  test("DO-07 one caller has one address, however it is spelled", () => {
    const same: [string, string][] = [
      ["::ffff:127.0.0.1", "127.0.0.1"],
      ["::ffff:7f00:1", "127.0.0.1"],
      ["0:0:0:0:0:ffff:7f00:0001", "127.0.0.1"],
      ["0:0:0:0:0:0:0:1", "::1"],
      ["fe80::1%eth0", canonicalAddress("fe80:0:0:0:dead:beef:1:2")],
      ["2001:DB8::1", canonicalAddress("2001:0db8:0000:0000:ffff::2")],
    ];
    for (const [given, expected] of same) expect(canonicalAddress(given), given).toBe(expected);
    expect(canonicalAddress("2001:db8:0:1::1")).not.toBe(canonicalAddress("2001:db8:0:2::1"));
    const from = (headers: Record<string, string>) =>
      callerKey(pretend({ headers, socket: { remoteAddress: "::ffff:1.2.3.4" } }));
    expect(new Set([from({}), from({ origin: "http://a" }), from({ "sec-fetch-site": "none" })]).size).toBe(3);
    expect(from({ origin: "http://127.0.0.1:1" })).toBe(from({ origin: "http://127.0.0.1:2" }));
  });

  test("DO-09 keys that reach into objects are refused", async () => {
    for (const path of ["__proto__.polluted", "limits.constructor", "agents.__proto__"]) {
      await expect(instance.rpc("config.set", { path, value: true })).rejects.toMatchObject({ status: 400 });
    }
    await expect(instance.rpc("config.get", { path: "__proto__" })).rejects.toMatchObject({ status: 404 });
    const body = '{"message":"say:fine","__proto__":{"isAdmin":true},"user":"do09"}';
    const answer = await instance.ask("/rpc/chat.send", { method: "POST", headers: bearer(), body });
    expect(answer.status).toBe(400);
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
    for (const name of ["constructor", "__proto__", "toString"]) {
      expect((await instance.ask(`/rpc/${name}`, { method: "POST", headers: bearer(), body: "{}" })).status).toBe(404);
    }
  });
});

describe("bad input", () => {
  test("a schema violation names the field and what to do", async () => {
    await expect(instance.rpc("chat.send", pretend({ message: "x", sesion: "y" }))).rejects.toMatchObject({
      status: 400,
      body: { code: "BAD_REQUEST", details: { field: "sesion" }, hint: 'Did you mean "session"?' },
    });
    await expect(instance.rpc("chat.history", { session: "x", limit: 0 })).rejects.toMatchObject({
      body: { details: { field: "limit" } },
    });
    await expect(instance.rpc(pretend<"status">("chat.sned"), pretend({}))).rejects.toMatchObject({
      status: 404,
      body: { hint: 'Did you mean "chat.send"?' },
    });
  });

  test("binding beyond loopback needs to be said, and a token that cannot be guessed", async () => {
    await expect(openInstance({ bind: "0.0.0.0" })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    await expect(openInstance({ bind: "0.0.0.0", exposed: true, env: { LARES_TOKEN: "short" } })).rejects.toMatchObject(
      {
        code: "CONFIG_INVALID",
      },
    );
    const at = await openInstance({ bind: "0.0.0.0", exposed: true });
    try {
      expect(at.app.loginUrl()).toContain("http://127.0.0.1:");
      expect((await at.rpc("security.audit", {})).findings.find((f) => f.id === "bind")).toMatchObject({
        level: "warn",
      });
      // A name could be rebound, an address cannot.
      expect((await at.ask("/healthz", { headers: { host: "lares.example" } })).status).toBe(403);
      expect((await at.ask("/healthz", { headers: { host: `192.168.1.9:${at.app.port}` } })).status).toBe(200);
    } finally {
      await at.stop();
    }
  });

  test("security.audit says what is open", async () => {
    const { chmodSync } = await import("node:fs");
    const at = await openInstance({ config: "policy:\n  mode: ignore\n", env: { LARES_TOKEN: "tiny-token" } });
    try {
      chmodSync(`${at.home}/lares.yaml`, 0o644);
      const { worst, findings } = await at.rpc("security.audit", {}, { token: "tiny-token" });
      expect(worst).toBe("bad");
      const level = (id: string) => findings.find((f) => f.id === id)?.level;
      expect([level("policy:every agent"), level("token"), level("mode:lares.yaml"), level("mode:lares.db")]).toEqual([
        "bad",
        "warn",
        "warn",
        "ok",
      ]);
    } finally {
      await at.stop();
    }
  });
});
