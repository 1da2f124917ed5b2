/**
 * A watcher as a plugin: says once when a disk has less space than it should, and again only after there was enough in between.
 * Without any dependency.
 */
import { statfsSync } from "node:fs";
import { createInterface } from "node:readline";

const { freeMb = 1024 } = JSON.parse(process.env.LARES_PLUGIN_CONFIG);

/** `about`: the path from the watch's settings. `cursor`: what the last look returned; null at the first. */
function look({ about, cursor }) {
  const path = about || "/";
  const { bavail, bsize } = statfsSync(path);
  const free = Math.floor((bavail * bsize) / 1024 / 1024);
  const isLow = free < freeMb;
  const times = (cursor?.times ?? 0) + (isLow && !cursor?.isLow ? 1 : 0);
  const items = isLow && !cursor?.isLow ? [{ id: `low-${times}`, body: `Only ${free} MB are free on ${path}.` }] : [];
  return { items, cursor: { isLow, times } };
}

const methods = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "disk", version: "1.0.0" },
  }),
  "tools/list": () => ({ tools: [] }),
  "watch/look": look,
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const run = methods[method];
  const reply = run ? { result: run(params) } : { error: { code: -32601, message: "no such method" } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...reply })}\n`);
}
