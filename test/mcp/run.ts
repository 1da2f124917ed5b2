/**
 * `npm run test:mcp [conformance|peers]`: the official conformance suite against Lares' server and client, with what each revision of
 * the protocol requires; then published servers against the client. Packages come from the npm registry into a cache folder, once;
 * after that nothing leaves this machine.
 */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { spawnModel, startLares } from "../support/index.ts";
import { findNode, fromNpm } from "../support/outside.ts";
import { KNOWN, REVISIONS, type Revision } from "./known-failures.ts";
import { runPeers } from "./peers.ts";
import { serveFixtures, serveProxy } from "./server.ts";
import { type Scenario, suite } from "./suite.ts";

/** 0.1 of the suite doesn't know 2026-07-28. It needs a newer Node than Lares does. */
const SUITE = { "@modelcontextprotocol/conformance": "0.2.0-alpha.12" };
const SUITE_NODE = 24;
const CACHE = join(tmpdir(), "lares-mcp");
/** For each scenario of the client: the suite starts them all at once. */
const PATIENCE_MS = "180000";
const PEERS = {
  "@modelcontextprotocol/server-everything": "2026.8.31",
  "@modelcontextprotocol/server-filesystem": "2026.8.31",
  "@modelcontextprotocol/server-memory": "2026.8.31",
  "@modelcontextprotocol/server-sequential-thinking": "2026.8.31",
  "@upstash/context7-mcp": "4.1.1",
};
/** What the program's own catalogue can show without the suite's fixtures. */
const WITHOUT_FIXTURES: Record<Revision, readonly string[]> = {
  "2025-11-25": ["server-initialize", "ping", "tools-list", "resources-list", "dns-rebinding-protection"],
  "2026-07-28": [
    "tools-list",
    "resources-list",
    "sep-2164-resource-not-found",
    "dns-rebinding-protection",
    "http-header-validation",
  ],
};

const wanted = process.argv.slice(2).filter((word) => word !== "--");
const isWanted = (part: string) => wanted.length === 0 || wanted.includes(part);
let wrong = 0;
if (isWanted("conformance")) wrong += await conformance();
if (isWanted("peers")) wrong += await runPeers(fromNpm(join(CACHE, "peers"), PEERS));
process.exitCode = wrong === 0 ? 0 : 1;

async function conformance(): Promise<number> {
  const node = findNode(SUITE_NODE, "the conformance suite");
  const folder = fromNpm(join(CACHE, "conformance"), SUITE);
  const program = join(folder, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
  const run = (args: readonly string[]) => suite({ node, program, cwd: folder, args });
  let bad = 0;
  const fixtures = await serveFixtures();
  for (const revision of REVISIONS) {
    const found = await run(["server", "--url", fixtures.url, "--requirements", revision]);
    bad += report(`server, ${revision}`, found, KNOWN.server[revision]);
  }
  await fixtures.close();
  bad += await ownCatalogue(run);
  const client = fileURLToPath(new URL("./client.ts", import.meta.url));
  const tsx = fileURLToPath(import.meta.resolve("tsx"));
  for (const revision of REVISIONS) {
    const command = `${process.execPath} --import ${tsx} ${client}`;
    const found = await run(["client", "--command", command, "--requirements", revision, "--timeout", PATIENCE_MS]);
    bad += report(`client, ${revision}`, found, KNOWN.client[revision]);
  }
  return bad;
}

/** The built program with its own tools and resources, as far as scenarios need no others. */
async function ownCatalogue(run: (args: readonly string[]) => Promise<Scenario[]>): Promise<number> {
  const model = await spawnModel();
  const lares = await startLares({ env: model.env });
  const proxy = await serveProxy(lares.url, lares.token);
  let bad = 0;
  for (const revision of REVISIONS) {
    const found: Scenario[] = [];
    for (const scenario of WITHOUT_FIXTURES[revision])
      found.push(...(await run(["server", "--url", proxy.url, "--scenario", scenario, "--spec-version", revision])));
    bad += report(`program's own catalogue, ${revision}`, found, {});
  }
  await proxy.close();
  await lares.dispose();
  await model.stop();
  return bad;
}

/** Prints what was found; returns how much of it is a surprise. */
function report(what: string, found: readonly Scenario[], known: Readonly<Record<string, string>>): number {
  const scored = found.filter(({ isScored }) => isScored);
  const failed = scored.filter(({ isPassed }) => !isPassed);
  const news = failed.filter(({ name }) => !(name in known));
  const stale = Object.keys(known).filter((name) => !failed.some((one) => one.name === name));
  const checks = scored.reduce((sum, { passed }) => sum + passed, 0);
  say(`${what}: ${scored.length - failed.length} of ${scored.length} scored scenarios pass (${checks} checks)`);
  const reasons = new Map<string, string[]>();
  for (const { name } of failed) {
    const why = known[name] ?? "NOT EXPECTED";
    reasons.set(why, [...(reasons.get(why) ?? []), name]);
  }
  for (const [why, names] of reasons) say(`  ${names.length} fail. ${why} ${names.join(", ")}`);
  for (const name of stale) say(`  NOT EXPECTED: ${name} passes; take it off the list in test/mcp/known-failures.ts`);
  if (scored.length === 0) say("  NOT EXPECTED: nothing ran");
  return news.length + stale.length + (scored.length === 0 ? 1 : 0);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
