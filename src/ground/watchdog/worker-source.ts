/**
 * The program of the watchdog's thread, as text: one bundle has no second file to name. It never yields to its own
 * event loop; it sleeps on a shared cell, so it wakes twice a second and costs next to nothing.
 *
 * A tick that came late means that this thread did not run either: the machine slept or has far too much to do, or somebody
 * stopped the process. That time is nobody's stall. Neither is waiting for the disk, nor a debugger, nor the time in which the
 * event loop's thread was ready to run and had no processor: this thread needs so little that it gets one when the other doesn't.
 */
export const BEAT = 0;
export const STOP = 1;
export const STORING = 2;
export const DEBUGGED = 3;

export const WORKER_SOURCE = `
const { workerData } = require("node:worker_threads");
const fs = require("node:fs");
const { cells, file, life, slotBytes, tickMs, noteMs, endMs } = workerData;
let seen = Atomics.load(cells, ${BEAT});
let blocked = 0;
let noted = false;
let last = performance.now();
let queued = waitedForProcessor();
while (Atomics.load(cells, ${STOP}) === 0) {
  Atomics.wait(cells, ${STOP}, 0, tickMs);
  const now = performance.now();
  const gap = now - last;
  last = now;
  const before = queued;
  queued = waitedForProcessor();
  const beat = Atomics.load(cells, ${BEAT});
  if (beat !== seen) {
    seen = beat;
    blocked = 0;
    if (noted) note("died");
    noted = false;
    continue;
  }
  if (gap > 1.4 * tickMs || Atomics.load(cells, ${STORING}) || Atomics.load(cells, ${DEBUGGED})) continue;
  // Waiting is counted when it ends, so it may be more than this gap.
  blocked = Math.max(0, blocked + gap - (queued - before));
  if (blocked < noteMs) continue;
  if (!noted) note("stalled");
  noted = true;
  if (blocked >= endMs && Atomics.load(cells, ${STOP}) === 0) end();
}
/** The event loop's thread has the process's number. Where the system doesn't say, nothing is taken off. */
function waitedForProcessor() {
  try {
    return Number(fs.readFileSync("/proc/self/task/" + process.pid + "/schedstat", "latin1").split(" ")[1]) / 1e6 || 0;
  } catch {
    return 0;
  }
}
function note(how) {
  try {
    const fd = fs.openSync(file, "r+");
    try {
      fs.writeSync(fd, JSON.stringify({ life, how }).padEnd(slotBytes - 1) + "\\n", 0);
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
  } catch {}
}
function end() {
  let running = [];
  try {
    running = fs.readFileSync(file, "utf8").split("\\n").slice(1).filter((line) => line.trim()).map((line) => JSON.parse(line).key);
  } catch {}
  const what = running.length ? running.slice(0, 20).join(", ") + (running.length > 20 ? ", …" : "") : "nothing that is guarded";
  say("Lares did not respond for " + Math.round(blocked / 1000) + " seconds and was ended by its watchdog. Running: " + what + "\\n");
  // Ends the process without a core file, and unlike any signal that people send.
  process.kill(process.pid, "SIGALRM");
  Atomics.wait(cells, ${STOP}, 0, 500);
  process.kill(process.pid, "SIGKILL");
}
function say(line) {
  try {
    // A pipe that nobody reads would block forever.
    if (!fs.fstatSync(2).isFIFO()) return void fs.writeSync(2, line);
    const { O_WRONLY, O_NONBLOCK, O_APPEND } = fs.constants;
    const fd = fs.openSync("/dev/stderr", O_WRONLY | O_NONBLOCK | O_APPEND);
    fs.writeSync(fd, line);
    fs.closeSync(fd);
  } catch {}
}
`;
