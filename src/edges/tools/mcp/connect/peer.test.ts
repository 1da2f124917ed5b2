/** How a server that can't be had is treated; what it does when it can is in test/flows/mcp.test.ts. */
import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { ManualClock, systemClock } from "../../../../core/kit/index.ts";
import { cleanEnvironment } from "../../exec/environment.ts";
import { serverConfig } from "../config.ts";
import { McpPeer } from "./peer.ts";
import { createClient } from "./sdk.ts";
import { StdioTransport } from "./stdio.ts";

const HANGS = "process.stdin.resume(); setInterval(() => {}, 1000)";

test.each(["before it has started", "while it is asked how it speaks"])(
  "a server that is ended %s leaves no process and nothing that waits, and isn't counted as failed",
  async (when) => {
    const failures: string[] = [];
    const started: StdioTransport[] = [];
    const argv: [string, ...string[]] = [process.execPath, "-e", HANGS];
    let go: () => void = () => {};
    const ready = new Promise<void>((resolve) => {
      go = resolve;
    });
    const peer = new McpPeer({
      name: "silent",
      config: serverConfig.parse({ command: "node", startSeconds: 300 }),
      clock: systemClock,
      memory: {},
      remember: () => undefined,
      listed: async () => undefined,
      failed: (why) => failures.push(why),
      client: async (how) => createClient({ version: "0", roots: [], ...how }),
      transport: async () => {
        if (when.startsWith("before")) await ready;
        const wrapped = { argv, env: cleanEnvironment(tmpdir()) };
        const one = new StdioTransport({ wrapped, cwd: tmpdir(), key: `closing-${process.pid}-${started.length}` });
        started.push(one);
        return one;
      },
    });
    const call = { key: "k", tool: "x", digest: "", arguments: {}, signal: new AbortController().signal };
    const outcome = peer.call(call);
    await expect.poll(() => peer.state().kind).toBe("connecting");
    if (!when.startsWith("before")) await expect.poll(() => started[0]?.pid).toBeDefined();
    const closing = peer.close();
    go();
    await closing;
    expect(await outcome).toMatchObject({ kind: "refused", why: expect.stringContaining("was ended") });
    expect(peer.state()).toEqual({ kind: "idle" });
    expect(failures).toEqual([]);
    for (const { pid } of started) expect(pid === undefined || !isAlive(pid)).toBe(true);
    expect(started).toHaveLength(1);
  },
);

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

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
  expect(peer.state()).toMatchObject({ kind: "failed", why: expect.stringContaining("no such module") });
  await call();
  expect(started).toBeGreaterThan(before);
});
