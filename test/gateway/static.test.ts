/** The built UI as files: policy, caching, compression, and nothing outside the folder. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openInstance, type TestInstance } from "./support.ts";

let instance: TestInstance;
let ui: string;
beforeAll(async () => {
  ui = mkdtempSync(join(tmpdir(), "lares-ui-"));
  mkdirSync(join(ui, "assets"));
  const script = "console.log('x');\n".repeat(50);
  writeFileSync(join(ui, "index.html"), "<!doctype html><title>Lares</title>");
  writeFileSync(join(ui, "favicon.svg"), "<svg/>");
  writeFileSync(join(ui, "assets", "app-BxK2vQ1d.js"), script);
  writeFileSync(join(ui, "assets", "app-BxK2vQ1d.js.br"), brotliCompressSync(script));
  writeFileSync(join(ui, "assets", "app-BxK2vQ1d.js.gz"), gzipSync(script));
  writeFileSync(join(ui, "..", "lares-outside.txt"), "outside");
  symlinkSync(join(ui, "..", "lares-outside.txt"), join(ui, "link.txt"));
  instance = await openInstance({ uiDir: ui });
});
afterAll(async () => {
  await instance.stop();
  rmSync(ui, { recursive: true, force: true });
});

test("pages carry a strict policy and need no login; data does", async () => {
  for (const path of [
    "/",
    "/chat/agent:main:x",
    "/sessions",
    "/board",
    "/schedule",
    "/memory",
    "/agents/main",
    "/activity",
    "/turns/t_1",
    "/approvals",
    "/usage",
    "/log",
    "/settings/models",
  ]) {
    const answer = await instance.ask(path);
    expect(answer.status, path).toBe(200);
    expect(answer.text).toContain("<title>Lares</title>");
    expect(answer.headers).toMatchObject({
      "content-security-policy":
        "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data: blob:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cache-control": "no-cache",
    });
  }
  expect((await instance.ask("/v1/models")).status).toBe(401);
});

test("hashed files are kept for ever, compressed as the reader takes it (STATIC-2)", async () => {
  const path = "/assets/app-BxK2vQ1d.js";
  const plain = await instance.ask(path);
  expect(plain.headers).toMatchObject({
    "cache-control": "public, max-age=31536000, immutable",
    "content-type": "text/javascript; charset=utf-8",
  });
  expect((await instance.ask(path, { headers: { "accept-encoding": "gzip, br" } })).headers["content-encoding"]).toBe(
    "br",
  );
  expect((await instance.ask(path, { headers: { "accept-encoding": "gzip" } })).headers["content-encoding"]).toBe(
    "gzip",
  );
  const etag = String((await instance.ask("/")).headers.etag);
  expect((await instance.ask("/", { headers: { "if-none-match": etag } })).status).toBe(304);
});

test("FS-11 nothing outside the folder is served, by dots or by links (STATIC-1)", async () => {
  for (const path of [
    "/link.txt",
    "/../lares-outside.txt",
    "/%2e%2e/lares-outside.txt",
    "/assets/..%2f..%2flares-outside.txt",
    "/assets//app-BxK2vQ1d.js",
    "/.env",
    "/assets",
  ]) {
    const answer = await instance.ask(path);
    expect(answer.text, path).not.toContain("outside");
    expect([401, 404, 400], path).toContain(answer.status);
  }
});

test("before the UI is built the page says how, and takes a code", async () => {
  const bare = await openInstance({ uiDir: join(ui, "nothing-here") });
  try {
    const answer = await bare.ask("/");
    expect(answer.text).toContain("npm run build:ui");
    expect(answer.text).toContain("lares dashboard");
    expect(answer.headers["content-security-policy"]).toContain("default-src 'none'");
    expect((await bare.ask("/login.css")).headers["content-type"]).toContain("text/css");
    const login = await bare.ask("/login");
    expect(login).toMatchObject({ status: 200 });
    expect(login.text).toContain("<form");
  } finally {
    await bare.stop();
  }
});
