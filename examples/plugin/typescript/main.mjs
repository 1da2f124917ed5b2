import { createInterface } from "node:readline";

const config = JSON.parse(process.env.LARES_PLUGIN_CONFIG ?? "{}");
const METRES = { m: 1, km: 1e3, cm: 0.01, mi: 1609.344, ft: 0.3048, in: 0.0254 };
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
function convert({ value, from, to }) {
  const metres = Number(value) * (METRES[String(from)] ?? Number.NaN);
  return `${value} ${from} = ${(metres / (METRES[String(to)] ?? Number.NaN)).toFixed(config.digits ?? 2)} ${to}`;
}
function judge(payload) {
  const word = (config.forbidden ?? []).find((one) => String(payload.shown).includes(one));
  return word === void 0 ? {} : { deny: `"${word}" is forbidden here.` };
}
function answer({ method, params = {} }) {
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
      return void 0;
  }
}
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  if (request.id === void 0) continue;
  const result = answer(request);
  const reply = result ? { result } : { error: { code: -32601, message: `There is no method ${request.method}.` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: request.id, ...reply })}
`);
}
