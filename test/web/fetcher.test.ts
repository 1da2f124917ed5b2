import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline, Readable } from "node:stream";
import { brotliCompressSync, constants, createGzip, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { ManualClock } from "../../src/core/kit/index.ts";
import { createFetcher, type FetcherDeps, listedHosts } from "../../src/edges/tools/web/index.ts";
import { needs } from "../support/index.ts";
import { bodyOf, type Site, site } from "./servers.ts";

const forbidden = expect.objectContaining({ code: "FORBIDDEN" });
/** The operator allowed this very site; everything else on this machine stays forbidden. */
const allowing = (...sites: Site[]): FetcherDeps => ({ mayReach: listedHosts(sites.map(({ host }) => host)) });
const hello = () => site((_request, response) => response.end("hello"));

describe("NET-01, NET-03: private places are not reached", () => {
  test("spellings of this machine are refused and no connection is made", async () => {
    const canary = await hello();
    const { fetch } = createFetcher();
    const hosts = ["127.0.0.1", "0", "2130706433", "0x7f.1", "017700000001", "127.1", "localhost.", "LOCALHOST"];
    const more = ["[::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "a.localhost", "%6cocalhost", "①②⑦.0.0.1"];
    for (const host of [...hosts, ...more]) {
      await expect(fetch({ url: `http://${host}:${canary.port}/` }), host).rejects.toEqual(forbidden);
    }
    expect(canary.seen).toEqual([]);
  });

  test.each([
    "198.18.0.1",
    "100.64.0.1",
    "192.0.2.1",
    "240.0.0.1",
    "224.0.0.1",
    "169.254.169.254",
    "[ff02::1]",
    "[fc00::1]",
  ])("%s is refused without waiting for anything", async (host) => {
    await expect(createFetcher().fetch({ url: `http://${host}/` })).rejects.toEqual(forbidden);
  });

  test("a private host is reached when the operator lists it, on the listed port only", async () => {
    const [listed, other] = [await hello(), await hello()];
    const { fetch } = createFetcher(allowing(listed));
    expect((await fetch({ url: `${listed.url}/a` })).body.toString()).toBe("hello");
    // Another spelling of the listed host is the listed host.
    expect((await fetch({ url: `http://0x7f.1:${listed.port}/b` })).body.toString()).toBe("hello");
    await expect(fetch({ url: other.url })).rejects.toEqual(forbidden);
    expect(other.seen).toEqual([]);
  });

  test("a host the operator forbids is refused though it is public", async () => {
    const { fetch } = createFetcher({ isDenied: (host) => host === "evil.example", resolve: async () => ["8.8.8.8"] });
    await expect(fetch({ url: "https://EVIL.example./" })).rejects.toThrow(/forbidden by the policy/);
  });

  test.each([
    "file:///etc/passwd",
    "ftp://example.com/",
    "data:text/html,x",
    "gopher://example.com/",
    "javascript:1",
    "http://user@example.com/",
    "http://user:pw@example.com/",
    "http://example.com:25/",
    "http://example.com:6379/",
    "https://example.com:22/",
  ])("%s is refused before a name is looked up (WEB-5)", async (url) => {
    let asked = 0;
    const resolve = async () => {
      asked++;
      return ["8.8.8.8"];
    };
    await expect(createFetcher({ resolve }).fetch({ url })).rejects.toEqual(forbidden);
    expect(asked).toBe(0);
  });
});

describe("NET-05: names that change their mind", () => {
  test("a name with one private address among public ones is refused (WEB-6)", async () => {
    const canary = await hello();
    const { fetch } = createFetcher({ resolve: async () => ["8.8.8.8", "127.0.0.1"] });
    await expect(fetch({ url: `http://two.example:${canary.port}/` })).rejects.toEqual(forbidden);
    expect(canary.seen).toEqual([]);
  });

  test.each(["10.0.0.1", "::ffff:169.254.169.254", "64:ff9b::a00:1", "::1", "garbage"])(
    "a name that leads to %s is refused",
    async (address) => {
      const { fetch } = createFetcher({ resolve: async () => [address] });
      await expect(fetch({ url: "http://inner.example/" })).rejects.toEqual(forbidden);
    },
  );

  test("the connection goes to the address that was judged: the name is asked once per hop (WEB-7)", async () => {
    const [judged, canary] = [
      await site((_q, r) => r.end("judged")),
      await site((_q, r) => r.end("canary"), "127.0.0.2"),
    ];
    const answers = ["127.0.0.1", "127.0.0.2", "127.0.0.2"];
    let asked = 0;
    const { fetch } = createFetcher({
      resolve: async () => [answers[asked++]!],
      mayReach: (_host, address) => address === "127.0.0.1",
    });
    const fetched = await fetch({ url: `http://rebind.example:${judged.port}/` });
    expect(fetched.body.toString()).toBe("judged");
    expect(asked).toBe(1);
    expect(judged.requests[0]!.headers.host).toBe(`rebind.example:${judged.port}`);
    // The second time the name leads elsewhere, and that is judged anew.
    await expect(fetch({ url: `http://rebind.example:${canary.port}/` })).rejects.toEqual(forbidden);
    expect(canary.seen).toEqual([]);
  });

  test("proxy variables of the environment are not followed (WEB-2)", async () => {
    const [proxy, target] = [await hello(), await site((_q, r) => r.end("direct"))];
    const names = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "NODE_USE_ENV_PROXY"];
    const before = names.map((name) => process.env[name]);
    onTestFinished(() =>
      names.forEach((name, i) => {
        if (before[i] === undefined) delete process.env[name];
        else process.env[name] = before[i];
      }),
    );
    for (const name of names) process.env[name] = name === "NODE_USE_ENV_PROXY" ? "1" : proxy.url;
    const fetched = await createFetcher(allowing(target)).fetch({ url: target.url });
    expect(fetched.body.toString()).toBe("direct");
    expect(proxy.seen).toEqual([]);
  });

  test.skipIf(!needs("openssl", "certificates of https servers"))(
    "with https the name stays in SNI and the certificate must be right",
    async () => {
      const dir = mkdtempSync(join(tmpdir(), "lares-cert-"));
      onTestFinished(() => rmSync(dir, { recursive: true }));
      const [key, cert] = [join(dir, "key.pem"), join(dir, "cert.pem")];
      const options = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
      const files = ["-keyout", key, "-out", cert, "-subj", "/CN=pinned.example"];
      execFileSync("openssl", ["req", "-x509", ...options, ...files], { stdio: "ignore" });
      const names: string[] = [];
      let requests = 0;
      const server = createSecureServer(
        {
          key: readFileSync(key),
          cert: readFileSync(cert),
          SNICallback: (name, done) => {
            names.push(name);
            done(null);
          },
        },
        (_request, response) => {
          requests++;
          response.end();
        },
      );
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      onTestFinished(() => {
        server.closeAllConnections();
        server.close();
      });
      const { port } = server.address() as AddressInfo;
      const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
      onTestFinished(() => {
        if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
        else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
      });
      process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
      const { fetch } = createFetcher({ resolve: async () => ["127.0.0.1"], mayReach: () => true });
      await expect(fetch({ url: `https://pinned.example:${port}/` })).rejects.toThrow(/DEPTH_ZERO_SELF_SIGNED_CERT/);
      expect(names).toEqual(["pinned.example"]);
      expect(requests).toBe(0);
    },
  );
});

describe("redirects", () => {
  const redirect = (location: string, status = 302) => site((_q, r) => r.writeHead(status, { location }).end());

  test.each([
    "http://127.0.0.1:1234/",
    "http://169.254.169.254/latest/meta-data/",
    "//0x7f.1/",
    "file:///etc/passwd",
    "http://a:b@example.com/",
    "http://localhost/",
    "http://example.com:25/",
  ])("a redirect to %s is refused", async (location) => {
    const start = await redirect(location);
    await expect(createFetcher(allowing(start)).fetch({ url: start.url })).rejects.toEqual(forbidden);
  });

  test("a redirect to a name that resolves to a private address is refused at that hop (WEB-1)", async () => {
    const canary = await hello();
    const start = await redirect(`http://inner.example:${canary.port}/`);
    const { fetch } = createFetcher({ ...allowing(start), resolve: async () => ["127.0.0.1"] });
    await expect(fetch({ url: start.url })).rejects.toEqual(forbidden);
    expect(canary.seen).toEqual([]);
  });

  test("redirects are followed up to the limit, then it is an error", async () => {
    const loop = await site((request, response) => {
      const n = Number(request.url!.slice(1));
      if (n === 0) response.end("there");
      else response.writeHead(302, { location: `/${n - 1}` }).end();
    });
    const { fetch } = createFetcher(allowing(loop));
    expect(await fetch({ url: `${loop.url}/5` })).toMatchObject({ status: 200, url: `${loop.url}/0` });
    await expect(fetch({ url: `${loop.url}/6` })).rejects.toThrow(/redirects more than 5 times/);
  });

  test("to another origin go no credentials, and they do not come back (WEB-3)", async () => {
    let first: Site | undefined;
    const second = await site((_q, r) => r.writeHead(302, { location: `${first!.url}/back` }).end());
    first = await site((request, response) => {
      if (request.url === "/back") response.end("done");
      else response.writeHead(302, { location: `${second.url}/` }).end();
    });
    const headers = { Authorization: "Bearer s3cret", Cookie: "a=b", "X-Api-Key": "k", Accept: "text/plain" };
    await createFetcher(allowing(first, second)).fetch({ url: `${first.url}/`, headers });
    expect(first.requests[0]!.headers).toMatchObject({
      authorization: "Bearer s3cret",
      cookie: "a=b",
      "x-api-key": "k",
    });
    for (const request of [second.requests[0]!, first.requests[1]!]) {
      expect(JSON.stringify(request.headers)).not.toMatch(/s3cret|a=b|"k"/);
      expect(request.headers.accept).toBe("text/plain");
    }
  });

  test("within one origin credentials stay", async () => {
    const start = await site((request, response) =>
      request.url === "/" ? response.writeHead(301, { location: "/next" }).end() : response.end(),
    );
    await createFetcher(allowing(start)).fetch({ url: start.url, headers: { authorization: "Bearer s" } });
    expect(start.requests[1]!.headers.authorization).toBe("Bearer s");
  });

  test("a body is not passed on to another origin", async () => {
    const thief = await hello();
    const start = await redirect(`${thief.url}/`, 307);
    const { fetch } = createFetcher(allowing(start, thief));
    await expect(fetch({ url: start.url, method: "POST", body: "secret" })).rejects.toThrow(/sent on to/);
    expect(thief.seen).toEqual([]);
  });

  test("after 303 a POST becomes a GET without body", async () => {
    const start = await site((request, response) =>
      request.method === "POST" ? response.writeHead(303, { location: "/r" }).end() : response.end("got"),
    );
    await createFetcher(allowing(start)).fetch({ url: start.url, method: "POST", body: "x" });
    expect(start.seen).toEqual(["POST /", "GET /r"]);
    expect(await bodyOf(start.requests[1]!)).toBe("");
  });
});

describe("limits", () => {
  test.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["deflate (raw)", deflateRawSync],
    ["br", (data: Buffer | string) => brotliCompressSync(data, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })],
  ])("%s is unpacked, and a bomb ends at the limit", async (encoding, pack) => {
    const bomb = pack(Buffer.alloc(64 * 1024 * 1024));
    const packed = await site((request, response) => {
      response.setHeader("content-encoding", encoding.split(" ")[0]!);
      response.end(request.url === "/bomb" ? bomb : pack("hello"));
    });
    const { fetch } = createFetcher(allowing(packed));
    expect((await fetch({ url: packed.url })).body.toString()).toBe("hello");
    const error = await fetch({ url: `${packed.url}/bomb`, maxBytes: 100_000 }).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: "BODY_TOO_LARGE" });
    const cut = await fetch({ url: `${packed.url}/bomb`, maxBytes: 100_000, oversize: "cut" });
    expect([cut.body.length, cut.cut]).toEqual([100_000, true]);
  });

  test("an endless answer ends at the limit, and the server is let go (WEB-4)", async () => {
    let closed = false;
    const endless = await site((request, response) => {
      request.socket.on("close", () => {
        closed = true;
      });
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65536, "x")));
      };
      response.on("drain", more);
      more();
    });
    const { fetch } = createFetcher(allowing(endless));
    await expect(fetch({ url: endless.url, maxBytes: 300_000 })).rejects.toMatchObject({ code: "BODY_TOO_LARGE" });
    await expect.poll(() => closed, { timeout: 10_000 }).toBe(true);
  });

  test("an endless bomb ends at the limit: nothing waits for its end", async () => {
    const endless = await site((_request, response) => {
      response.setHeader("content-encoding", "gzip");
      const zeros = new Readable({ read: () => zeros.push(Buffer.alloc(1024 * 1024)) });
      pipeline(zeros, createGzip(), response, () => {});
    });
    const { fetch } = createFetcher(allowing(endless));
    const { body, cut } = await fetch({ url: endless.url, maxBytes: 300_000, oversize: "cut" });
    expect([body.length, cut]).toEqual([300_000, true]);
  });

  test("an announced length past the limit is refused before it is read", async () => {
    const big = await site((_q, r) => r.writeHead(200, { "content-length": "99999999" }).write("x"));
    await expect(createFetcher(allowing(big)).fetch({ url: big.url })).rejects.toMatchObject({
      code: "BODY_TOO_LARGE",
    });
  });

  test.each([
    ["a server that says nothing", () => {}],
    [
      "a server that stops in the middle",
      (_q: unknown, r: { write(text: string): void }) => {
        r.write("begin");
      },
    ],
  ])("%s is given up at the deadline", async (_name, answer) => {
    const silent = await site(answer);
    const clock = new ManualClock();
    const fetching = createFetcher({ ...allowing(silent), clock }).fetch({ url: silent.url, timeoutMs: 5000 });
    const failure = expect(fetching).rejects.toThrow(/no complete answer within 5 s/);
    await expect.poll(() => silent.seen.length, { timeout: 10_000 }).toBe(1);
    clock.advance(5001);
    await failure;
  });

  test("a name server that says nothing is given up at the deadline, and the caller's abort is the caller's reason", async () => {
    const clock = new ManualClock();
    const { fetch } = createFetcher({ clock, resolve: () => new Promise(() => {}) });
    const slow = expect(fetch({ url: "http://slow.example/", timeoutMs: 1000 })).rejects.toThrow(/within 1 s/);
    clock.advance(1000);
    await slow;
    const controller = new AbortController();
    const aborted = expect(fetch({ url: "http://slow.example/" }, controller.signal)).rejects.toThrow("stop it");
    controller.abort(new Error("stop it"));
    await aborted;
  });

  test("a torn connection and a refused one are failures of the far side", async () => {
    const torn = await site((request, response) => {
      if (request.url === "/half") {
        response.writeHead(200, { "content-length": "10" });
        response.write("12345", () => request.socket.destroy());
      } else request.socket.destroy();
    });
    const { fetch } = createFetcher(allowing(torn));
    await expect(fetch({ url: torn.url })).rejects.toMatchObject({ code: "NOT_READY", retry: "later" });
    await expect(fetch({ url: `${torn.url}/half` })).rejects.toThrow(/broke off/);
  });

  test("an unknown packing is refused", async () => {
    const odd = await site((_q, r) => r.writeHead(200, { "content-encoding": "gzip, gzip" }).end("x"));
    await expect(createFetcher(allowing(odd)).fetch({ url: odd.url })).rejects.toThrow(/can't read/);
  });
});
