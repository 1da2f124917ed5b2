/**
 * Lares' own client as the conformance suite drives it: `client.ts URL`. It connects, lists, and calls each tool with
 * arguments made up from its schema, or with those of the scenario, through the same peer, client, transport and login that agents'
 * calls use. Where a server wants a login, this is also the person with the browser, who agrees to everything.
 */

import { randomUUID } from "node:crypto";
import { readFormAnswer } from "../../src/core/domain/index.ts";
import { defined, systemClock } from "../../src/core/kit/index.ts";
import { serverConfig } from "../../src/edges/tools/mcp/config.ts";
import { connectOver, guardedFetch } from "../../src/edges/tools/mcp/connect/http.ts";
import { McpLogin } from "../../src/edges/tools/mcp/connect/login.ts";
import { McpPeer } from "../../src/edges/tools/mcp/connect/peer.ts";
import { createClient } from "../../src/edges/tools/mcp/connect/sdk.ts";
import type { McpTool } from "../../src/edges/tools/mcp/listed/manifest.ts";
import { listedHosts } from "../../src/edges/tools/web/index.ts";

interface Asked {
  method: string;
  params?: { requestedSchema?: object };
}

const url = process.argv.at(-1) ?? "";
const MOST_ROUNDS = 5;
/** The suite starts all scenarios at once, and a machine with two cores needs its time for that. */
const PATIENCE_S = 60;
/** Nobody logs in more often than this to one server before they give up. */
const MOST_LOGINS = 3;
/** A document about the client, in the place of a registration; the suite knows this one. */
const CLIENT_DOCUMENT = "https://conformance-test.local/client-metadata.json";
/** Calls that a scenario asks for by name, and a client that it registered beforehand. */
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}") as {
  toolCalls?: { name: string; arguments: Record<string, unknown> }[];
  client_id?: string;
  client_secret?: string;
};
const isWithDocument = process.env.MCP_CONFORMANCE_SCENARIO === "auth/basic-cimd";
const clientId = isWithDocument ? CLIENT_DOCUMENT : context.client_id;

const config = serverConfig.parse({
  ...{ url, startSeconds: PATIENCE_S, callSeconds: PATIENCE_S },
  ...(clientId ? { oauth: { clientId, ...defined({ clientSecret: context.client_secret }) } } : {}),
});
// As an owner would list them in `web.privateHosts`: the suite's servers are on this machine.
const isListed = listedHosts(["127.0.0.1", "localhost"]);
let vault: string | undefined;
const login = new McpLogin({
  ...{ server: "conformance", url, oauth: config.oauth, clock: systemClock, fetch: guardedFetch(url, isListed) },
  redirect: () => "http://127.0.0.1:7717/mcp/login/done",
  store: {
    read: () => vault,
    async write(text) {
      vault = text;
    },
  },
});
const peer = new McpPeer({
  name: "conformance",
  config,
  clock: systemClock,
  memory: {},
  remember: () => {},
  listed: async () => {},
  client: async (options) => createClient({ version: "0.0.0", roots: [], ...options }),
  transport: async () => connectOver(url, {}, { login, isListed }),
});

let logins = 0;
try {
  const { tools } = await orLogin(() => peer.list());
  for (const tool of tools) {
    const wanted = context.toolCalls?.filter(({ name }) => name === tool.name);
    for (const { arguments: input } of wanted ?? [{ arguments: readBack(tools, tool) ?? madeUp(tool.input) }])
      await orLogin(() => call(tool, input));
  }
} finally {
  await peer.close();
}

/** What the owner does: tries, logs in when it is said that this is needed, and tries again. */
async function orLogin<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    const [done] = await Promise.allSettled([attempt()]);
    const needsLogin = peer.state().kind === "needs-login";
    if (done.status === "fulfilled" && !needsLogin) return done.value;
    if (!needsLogin || logins++ >= MOST_LOGINS) throw new Error("given up", { cause: done });
    const link = await login.begin();
    if (link === undefined) continue;
    const { headers } = await fetch(link, { redirect: "manual" });
    await login.finish(headers.get("location") ?? "");
  }
}

async function call({ name, digest }: McpTool, input: Record<string, unknown>): Promise<void> {
  const { signal } = new AbortController();
  const request = { key: randomUUID(), tool: name, digest, arguments: input, signal };
  let outcome = await peer.call(request);
  for (let round = 0; round < MOST_ROUNDS; round++) {
    if (outcome.kind === "asks") {
      const content = readFormAnswer(outcome.question.form, undefined);
      outcome = await peer.answer(request.key, { action: "accept", content }, signal);
    } else if (outcome.kind === "input-required") {
      const asked = Object.entries(outcome.requests as Record<string, Asked>);
      const responses = Object.fromEntries(asked.map(([key, one]) => [key, accepted(one)]));
      outcome = await peer.call({ ...request, answers: { responses, ...defined({ state: outcome.state }) } });
    }
  }
  console.error(name, outcome);
}

/** One scenario wants to get a schema back as the client has it. */
function readBack(tools: readonly McpTool[], { name }: McpTool): Record<string, unknown> | undefined {
  if (name !== "json_schema_echo") return undefined;
  return { schema: tools.find((one) => one.name === "json_schema_2020_12_tool")?.input };
}

/** What a person would say who agrees to everything. */
function accepted({ params }: Asked): object {
  return { action: "accept", content: madeUp(params?.requestedSchema ?? {}) };
}

interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
}

function madeUp(schema: unknown): Record<string, unknown> {
  const { properties = {} } = schema as Schema;
  return Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, sampleOf(one)]));
}

function sampleOf({ type, properties }: Schema): unknown {
  if (type === "number" || type === "integer") return 2;
  if (type === "boolean") return true;
  if (type === "array") return [];
  return type === "object" ? madeUp({ properties }) : "text";
}
