/**
 * The login's cookie goes to every port of 127.0.0.1: browsers keep cookies by host, not by port. Whoever listens there gets it
 * with the next link that is followed. Here a real Chromium signs in and opens another port; what that port received, sent
 * on with every header an attacker can write, must open nothing.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { METHODS } from "../../src/core/protocol/index.ts";
import { Socket } from "../gateway/support.ts";
import { until } from "../support/index.ts";
import { needsBrowser, startBrowser, startInstance, type TestInstance } from "../ui/support.ts";

const GUESS = "A".repeat(43);

describe.skipIf(!needsBrowser("a cookie that another port received"))("a cookie that another port received", () => {
  let browser: Browser;
  let instance: TestInstance;
  let context: BrowserContext;
  let page: Page;
  let thief: Server;
  let stolen = "";

  beforeAll(async () => {
    [browser, instance] = await Promise.all([startBrowser(), startInstance()]);
    thief = createServer((request, response) => {
      stolen ||= request.headers.cookie ?? "";
      response.end("<title>preview</title>");
    }).listen(0, "127.0.0.1");
    context = await browser.newContext();
    page = await context.newPage();
    await page.goto(await instance.loginLink());
    await page.getByText("Lares is running. Nothing needs you.").waitFor();
    const other = await context.newPage();
    await until("the second port to listen", () => thief.listening);
    await other.goto(`http://127.0.0.1:${(thief.address() as AddressInfo).port}/`);
    expect(await other.evaluate("localStorage.length")).toBe(0);
    await other.close();
  });
  afterAll(async () => {
    await browser?.close();
    thief?.close();
    await instance?.dispose();
  });

  /** Every way to dress it up that a program has, the page's own headers included. */
  const disguises = (): Record<string, string>[] => {
    const asPage = { origin: instance.url, "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors" };
    const secret = stolen.split("=")[1] ?? "";
    return [
      {},
      asPage,
      { ...asPage, "x-lares-csrf": "1", "x-lares-proof": "" },
      { ...asPage, "x-lares-csrf": "1", "x-lares-proof": "1" },
      { ...asPage, "x-lares-proof": secret },
      { ...asPage, "x-lares-proof": GUESS },
    ];
  };

  test("it is there: this is why a cookie proves nothing", () => {
    expect(stolen).toMatch(new RegExp(`^lares_${instance.port}=.{40,}$`));
  });

  test("no method of the registry takes it, however it is dressed up (ACCESS-6, AUTH-3)", async () => {
    const names = Object.keys(METHODS);
    expect(names.length).toBeGreaterThan(60);
    const open: string[] = [];
    const tryAll = async (name: string) => {
      for (const headers of disguises()) {
        const answer = await fetch(`${instance.url}/rpc/${name}`, {
          method: "POST",
          headers: { cookie: stolen, "content-type": "application/json", ...headers },
          body: "{}",
        });
        await answer.arrayBuffer();
        if (![401, 403].includes(answer.status)) open.push(`${name} ${answer.status} ${JSON.stringify(headers)}`);
      }
    };
    while (names.length) await Promise.all(names.splice(0, 10).map(tryAll));
    expect(open).toEqual([]);
  });

  test("no other door takes it", async () => {
    const doors: [string, string][] = [
      ["POST", "/chat"],
      ["GET", "/v1/models"],
      ["POST", "/v1/chat/completions"],
      ["POST", "/v1/responses"],
      ["POST", "/attachments"],
      ["GET", "/attachments/att_1"],
      ["GET", "/metrics"],
      ["POST", "/logout"],
    ];
    for (const [method, path] of doors) {
      for (const headers of disguises()) {
        const body = method === "POST" ? JSON.stringify({ user_id: "x", message: "hello" }) : null;
        const answer = await fetch(`${instance.url}${path}`, { method, headers: { cookie: stolen, ...headers }, body });
        expect([401, 403], `${method} ${path} ${JSON.stringify(headers)}`).toContain(answer.status);
      }
    }
    const session = await fetch(`${instance.url}/session`, { headers: { cookie: stolen } });
    expect(await session.json()).toEqual({ signedIn: false, wasIn: true });
  });

  test("the socket hears nothing before the proof, and a wrong one closes it", async () => {
    const frames: [string, Record<string, unknown>][] = [
      ["connect", {}],
      ["connect", { proof: "" }],
      ["connect", { proof: stolen.split("=")[1] }],
      ["connect", { token: stolen.split("=")[1] }],
      ["health", {}],
      ["tokens.create", { name: "x", scopes: ["admin"] }],
    ];
    for (const [method, params] of frames) {
      for (const headers of disguises()) {
        const socket = new Socket(instance.url, { cookie: stolen, ...headers });
        const stood = await socket.until(
          "an answer to the upgrade",
          () => socket.refused ?? (socket.raw.readyState === 1 || undefined),
        );
        if (stood !== true) {
          expect([401, 403]).toContain(stood);
          continue;
        }
        socket.send(method, params);
        expect((await socket.over()).code).toBe(4003);
        expect(socket.frames).toEqual([]);
      }
    }
  });

  test("meanwhile the page works: a reload, a second tab, and signing out in one ends both", async () => {
    await page.reload();
    await page.getByText("Lares is running. Nothing needs you.").waitFor();
    const second = await context.newPage();
    await second.goto(`${instance.url}/settings`);
    await second.getByRole("heading", { name: "Settings" }).waitFor();
    const proof = await second.evaluate<string>('localStorage.getItem("lares.proof")');
    expect(proof).toMatch(/^.{40,}$/);
    expect((await fetchWith(proof)).status).toBe(200);
    const { logins } = await instance.rpc("tokens.list", {});
    await instance.rpc("tokens.revoke", { id: logins[0]!.id });
    for (const tab of [page, second]) await tab.getByText("Sign in to Lares").waitFor();
    expect((await fetchWith(proof)).status).toBe(401);
    // Signing in again in one tab brings the other back.
    await page.getByText("Sign in again").waitFor();
    await page.fill("#code", await instance.loginLink());
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("Lares is running. Nothing needs you.").waitFor();
    await second.getByRole("heading", { name: "Settings" }).waitFor();
  });

  test("a browser that lost its proof is asked to sign in again, and can", async () => {
    await page.evaluate('localStorage.removeItem("lares.proof")');
    await page.reload();
    await page.getByText("Sign in again").waitFor();
    await page.goto(await instance.loginLink());
    await page.getByText("Lares is running. Nothing needs you.").waitFor();
    expect(page.url()).not.toContain("code");
  });

  const fetchWith = (proof: string) =>
    fetch(`${instance.url}/rpc/health`, {
      method: "POST",
      headers: { cookie: stolen, origin: instance.url, "x-lares-proof": proof },
      body: "{}",
    });
});
