/**
 * The scripted model server as a process of its own: `tsx test/fakes/model-server/main.ts [--port N] [--host H]
 * [--log FILE] [--full]`. Prints `model server on http://127.0.0.1:<port>` when it listens. The grammar of the
 * directives it obeys is in directives.ts.
 *
 * Documentation: see server.ts
 */
import { parseArgs } from "node:util";
import { requestLog } from "./log.ts";
import { startModelServer } from "./server.ts";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    host: { type: "string", default: "127.0.0.1" },
    log: { type: "string" },
    full: { type: "boolean", default: false },
  },
});

const server = await startModelServer({
  port: Number(values.port),
  host: values.host,
  keep: false,
  ...(values.log ? { onRequest: requestLog(values.log, values.full) } : {}),
});
process.stdout.write(`model server on ${server.url}\n`);
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => void server.close().then(() => process.exit(0)));
}
