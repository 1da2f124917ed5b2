/**
 * `npm run test:a2a [python] [openclaw]`: agents of others against Lares in both directions, as published: the official Python SDK and
 * OpenClaw. They come from PyPI and npm into a cache folder, once; after that nothing leaves this machine.
 */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawnModel } from "../support/index.ts";
import { findNode, fromNpm, fromPyPi } from "../support/outside.ts";
import { Table } from "./bench.ts";
import { tryOpenClaw } from "./openclaw.ts";
import { tryPython } from "./python.ts";

const CACHE = join(tmpdir(), "lares-a2a");
const PYTHON = ["a2a-sdk[http-server]==1.3.0", "uvicorn==0.54.0"];
/** It needs a newer Node than Lares does. */
const OPENCLAW = { openclaw: "2026.9.6" };
const OPENCLAW_NODE = 24;

const wanted = process.argv.slice(2).filter((word) => word !== "--");
const isWanted = (peer: string) => wanted.length === 0 || wanted.includes(peer);
const table = new Table();
const model = await spawnModel();
if (isWanted("python")) {
  const python = fromPyPi(join(CACHE, "python"), PYTHON);
  if (python) await tryPython(table, python, model);
  else process.stdout.write("NOT RUN: the Python SDK. Install it with: apt-get install python3 python3-venv\n");
}
if (isWanted("openclaw")) {
  const folder = fromNpm(join(CACHE, "openclaw"), OPENCLAW);
  const program = join(folder, "node_modules/openclaw/openclaw.mjs");
  await tryOpenClaw(table, { node: findNode(OPENCLAW_NODE, "OpenClaw"), program }, model);
}
await model.stop();
process.exitCode = table.print() === 0 ? 0 : 1;
