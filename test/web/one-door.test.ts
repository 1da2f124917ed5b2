/** NET-09: media, avatars, hooks, feeds and tools all go by the same guard, because there is no other door. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";

const src = new URL("../../src/", import.meta.url).pathname;
/** Rooms that act on what a stranger may have written. Models, channels and faces reach hosts the operator named. */
const ROOMS = ["edges/tools", "flow", "mind"];
const DOORS = new Set([
  "edges/tools/web/hop.ts",
  "edges/tools/web/body.ts",
  "edges/tools/web/reach.ts",
  "edges/tools/browser/proxy.ts",
  "edges/tools/mcp/connect/host-proxy.ts",
]);
const RAW =
  /\bfetch\(\s*(?:["'`]http|url\b|new URL)|from "node:(?:https?|http2|dns|dns\/promises|dgram|tls)"|from "undici"/;

test("NET-09: no room opens a connection of its own", () => {
  const files = ROOMS.flatMap((room) => readdirSync(join(src, room), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts") && !/\.test\.ts$|^testing\.ts$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  expect(files.length).toBeGreaterThan(40);
  const found = files
    .filter((file) => RAW.test(withoutTypes(readFileSync(file, "utf8"))))
    .map((file) => relative(src, file));
  expect(found.filter((file) => !DOORS.has(file))).toEqual([]);
});

/** A type says nothing on the wire. */
function withoutTypes(text: string): string {
  return text.replace(/import type [^;]+;/g, "").replace(/\.fetch\(/g, ".port(");
}
