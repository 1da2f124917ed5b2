/** A started Lares with one MCP server, `sky`, that plays a script (test/fakes/mcp/server.mjs). */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { startLares } from "./lares.ts";
import { startModel, toolResults } from "./model.ts";
import { scratch } from "./scratch.ts";

export const MCP_SERVER = fileURLToPath(new URL("../fakes/mcp/server.mjs", import.meta.url));

export const forecast = {
  name: "forecast",
  description: "The weather of a city.",
  inputSchema: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
};

export interface McpScript {
  tools: object[];
  behaviour?: Record<string, "dies" | "hangs" | "floods" | "hides" | "fails" | "reports" | "structures">;
  prompts?: object[];
  ignoresEnd?: boolean;
  /** It ends at once, with these words. */
  breaks?: string;
  /** `modern`: revision 2026-07-28. */
  era?: "legacy" | "modern";
  /** Tools that answer with a task, and what is said about it later. `ends: "file"`: when `finish` was called. */
  tasks?: Record<
    string,
    { status?: string; said?: string; ends?: "file"; asks?: object; error?: string; forgets?: boolean; id?: string }
  >;
  /** What a tool asks before it goes on. */
  asks?: Record<string, { requests: object; state: string }>;
}

export const searchTools = 'tool:tool_search {"query":"weather"}';
export const callTool = (input: object, name = "sky__forecast") => `tool:tool_run ${JSON.stringify({ name, input })}`;

/** `more`: of the server's definition. */
export async function startMcp(given: McpScript, more: object = {}, config: object = {}) {
  const dir = scratch("mcp");
  const [file, log] = [join(dir, "script.json"), join(dir, "log")];
  const play = (script: McpScript) => writeFileSync(file, JSON.stringify({ ...script, log }));
  play(given);
  const model = await startModel();
  const sky = { command: process.execPath, args: [MCP_SERVER, file], sandbox: false, callSeconds: 5, ...more };
  const lares = await startLares({
    env: model.env,
    config: { policy: { allow: { mcp: ["sky/*"] } }, mcp: { servers: { sky } }, ...config },
  });
  onTestFinished(async () => {
    await lares.dispose();
    await model.close();
  });
  /** What the server noted: starts, calls, what it was told. */
  const lines = () => (existsSync(log) ? readFileSync(log, "utf8").split("\n").filter(Boolean) : []);
  /** The result of a call as the model read it. */
  const result = async (text: string) => {
    await lares.chat("ana", `${text} then: say:done`);
    return toolResults(model.requests.at(-1)!).at(-1)!;
  };
  /** Ends the tasks that wait for it. */
  const finish = () => writeFileSync(`${file}.done`, "");
  return { lares, model, play, lines, file, result, finish };
}
