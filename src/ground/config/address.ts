/** Where the running gateway is, in a file of the home: how the command line finds it. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Returns how to take it away again, at the stop. */
export function noteAddress(home: string, at: { url: string; port: number; startedAt: number }): () => void {
  const file = join(home, "gateway.json");
  const { url, port, startedAt } = at;
  writeFileSync(file, `${JSON.stringify({ pid: process.pid, url, port, startedAt })}\n`, { mode: 0o600 });
  return () => rmSync(file, { force: true });
}
