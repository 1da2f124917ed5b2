/**
 * `npm start`: makes the clone ready, then becomes `lares gateway run`. It runs in this very process, so signals, stdio and
 * the exit code are the program's own and no second Node sits idle beside it.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ensure, orSayWhy, root } from "./ensure.mjs";

await orSayWhy(() => ensure({ build: true }));

const program = join(root, "bin", "lares.js");
process.argv = [process.argv[0], program, "gateway", "run", ...process.argv.slice(2)];
await import(pathToFileURL(program).href);
