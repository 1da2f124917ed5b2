/**
 * The built UI as files. Nothing here needs a login: pages and scripts hold no data.
 *
 * STATIC-1: only regular files whose real path is inside the folder are served; links out of it are not (FS-11).
 * STATIC-2: a name with a hash in it never changes, so browsers keep it; everything else is asked about again.
 */
import { readFile, realpath, stat } from "node:fs/promises";
import { extname, join, sep } from "node:path";

export interface StaticFile {
  body: Uint8Array<ArrayBuffer>;
  headers: Record<string, string>;
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".json": "application/json",
  ".webmanifest": "application/manifest+json",
  ".txt": "text/plain; charset=utf-8",
};
const SAFE_PATH = /^\/(?:[A-Za-z0-9_-][A-Za-z0-9._-]*\/)*[A-Za-z0-9_-][A-Za-z0-9._-]*$/;
/** As Vite writes them: `assets/chat-BxK2vQ1d.js`. */
const HASHED = /-[A-Za-z0-9_-]{8}\.[a-z0-9]{1,8}$/;
const ENCODINGS = [
  { name: "br", suffix: ".br" },
  { name: "gzip", suffix: ".gz" },
] as const;

/** A file of the folder, compressed where the reader takes it and the build made it. `undefined`: there is none. */
export async function staticFile(root: string, path: string, accepts: string): Promise<StaticFile | undefined> {
  const type = TYPES[extname(path)];
  if (!type || !SAFE_PATH.test(path)) return undefined;
  const plain = await inside(root, join(root, path));
  if (!plain) return undefined;
  const headers: Record<string, string> = {
    "content-type": type,
    "cache-control":
      path.startsWith("/assets/") && HASHED.test(path) ? "public, max-age=31536000, immutable" : "no-cache",
    vary: "accept-encoding",
    etag: plain.etag,
  };
  for (const { name, suffix } of ENCODINGS) {
    if (!new RegExp(`\\b${name}\\b`).test(accepts)) continue;
    const packed = await inside(root, join(root, path + suffix));
    if (!packed || packed.changed < plain.changed) continue;
    return { body: await readFile(packed.file), headers: { ...headers, "content-encoding": name, etag: packed.etag } };
  }
  return { body: await readFile(plain.file), headers };
}

async function inside(
  root: string,
  file: string,
): Promise<{ file: string; etag: string; changed: number } | undefined> {
  try {
    const [home, real] = await Promise.all([realpath(root), realpath(file)]);
    if (!real.startsWith(home + sep)) return undefined;
    const found = await stat(real);
    if (!found.isFile()) return undefined;
    return { file: real, etag: `"${found.size.toString(36)}-${found.mtimeMs.toString(36)}"`, changed: found.mtimeMs };
  } catch {
    return undefined;
  }
}
