/**
 * Lares' own client as the conformance suite drives it: `client.ts URL`. It connects, lists, and calls each tool with
 * arguments made up from its schema, or with those of the scenario, through the same peer, client and transport that agents' calls use.
 */

import { randomUUID } from "node:crypto";
import { readFormAnswer } from "../../src/core/domain/index.ts";
import { defined, systemClock } from "../../src/core/kit/index.ts";
import { serverConfig } from "../../src/edges/tools/mcp/config.ts";
import { connectOver } from "../../src/edges/tools/mcp/http.ts";
import type { McpTool } from "../../src/edges/tools/mcp/manifest.ts";
import { McpPeer } from "../../src/edges/tools/mcp/peer.ts";
import { createClient } from "../../src/edges/tools/mcp/sdk.ts";

interface Asked {
  method: string;
  params?: { requestedSchema?: object };
}

const url = process.argv.at(-1) ?? "";
const MOST_ROUNDS = 5;
/** The suite starts all scenarios at once, and a machine with two cores needs its time for that. */
const PATIENCE_S = 60;
/** Calls that a scenario asks for by name. */
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}") as {
  toolCalls?: { name: string; arguments: Record<string, unknown> }[];
};

const peer = new McpPeer({
  name: "conformance",
  config: serverConfig.parse({ url, startSeconds: PATIENCE_S, callSeconds: PATIENCE_S }),
  clock: systemClock,
  memory: {},
  remember: () => {},
  listed: async () => {},
  client: async (options) => createClient({ version: "0.0.0", roots: [], ...options }),
  transport: async () => connectOver(url, {}, undefined),
});

try {
  const { tools } = await peer.list();
  for (const tool of tools) {
    const wanted = context.toolCalls?.filter(({ name }) => name === tool.name);
    for (const { arguments: input } of wanted ?? [{ arguments: madeUp(tool.input) }]) await call(tool, input);
  }
} finally {
  await peer.close();
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
