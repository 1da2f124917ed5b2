/**
 * Published servers, as they come from npm, against Lares' client: each is started, listed, called, killed, and leaves nothing behind. They
 * need no network for this; what one of them would fetch, it says it can't.
 */
import { strict as assert } from "node:assert";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { defined, systemClock } from "../../src/core/kit/index.ts";
import { cleanEnvironment } from "../../src/edges/tools/exec/environment.ts";
import { findMembers } from "../../src/edges/tools/exec/processes.ts";
import type { CallOutcome, CallRequest } from "../../src/edges/tools/mcp/call/call.ts";
import { serverConfig } from "../../src/edges/tools/mcp/config.ts";
import { McpPeer } from "../../src/edges/tools/mcp/connect/peer.ts";
import { createClient } from "../../src/edges/tools/mcp/connect/sdk.ts";
import type { PeerMemory } from "../../src/edges/tools/mcp/connect/state.ts";
import { StdioTransport } from "../../src/edges/tools/mcp/connect/stdio.ts";
import type { Manifest } from "../../src/edges/tools/mcp/listed/manifest.ts";
import { until } from "../support/index.ts";

type Era = "legacy" | "modern";

interface Started {
  peer: McpPeer;
  /** The tag of its processes. */
  key: string;
  dir: string;
  memory(): PeerMemory;
  lists(): number;
  call(tool: string, input?: object, more?: Partial<CallRequest>): Promise<CallOutcome>;
}

interface Case {
  name: string;
  script: string;
  args(dir: string): string[];
  env?(dir: string): Record<string, string>;
  era: Era;
  /** What is tried after it was listed; throws when something isn't as it should be. */
  check(at: Started, manifest: Manifest): Promise<void>;
}

const MODULES = "@modelcontextprotocol";

const CASES: readonly Case[] = [
  {
    name: "everything: call, progress, list change, roots, elicitation",
    script: `${MODULES}/server-everything/dist/index.js`,
    args: () => ["stdio"],
    era: "legacy",
    async check(at, { tools, quarantined }) {
      assert.ok(tools.length >= 13 && quarantined.length === 0, `${tools.length} tools`);
      assert.match(said(await at.call("echo", { message: "hello" })), /hello/);
      const steps: number[] = [];
      const slow = { duration: 1, steps: 4 };
      const onProgress: CallRequest["onProgress"] = ({ progress }) => steps.push(progress);
      assert.match(said(await at.call("trigger-long-running-operation", slow, { onProgress })), /completed/i);
      // The last step and the answer come at the same moment, in either order.
      assert.deepEqual(steps.slice(0, 3), [1, 2, 3]);
      // Once it has asked for our roots, it adds a tool that shows them, and says that its list changed.
      await until("the list to change", async () => (await at.peer.list()).tools.some(isRoots));
      assert.ok(at.lists() > 1);
      assert.ok(said(await at.call("get-roots-list")).includes(pathToFileURL(at.dir).href));
      // One of its fields talks of a PIN, and secrets aren't asked for by form. Other forms are the conformance suite's part.
      assert.match(said(await at.call("trigger-elicitation-request")), /declined/i);
      assert.deepEqual(isStructured(await at.call("get-structured-content", { location: "New York" })), true);
    },
  },
  {
    name: "filesystem: roots decide what it may touch",
    script: `${MODULES}/server-filesystem/dist/index.js`,
    args: (dir) => [dir],
    era: "legacy",
    async check(at) {
      writeFileSync(join(at.dir, "note.txt"), "buy plums");
      assert.match(said(await at.call("read_text_file", { path: join(at.dir, "note.txt") })), /buy plums/);
      assert.ok(said(await at.call("list_allowed_directories")).includes(at.dir));
      const outside = await at.call("read_text_file", { path: "/etc/hostname" });
      assert.match(said(outside), /denied|outside/i);
    },
  },
  {
    name: "memory: what it saved is there after it was killed",
    script: `${MODULES}/server-memory/dist/index.js`,
    args: () => [],
    env: (dir) => ({ MEMORY_FILE_PATH: join(dir, "memory.json") }),
    era: "legacy",
    async check(at) {
      const entities = [{ name: "plum", entityType: "fruit", observations: ["blue"] }];
      assert.equal((await at.call("create_entities", { entities })).kind, "answered");
      for (const { pid } of await findMembers({ key: at.key })) process.kill(pid, "SIGKILL");
      assert.match(said(await again(() => at.call("read_graph"))), /plum/);
    },
  },
  {
    name: "sequential thinking: noise on its error output",
    script: `${MODULES}/server-sequential-thinking/dist/index.js`,
    args: () => [],
    era: "legacy",
    async check(at) {
      const thought = { thought: "one", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 };
      assert.equal((await at.call("sequentialthinking", thought)).kind, "answered");
      assert.ok(at.peer.complaints().length > 0);
    },
  },
  {
    name: "context7: the newer era; without a network it answers with an error",
    script: "@upstash/context7-mcp/dist/index.js",
    args: () => ["--transport", "stdio"],
    era: "modern",
    async check(at, { tools }) {
      assert.equal(tools.length, 2);
      const outcome = await at.call("resolve-library-id", { query: "routes", libraryName: "hono" });
      assert.equal(outcome.kind, "answered");
    },
  },
];

/** How many of them went wrong. */
export async function runPeers(folder: string): Promise<number> {
  let wrong = 0;
  for (const one of CASES) {
    const began = performance.now();
    const problem = await tried(folder, one).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    wrong += problem === undefined ? 0 : 1;
    const ms = Math.round(performance.now() - began);
    process.stdout.write(
      `${problem === undefined ? "✓" : "✗"} ${one.name} (${ms} ms)${problem ? `: ${problem}` : ""}\n`,
    );
  }
  return wrong;
}

async function tried(folder: string, one: Case): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "lares-peer-"));
  const at = start(folder, one, dir);
  try {
    const manifest = await at.peer.list();
    assert.equal(at.memory().prior?.kind, one.era);
    await one.check(at, manifest);
    await killed(at);
  } finally {
    await at.peer.close();
    const left = await findMembers({ key: at.key });
    rmSync(dir, { recursive: true, force: true });
    assert.deepEqual(left, [], "processes are left");
  }
}

/** Killed by somebody: what runs is unknown or refused, never an answer, and the next call starts it again. */
async function killed(at: Started): Promise<void> {
  for (const { pid } of await findMembers({ key: at.key })) process.kill(pid, "SIGKILL");
  await again(async () => ({ kind: "answered", answer: { content: [], tools: (await at.peer.list()).tools } }));
}

/** Until the end of the killed program was noticed, a call can fall into the gap. */
async function again(run: () => Promise<CallOutcome>): Promise<CallOutcome> {
  return until("an answer after the kill", async () => {
    const outcome = await run().catch(() => undefined);
    return outcome?.kind === "answered" ? outcome : undefined;
  });
}

function start(folder: string, one: Case, dir: string): Started {
  let memory: PeerMemory = {};
  let lists = 0;
  const key = `peer-${Math.random().toString(36).slice(2)}`;
  const argv: [string, ...string[]] = [process.execPath, join(folder, "node_modules", one.script), ...one.args(dir)];
  const env = { ...cleanEnvironment(dir), ...one.env?.(dir) };
  const peer = new McpPeer({
    name: "peer",
    config: serverConfig.parse({ command: "node", startSeconds: 20, callSeconds: 20 }),
    clock: systemClock,
    memory,
    remember: (now) => {
      memory = now;
    },
    listed: async () => void lists++,
    client: async (how) =>
      createClient({ version: "0", roots: [{ uri: pathToFileURL(dir).href, name: "workspace" }], ...how }),
    transport: async () => new StdioTransport({ wrapped: { argv, env }, cwd: dir, key }),
  });
  const call: Started["call"] = (tool, input = {}, more = {}) => {
    const digest = memory.manifest?.tools.find(({ name }) => name === tool)?.digest ?? "";
    const { signal } = new AbortController();
    return peer.call({
      key: randomUUID(),
      tool,
      digest,
      arguments: input as Record<string, unknown>,
      signal,
      ...defined(more),
    });
  };
  return { peer, key, dir, call, memory: () => memory, lists: () => lists };
}

function said(outcome: CallOutcome): string {
  return outcome.kind === "answered" ? JSON.stringify(outcome.answer) : `${outcome.kind}: ${JSON.stringify(outcome)}`;
}

function isStructured(outcome: CallOutcome): boolean {
  return outcome.kind === "answered" && "structuredContent" in outcome.answer;
}

function isRoots({ name }: { name: string }): boolean {
  return name === "get-roots-list";
}
