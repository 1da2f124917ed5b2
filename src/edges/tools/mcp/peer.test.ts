/** How a server that can't be had is treated; what it does when it can is in test/flows/mcp.test.ts. */
import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { ManualClock } from "../../../core/kit/index.ts";
import { cleanEnvironment } from "../exec/environment.ts";
import { serverConfig } from "./config.ts";
import { McpPeer } from "./peer.ts";
import { createClient } from "./sdk.ts";
import { StdioTransport } from "./stdio.ts";

test("a program that is no server is refused with its own words, then left alone for a while after three failures", async () => {
  const clock = new ManualClock();
  let started = 0;
  const argv: [string, ...string[]] = [process.execPath, "-e", "console.error('no such module'); process.exit(1)"];
  const peer = new McpPeer({
    name: "broken",
    config: serverConfig.parse({ command: "node", startSeconds: 10 }),
    clock,
    memory: {},
    remember: () => undefined,
    listed: async () => undefined,
    client: async (how) => createClient({ version: "0", roots: [], ...how }),
    transport: async () => {
      started++;
      return new StdioTransport({
        wrapped: { argv, env: cleanEnvironment(tmpdir()) },
        cwd: tmpdir(),
        key: `t${started}`,
      });
    },
  });
  const call = () =>
    peer.call({ key: "k", tool: "x", digest: "", arguments: {}, signal: new AbortController().signal });
  for (let n = 0; n < 3; n++) expect(await call()).toMatchObject({ kind: "refused" });
  const before = started;
  expect(await call()).toMatchObject({ kind: "refused", why: expect.stringContaining("no such module") });
  expect(started).toBe(before);
  expect(peer.state()).toMatchObject({ kind: "paused" });
  clock.advance(60_000);
  expect(peer.state()).toEqual({ kind: "idle" });
  await call();
  expect(started).toBeGreaterThan(before);
});
