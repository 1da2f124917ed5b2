/** `lares mcp serve`: see `mcp/bridge.ts`. Standard output belongs to the protocol; anything for people goes to standard error. */
import { createInterface } from "node:readline";
import type { Action } from "../context.ts";
import { EXIT } from "../exit.ts";
import { Bridge } from "../mcp/bridge.ts";

export const serve: Action = async ({ ports, find, clock, onSignal }) => {
  // Said at once, and not with the client's first request: there is no gateway, or no token for it.
  await find();
  const bridge = new Bridge({ find, clock, write: (line) => void ports.stdout.write(line) });
  const lines = createInterface({ input: ports.stdin, crlfDelay: Number.POSITIVE_INFINITY });
  const off = (["SIGINT", "SIGTERM"] as const).map((name) => onSignal(name, () => lines.close()));
  await new Promise<void>((resolve) => {
    lines.on("line", (line) => void bridge.take(line));
    lines.on("close", resolve);
  });
  bridge.close();
  for (const one of off) one();
  return EXIT.done;
};
