/** What MCP servers cost: ten of them with 150 tools, before any is used, while one is used, and in the prompt. */
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chat, end, type Lares, percentile, post, rssMb, startLares, startModel } from "./process.ts";

const SERVERS = 10;
const TOOLS_EACH = 15;
const CALLS = 200;
const STARTS = 7;
const root = new URL("../../", import.meta.url).pathname;

export interface McpFigures {
  /** Processes below Lares right after the start, and ms more than without servers. */
  children: number;
  startMs: number;
  /** Tokens (bytes / 4) that "hello" grows by. */
  helloTokens: number;
  /** A turn with a call of a server's tool, less one with a call of our own. */
  callP50: number;
  callP95: number;
  /** Of Lares, before the SDK is loaded and after the calls. */
  idleMb: number;
  usedMb: number;
}

export async function benchMcp(): Promise<McpFigures> {
  const log = join(mkdtempSync(join(tmpdir(), "lares-bench-log-")), "requests.jsonl");
  const model = await startModel(log);
  const lastBytes = () => (JSON.parse(readFileSync(log, "utf8").trim().split("\n").at(-1)!) as { bytes: number }).bytes;
  const [bare, full] = [makeHome(false), makeHome(true)];
  // The tools are listed once; what is measured is every start after that.
  const first = await startLares(model.url, full);
  for (let i = 0; i < SERVERS; i++) await post(first, "/rpc/mcp.test", { name: `server${i}` });
  await end(first);
  const without = await startLares(model.url, bare);
  await chat(without, "ana", "hello");
  const plain = lastBytes();
  await end(without);
  const starts = await startsOf(model.url, [bare, full]);
  const lares = await startLares(model.url, full);
  const children = countChildren(lares.pid);
  const idleMb = rssMb(lares.pid);
  await chat(lares, "ana", "hello");
  const helloTokens = Math.round((lastBytes() - plain) / 4);
  const [own, theirs] = await turns(lares, [
    () => 'tool:list {"path":"."} then: say:ok',
    (i) => {
      const call = { name: `server${i % 2}__tool0`, input: { city: "Rome" } };
      return `tool:tool_run ${JSON.stringify(call)} then: say:ok`;
    },
  ]);
  const usedMb = rssMb(lares.pid);
  await end(lares);
  await end(model);
  return {
    ...{ children, helloTokens, idleMb, usedMb },
    startMs: percentile(starts[1]!, 50) - percentile(starts[0]!, 50),
    callP50: percentile(theirs, 50) - percentile(own, 50),
    callP95: percentile(theirs, 95) - percentile(own, 95),
  };
}

export function sayMcp(f: McpFigures): { what: string; seen: string; bar: string; ok?: boolean }[] {
  const of = `${SERVERS} servers, ${SERVERS * TOOLS_EACH} tools`;
  return [
    { what: `processes after the start, ${of}`, seen: String(f.children), bar: "0", ok: f.children === 0 },
    { what: "start, more than without servers", seen: `${f.startMs.toFixed(0)} ms`, bar: "" },
    {
      what: '"hello", more than without servers',
      seen: `${f.helloTokens} tokens`,
      bar: "≤ 150",
      ok: f.helloTokens <= 150,
    },
    {
      what: "a call of a server's tool, more than one of ours, p50 / p95",
      seen: `${f.callP50.toFixed(1)} / ${f.callP95.toFixed(1)} ms`,
      bar: "",
    },
    {
      what: "resident memory, before and after calls",
      seen: `${f.idleMb.toFixed(0)} / ${f.usedMb.toFixed(0)} MB`,
      bar: "",
    },
  ];
}

/** One after the other and by turns: what else the machine does meanwhile falls on both alike. */
async function startsOf(modelUrl: string, homes: readonly string[]): Promise<number[][]> {
  const times: number[][] = homes.map(() => []);
  for (let round = 0; round < STARTS; round++) {
    for (const [n, home] of homes.entries()) {
      const lares = await startLares(modelUrl, home);
      times[n]!.push(lares.readyMs);
      await end(lares);
    }
  }
  return times;
}

/** The same for turns. */
async function turns(lares: Lares, texts: [Said, Said]): Promise<[number[], number[]]> {
  const times: [number[], number[]] = [[], []];
  // The first ones start the programs and load the SDK.
  for (let i = 0; i < 4; i++) for (const text of texts) await chat(lares, "ben", text(i));
  for (let i = 0; i < CALLS; i++)
    for (const [n, text] of texts.entries()) times[n]!.push(await chat(lares, `ben${n}${i % 10}`, text(i)));
  return times;
}

type Said = (i: number) => string;

function makeHome(withServers: boolean): string {
  const home = mkdtempSync(join(tmpdir(), "lares-bench-"));
  const script = join(home, "script.json");
  const tools = Array.from({ length: TOOLS_EACH }, (_, i) => ({
    name: `tool${i}`,
    description: `Does the ${i}th thing that this server is for, with a city, and says what came of it in a sentence or two.`,
    inputSchema: {
      type: "object",
      properties: { city: { type: "string" }, days: { type: "integer" } },
      required: ["city"],
    },
  }));
  writeFileSync(script, JSON.stringify({ tools }));
  const server = { command: process.execPath, args: [join(root, "test/fakes/mcp/server.mjs"), script], sandbox: false };
  const servers = Object.fromEntries(Array.from({ length: SERVERS }, (_, i) => [`server${i}`, server]));
  const settings = {
    policy: { allow: { mcp: ["server0/*", "server1/*"] } },
    ...(withServers ? { mcp: { servers } } : {}),
  };
  // JSON is YAML.
  writeFileSync(join(home, "lares.yaml"), JSON.stringify(settings));
  return home;
}

function countChildren(pid: number): number {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/stat`, "utf8").split(") ")[1]?.split(" ")[1] === String(pid);
      } catch {
        return false;
      }
    }).length;
}
