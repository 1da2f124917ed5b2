/**
 * A plugin in TypeScript: an MCP server on stdin and stdout, one JSON message a line, that also answers `hooks/call`. No dependencies.
 *
 * Node from 22.18 on runs this file as it is. For older ones, `main.mjs` is this file without its types:
 * npx esbuild main.ts --outfile=main.mjs
 */
import { createInterface } from "node:readline";

type Params = { name?: string; arguments?: Record<string, unknown>; event?: string; payload?: Record<string, unknown> };
type Request = { id?: number | string; method: string; params?: Params };

/** What the owner set under plugins.config.converter; Lares has checked it against the schema in plugin.json. */
const config: { digits?: number; forbidden?: string[] } = JSON.parse(process.env.LARES_PLUGIN_CONFIG ?? "{}");

const METRES: Record<string, number> = { m: 1, km: 1000, cm: 0.01, mi: 1609.344, ft: 0.3048, in: 0.0254 };

const tools = [
  {
    name: "convert",
    description: `Converts a length between ${Object.keys(METRES).join(", ")}.`,
    inputSchema: {
      type: "object",
      properties: {
        value: { type: "number" },
        from: { type: "string", enum: Object.keys(METRES) },
        to: { type: "string", enum: Object.keys(METRES) },
      },
      required: ["value", "from", "to"],
    },
    annotations: { readOnlyHint: true },
  },
];

function convert({ value, from, to }: Record<string, unknown>): string {
  const metres = Number(value) * (METRES[String(from)] ?? Number.NaN);
  return `${value} ${from} = ${(metres / (METRES[String(to)] ?? Number.NaN)).toFixed(config.digits ?? 2)} ${to}`;
}

/** A gate: it can deny a call or have a person decide. It can never allow one. */
function judge(payload: Record<string, unknown>): object {
  const word = (config.forbidden ?? []).find((one) => String(payload.shown).includes(one));
  return word === undefined ? {} : { deny: `"${word}" is forbidden here.` };
}

/** The result of a request, or undefined for a method that this server doesn't have. */
function answer({ method, params = {} }: Request): object | undefined {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "converter", version: "1.0.0" },
      };
    case "ping":
      return {};
    case "tools/list":
      return { tools };
    case "tools/call":
      return { content: [{ type: "text", text: convert(params.arguments ?? {}) }] };
    case "hooks/list":
      return { hooks: [{ event: "tool.planned" }] };
    case "hooks/call":
      return { answer: judge(params.payload ?? {}) };
    default:
      return undefined;
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line) as Request;
  // Without an id it is a notification, which nobody waits for.
  if (request.id === undefined) continue;
  const result = answer(request);
  const reply = result ? { result } : { error: { code: -32601, message: `There is no method ${request.method}.` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: request.id, ...reply })}\n`);
}
