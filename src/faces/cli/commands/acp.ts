/** `lares acp`: see `acp/agent.ts`. Standard output belongs to the protocol; anything for people goes to standard error. */

import { LineReader } from "../../../core/kit/index.ts";
import { AcpAgent } from "../acp/agent.ts";
import { rpcClient } from "../connection.ts";
import type { Action } from "../context.ts";
import { EXIT } from "../exit.ts";

export const acp: Action = async ({ ports, find, clock, onSignal, options, out }) => {
  const { stdin, stdout, version } = ports;
  const rpc = rpcClient(find, options.url !== undefined, clock, "editor");
  const write = (line: string) => void stdout.write(line);
  const agent = new AcpAgent({ find, rpc, clock, out, version, agent: options.agent, write });
  const lines = new LineReader((line) => agent.peer.take(line));
  await new Promise<void>((resolve) => {
    for (const name of ["SIGINT", "SIGTERM"] as const) onSignal(name, resolve);
    stdin.on("data", (chunk: Buffer | string) => lines.feed(typeof chunk === "string" ? Buffer.from(chunk) : chunk));
    stdin.on("end", () => resolve());
    stdin.on("error", () => resolve());
    // The editor is gone.
    stdout.on("error", () => resolve());
  });
  lines.end();
  await agent.close();
  return EXIT.done;
};
