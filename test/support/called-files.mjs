/**
 * The program from its sources, file by file, and which of them are at work: on SIGUSR2 it writes the names of the files below `src`
 * in which something was called since the last time to `LARES_CALLED_FILES`.
 */
import { renameSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { register } from "tsx/esm/api";

const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

const sources = new URL("../../src/", import.meta.url).href;

process.on("SIGUSR2", async () => {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const called = result
    .filter(({ url, functions }) => url.startsWith(sources) && functions.some((one) => isCalled(one)))
    .map(({ url }) => url.slice(sources.length).replace(/\?.*$/, ""));
  const file = process.env.LARES_CALLED_FILES;
  writeFileSync(`${file}.new`, JSON.stringify(called));
  renameSync(`${file}.new`, file);
});

/** The first function of a script is its top level: that one ran when the file was loaded. */
function isCalled({ functionName, ranges: [range] }) {
  return range.count > 0 && !(functionName === "" && range.startOffset === 0);
}

register();
await import(`${sources}main.ts`);
