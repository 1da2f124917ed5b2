/**
 * The program of a parser's process, as source: a string runs the same from the sources, from the bundle and under any test runner.
 * The parser's own source follows and has the function `parse`. On stdin come the size of a JSON head, the head, and the input; on stdout goes one line, `{ done }` or `{ failed }`.
 *
 * A busy parser can't react, so a second thread listens for it: it ends the process when stdin closes, which is when Lares is
 * gone, when it has used its processor time, and, where the kernel holds no limit, its memory.
 */
export const CHILD_SOURCE = String.raw`
"use strict";
const { readSync } = require("node:fs");
const { Worker } = require("node:worker_threads");
function take(size) {
  const room = Buffer.allocUnsafe(size);
  for (let at = 0; at < size; ) {
    const got = readSync(0, room, at, size - at);
    if (got === 0) process.exit(1);
    at += got;
  }
  return room;
}
const say = (answer) => process.stdout.write(JSON.stringify(answer) + "\n");
const head = JSON.parse(take(take(4).readUInt32BE(0)).toString("utf8"));
const input = take(head.bytes);
new Worker(${"`"}
const { read } = require("node:fs");
const { workerData: { cpuMs, watchMb } } = require("node:worker_threads");
const end = (signal) => process.kill(process.pid, signal);
read(0, Buffer.alloc(1), () => end("SIGKILL"));
setInterval(() => {
  const { user, system } = process.cpuUsage();
  if (user + system > cpuMs * 1000) end("SIGXCPU");
  if (watchMb && process.memoryUsage.rss() > watchMb * 1048576) end("SIGKILL");
}, 20);
${"`"}, { eval: true, env: {}, workerData: { cpuMs: head.cpuMs, watchMb: head.watchMb } });
const failed = (error) => say({ failed: String(error?.message ?? error) });
process.on("uncaughtException", failed);
(async () => say({ done: await parse(input, head.options) }))().catch(failed);
`;
