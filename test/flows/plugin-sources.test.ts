/** Plugins from a package registry and from https archives, with the real program: what is taken, and what somebody tampered with. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, it, onTestFinished } from "vitest";
import { makeTar, type TarEntry } from "../../src/edges/plugins/testing.ts";
import { needs } from "../support/not-run.ts";
import { makePlugin, startPlugins } from "../support/plugin.ts";
import { scratch } from "../support/scratch.ts";

type Files = Record<string, Buffer | object | ((origin: string) => object) | { redirect: string }>;

/** Serves these paths; counts what was asked for. */
async function serve(files: Files, tls?: { key: Buffer; cert: Buffer }) {
  const asked: string[] = [];
  let origin = "";
  const answer: RequestListener = (request, response) => {
    asked.push(request.url ?? "");
    const found = files[request.url ?? ""];
    const file = typeof found === "function" ? found(origin) : found;
    if (file === undefined) response.writeHead(404).end("{}");
    else if (Buffer.isBuffer(file)) response.end(file);
    else if ("redirect" in file) response.writeHead(302, { location: String(file.redirect) }).end();
    else response.end(JSON.stringify(file));
  };
  const server: Server = tls ? createSecureServer(tls, answer) : createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  origin = `${tls ? "https" : "http"}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, asked };
}

/** A plugin as `npm pack` would pack it, with whatever else. */
function pack(name: string, more: readonly TarEntry[] = [], top = "package/"): Buffer {
  const from = makePlugin(name);
  const own = readdirSync(from).map((path) => ({
    path: `${top}${path}`,
    content: readFileSync(join(from, path), "utf8"),
  }));
  return gzipSync(makeTar([...own, ...more]));
}

const integrity = (bytes: Buffer) => `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
const card =
  (bytes: Buffer, path: string, more: object = {}) =>
  (origin: string) => ({
    version: "1.2.3",
    dist: { tarball: origin + path, integrity: integrity(bytes) },
    ...more,
  });

async function startWithRegistry(files: Files) {
  const registry = await serve(files);
  const world = await startPlugins({ plugins: { registry: `${registry.origin}/` } });
  const stage = (from: string) => world.lares.rpc("plugins.stage", { from });
  const left = () => readdirSync(join(world.lares.home, "plugins/quarantine"));
  return { ...world, registry, stage, left };
}

it.skipIf(!needs("git", "plugins from git addresses"))(
  "git: an address that leads to another host isn't followed, and one with a password isn't tried",
  async () => {
    const refs = "/sky.git/info/refs?service=git-upload-pack";
    const inside = await serve({});
    const far = await serve({ [refs]: { redirect: `${inside.origin.replace("127.0.0.1", "localhost")}${refs}` } });
    const { lares } = await startPlugins();
    const stage = (from: string) => lares.rpc("plugins.stage", { from });
    await expect(stage(`${far.origin}/sky.git`)).rejects.toThrow("git can't get it");
    expect(far.asked).toContain(refs);
    expect(inside.asked).toEqual([]);
    const asked = far.asked.length;
    await expect(stage(`${far.origin.replace("://", "://me:secret@")}/sky.git`)).rejects.toThrow(/password/);
    expect(far.asked).toHaveLength(asked);
  },
);

it("npm: a package and a scoped one come from the owner's registry; no script of theirs runs, and no dependency is fetched", async () => {
  const witness = join(scratch("witness"), "ran");
  const scripts = { scripts: { preinstall: `touch ${witness}`, postinstall: `touch ${witness}` } };
  const own = { path: "package/package.json", content: JSON.stringify(scripts) };
  const [sky, rain] = [pack("sky", [own]), pack("rain")];
  const { registry, stage, install } = await startWithRegistry({
    "/sky/latest": card(sky, "/sky/-/sky-1.2.3.tgz", { dependencies: { "left-pad": "1.0.0" } }),
    "/sky/-/sky-1.2.3.tgz": sky,
    "/@clouds%2frain/2.0.0": card(rain, "/rain.tgz"),
    "/rain.tgz": rain,
  });
  expect(await stage("npm:sky")).toMatchObject({
    name: "sky",
    exactly: "1.2.3",
    findings: [{ path: "package.json", what: "has install scripts, which Lares never runs" }],
    notes: ["it needs 1 package, and Lares doesn't install any"],
  });
  expect(await install("npm:sky")).toMatchObject({ state: "on", from: "npm:sky" });
  expect(await install("npm:@clouds/rain@2.0.0")).toMatchObject({ name: "rain", state: "on" });
  expect(existsSync(witness)).toBe(false);
  expect(registry.asked.filter((path) => path.includes("left-pad"))).toEqual([]);
});

it("npm: an archive that isn't the one the registry names is refused, also without a strong hash (wrong digest)", async () => {
  const [sky, other] = [pack("sky"), pack("sky", [{ path: "package/extra", content: "evil" }])];
  const weak = {
    version: "1",
    dist: { tarball: "/w.tgz", integrity: `sha1-${createHash("sha1").update(sky).digest("base64")}` },
  };
  const { stage, left } = await startWithRegistry({
    "/sky/latest": card(sky, "/sky.tgz"),
    "/sky.tgz": other,
    "/weak/latest": (origin: string) => ({ ...weak, dist: { ...weak.dist, tarball: `${origin}/w.tgz` } }),
    "/w.tgz": sky,
    "/none/latest": { version: "1", dist: {} },
  });
  for (const name of ["sky", "weak"])
    await expect(stage(`npm:${name}`)).rejects.toThrow("its archive isn't the one that the registry names");
  await expect(stage("npm:none")).rejects.toThrow("doesn't know this package");
  await expect(stage("npm:gone")).rejects.toThrow("it answered 404");
  for (const bad of ["../sky", "sky/../../etc", "Sky", "sky@1 2", "http://x/y"])
    await expect(stage(`npm:${bad}`)).rejects.toThrow("isn't a package's name");
  expect(left()).toEqual([]);
});

it.each<[string, TarEntry, string]>([
  ["a link out", { path: "package/a", type: "2", link: "/etc/passwd" }, "is a link"],
  ["a hard link", { path: "package/a", type: "1", link: "package/plugin.json" }, "is a link"],
  ["a way up", { path: "package/../../../evil", content: "x" }, "outside the plugin's folder"],
  ["an absolute path", { path: "/etc/cron.d/evil", content: "x" }, "outside the plugin's folder"],
  ["a bomb", { path: "package/a", content: "\0".repeat(80 * 1024 * 1024) }, "larger than 64 MB"],
])("SK-12: %s in a package refuses the whole of it, and nothing stays", async (_what, entry, why) => {
  const bytes = pack("sky", [entry]);
  const { stage, left } = await startWithRegistry({ "/sky/latest": card(bytes, "/sky.tgz"), "/sky.tgz": bytes });
  await expect(stage("npm:sky")).rejects.toThrow(why);
  expect(left()).toEqual([]);
});

it("npm: the registry can't send Lares to other private hosts, neither by a card nor by a redirect", async () => {
  const inside = await serve({ "/sky.tgz": pack("sky") });
  const near = inside.origin.replace("127.0.0.1", "127.0.0.2");
  const { stage } = await startWithRegistry({
    "/card/latest": { version: "1", dist: { tarball: `${near}/sky.tgz`, integrity: "sha512-x" } },
    "/moved/latest": { redirect: `${near}/sky.tgz` },
    "/file/latest": { version: "1", dist: { tarball: "file:///etc/passwd", integrity: "sha512-x" } },
  });
  for (const name of ["card", "moved"]) await expect(stage(`npm:${name}`)).rejects.toThrow(/Not reached: 127\.0\.0\.2/);
  await expect(stage("npm:file")).rejects.toThrow(/Not reached: only http and https/);
  expect(inside.asked).toEqual([]);
});

it("npm: without a registry of the owner's choice nothing is asked for", async () => {
  const { lares } = await startPlugins();
  await expect(lares.rpc("plugins.stage", { from: "npm:sky" })).rejects.toThrow("no package registry is set");
});

it.skipIf(!needs("openssl", "certificates of https servers"))(
  "https: an archive is taken from a server with a good certificate only, and never over a redirect into the network",
  async () => {
    const dir = scratch("cert");
    const [key, cert] = [join(dir, "key.pem"), join(dir, "cert.pem")];
    const options = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
    const names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
    execFileSync("openssl", ["req", "-x509", ...options, ...names, "-keyout", key, "-out", cert], { stdio: "ignore" });
    const tls = { key: readFileSync(key), cert: readFileSync(cert) };
    const inside = await serve({ "/sky.tgz": pack("sky") });
    const far = await serve(
      {
        "/sky.tar.gz": pack("sky", [], "sky-main/"),
        "/trap.tgz": pack("trap", [{ path: "package/a", type: "2", link: "../../x" }]),
        "/page.zip": Buffer.from("<html>not found</html>"),
        "/moved.tgz": { redirect: `${inside.origin.replace("127.0.0.1", "127.0.0.2")}/sky.tgz` },
        "/large.tgz": Buffer.alloc(33 * 1024 * 1024),
      },
      tls,
    );
    const trusting = await startPlugins({}, { NODE_EXTRA_CA_CERTS: cert });
    const stage = (path: string) => trusting.lares.rpc("plugins.stage", { from: far.origin + path });
    expect(await trusting.install(`${far.origin}/sky.tar.gz`)).toMatchObject({ name: "sky", state: "on" });
    await expect(stage("/trap.tgz")).rejects.toThrow("is a link");
    await expect(stage("/page.zip")).rejects.toThrow("neither a folder nor a .zip");
    await expect(stage("/moved.tgz")).rejects.toThrow(/Not reached: 127\.0\.0\.2/);
    await expect(stage("/large.tgz")).rejects.toThrow("bytes");
    expect(inside.asked).toEqual([]);
    const plain = await startPlugins();
    await expect(plain.lares.rpc("plugins.stage", { from: `${far.origin}/sky.tar.gz` })).rejects.toThrow(/SELF_SIGNED/);
    // Without https it isn't an archive's address.
    await expect(plain.lares.rpc("plugins.stage", { from: `${inside.origin}/sky.tgz` })).rejects.toThrow(
      "git can't get it",
    );
  },
  60_000,
);
