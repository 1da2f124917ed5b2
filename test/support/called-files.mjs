/**
 * The program from its sources, file by file, and what is at work in it. On SIGUSR2 it writes to `LARES_CALLED_FILES` what was called
 * since the last time: the files below `src` with a function that ran (V8's precise coverage), and which file called into which.
 *
 * Coverage says that a function ran, not who called it. So each function that ran once gets a breakpoint whose condition notes the
 * stack and never stops. `marked` says how many were new: the calls are complete when a second message marks none.
 */
import { renameSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { register } from "tsx/esm/api";

const sources = new URL("../../src/", import.meta.url).href;
const folder = new URL(sources).pathname;
/** Folders whose functions need no breakpoint: nobody asks who called them, and they are called all the time. */
const unasked = (process.env.LARES_CALLED_UNASKED ?? "").split(",").filter(Boolean);
const session = new Session();
session.connect();
await session.post("Debugger.enable");
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

/** Deep enough to see through the web server's own frames to the file that called it. */
Error.stackTraceLimit = 40;
const calls = new Map();
const marked = new Set();

globalThis.noteCall = () => {
  const [self, ...below] = new Error().stack.split("\n").slice(3).map(readFrame);
  const caller = below.find(({ file }) => file !== undefined);
  if (self?.file === undefined || caller === undefined || caller.file === self.file) return false;
  const stack = [...new Set(below.map(({ file, name }) => file && `${file} ${name}`).filter(Boolean))];
  calls.set(`${caller.file} ${self.file} ${stack}`, { from: caller.file, to: self.file, stack });
  return false;
};

function readFrame(line) {
  const at = line.indexOf(folder);
  const name = /^ *at (?:async )?(?:new )?(?:\w+\.)*(\S+) \(/.exec(line)?.[1] ?? "";
  return { name, file: at < 0 ? undefined : line.slice(at + folder.length).replace(/[?:].*$/, "") };
}

let reporting = Promise.resolve();
process.on("SIGUSR2", () => {
  reporting = reporting.then(report);
});

async function report() {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const ran = result
    .filter(({ url }) => url.startsWith(sources))
    .map(({ functions, ...script }) => ({ ...script, functions: functions.filter(isCalled) }))
    .filter(({ functions }) => functions.length > 0);
  const before = marked.size;
  for (const script of ran) {
    const path = script.url.slice(sources.length);
    if (!unasked.some((folder) => path.startsWith(folder))) await mark(script);
  }
  const file = process.env.LARES_CALLED_FILES;
  const said = {
    files: ran.map(({ url }) => url.slice(sources.length).replace(/\?.*$/, "")),
    calls: [...calls.values()],
    marked: marked.size - before,
  };
  calls.clear();
  writeFileSync(`${file}.new`, JSON.stringify(said));
  renameSync(`${file}.new`, file);
}

/** The first function of a script is its top level: that one ran when the file was loaded. `__name` is the compiler's. */
function isCalled({ functionName, ranges: [range] }) {
  return range.count > 0 && functionName !== "__name" && !(functionName === "" && range.startOffset === 0);
}

async function mark({ scriptId, functions }) {
  const fresh = functions.filter(({ ranges: [range] }) => !marked.has(`${scriptId} ${range.startOffset}`));
  if (fresh.length === 0) return;
  const { scriptSource } = await session.post("Debugger.getScriptSource", { scriptId });
  const place = (offset) => {
    const before = scriptSource.slice(0, offset);
    const lineStart = before.lastIndexOf("\n") + 1;
    return { scriptId, lineNumber: before.split("\n").length - 1, columnNumber: offset - lineStart };
  };
  for (const {
    ranges: [{ startOffset, endOffset }],
  } of fresh) {
    marked.add(`${scriptId} ${startOffset}`);
    const { locations } = await session.post("Debugger.getPossibleBreakpoints", {
      ...{ start: place(startOffset), end: place(endOffset), restrictToFunction: true },
    });
    if (locations[0])
      await session.post("Debugger.setBreakpoint", { location: locations[0], condition: "globalThis.noteCall()" });
  }
}

register();
await import(`${sources}main.ts`);
