/** What keeps src/app a place that builds and does not decide: which files are in it, how long they and their functions are. */
import { longFunctions, MOST_FUNCTION_LINES } from "./lengths.ts";

/** Beside these, app/ has the builders in instance/ and the handlers in methods/. */
export const FILES: readonly string[] = [
  "app/app.ts",
  "app/config.ts",
  "app/examine.ts",
  "app/index.ts",
  "app/instance.ts",
  "app/server.ts",
];
export const FOLDERS = /^app\/(instance|methods)\/[a-z-]+\.ts$/;

/** A limit that only goes down: what is added to app/ and is more than wiring belongs to a room. */
export const MOST_LINES = 4900;

/** Longer functions, and why. */
const LONG: Readonly<Record<string, string>> = {
  "app/app.ts start": "the order of the start",
};

/** A sentence for each function of a file that is too long. `path` is relative to src/. */
export function longAppFunctions(path: string, source: string): string[] {
  return longFunctions(path, source)
    .filter(({ of }) => !(of in LONG))
    .map(({ of, line, lines }) => `src/${of} (line ${line}) has ${lines} lines; at most ${MOST_FUNCTION_LINES}`);
}
